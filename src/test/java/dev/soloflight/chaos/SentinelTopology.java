package dev.soloflight.chaos;

import static org.awaitility.Awaitility.await;

import dev.soloflight.support.RedisProcess;
import dev.soloflight.support.SentinelSetup;
import java.time.Duration;
import java.util.List;
import java.util.Random;
import org.jspecify.annotations.Nullable;

/** A primary, two replicas, three sentinels. */
final class SentinelTopology implements Topology {
  private final SentinelSetup setup = SentinelSetup.start(2);
  private @Nullable SplitWatch watch;

  @Override
  public String uri() {
    return setup.uri();
  }

  @Override
  public List<RedisProcess> primaries() {
    return List.of(setup.primary());
  }

  @Override
  public RedisProcess primaryOf(String redisKey) {
    return setup.primary();
  }

  @Override
  public boolean proxied() {
    return false;
  }

  @Override
  public int maxSilenceMillis() {
    return 600; // Sentinels wait for 1 s.
  }

  @Override
  public void addFaults(FaultMenu menu, FaultLog log, Random random) {
    watch = new SplitWatch(setup, log);
    menu.add(1, FaultKind.FAILOVER, () -> mustHappen(log, random));
  }

  @Override
  public void mustHappen(FaultLog log, Random random) throws InterruptedException {
    RedisProcess old = setup.primary();
    log.onAll(FaultKind.FAILOVER, setup::failover);
    old.restartWithData();
    // The next failover needs a replica that has everything.
    await()
        .atMost(Duration.ofSeconds(60))
        .pollInterval(Duration.ofMillis(100))
        .ignoreExceptions() // Who becomes a replica hangs up first.
        .until(() -> old.sync().info("replication").contains("master_link_status:up"));
  }

  @Override
  public void close() {
    if (watch != null) {
      watch.close();
    }
    setup.close();
  }
}
