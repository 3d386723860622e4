package dev.soloflight.support;

import dev.soloflight.internal.policy.ConfigLoader;
import dev.soloflight.internal.policy.ConfigSource;
import dev.soloflight.internal.policy.SoloFlightConfig;
import dev.soloflight.internal.store.LettuceFlightStore;
import dev.soloflight.internal.time.SystemTimers;
import java.util.HashMap;
import java.util.Map;

/** Stores without anything above them, on one Redis; each is opened once and closed with all. */
public final class StoreNodes implements AutoCloseable {
  private final SystemTimers timers = new SystemTimers("soloflight-test-timer");
  private final Map<String, LettuceFlightStore> nodes = new HashMap<>();
  private final SoloFlightConfig config;

  public StoreNodes(String redisUri) {
    config =
        ConfigLoader.load(
                ConfigSource.builtIn()
                    .withOverrides(Map.of("redis.uri", redisUri, "redis.command-timeout", "5s")))
            .config();
  }

  /** The store of that node. */
  public LettuceFlightStore open(String nodeId) {
    return nodes.computeIfAbsent(nodeId, id -> new LettuceFlightStore(config, id, timers));
  }

  @Override
  public void close() {
    nodes.values().forEach(LettuceFlightStore::close);
    timers.close();
  }
}
