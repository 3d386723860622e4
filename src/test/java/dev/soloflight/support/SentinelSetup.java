package dev.soloflight.support;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisURI;
import io.lettuce.core.sentinel.api.sync.RedisSentinelCommands;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;

/** A primary with its replicas, watched by three sentinels, two of which decide. */
public final class SentinelSetup implements AutoCloseable {
  /** The name under which the sentinels know the primary. */
  public static final String MASTER_ID = "mymaster";

  private static final int SENTINELS = 3;
  private static final int QUORUM = 2;
  private static final int DOWN_AFTER_MILLIS = 1_000;
  private static final int FAILOVER_TIMEOUT_MILLIS = 3_000;
  private static final Duration AT_MOST = Duration.ofSeconds(40);

  private final List<RedisProcess> servers = new ArrayList<>();
  private final Map<RedisProcess, RedisSentinelCommands<String, String>> sentinels =
      new LinkedHashMap<>();
  private final RedisClient client = RedisClient.create(TestConnection.resources());

  private SentinelSetup() {}

  /** Started with one or two replicas, and ready for a failover. */
  public static SentinelSetup start(int replicas) {
    SentinelSetup setup = new SentinelSetup();
    boolean formed = false;
    try {
      setup.form(replicas);
      formed = true;
    } finally {
      if (!formed) {
        setup.close();
      }
    }
    return setup;
  }

  /** The address for a client: all sentinels and the primary's name. */
  public String uri() {
    return sentinels.keySet().stream()
        .map(sentinel -> RedisProcess.HOST + ":" + sentinel.port())
        .collect(Collectors.joining(",", "redis-sentinel://", "#" + MASTER_ID));
  }

  /** The primary, as the sentinels see it. */
  public RedisProcess primary() {
    return primarySeenBy(livingSentinels().get(0));
  }

  /** The primary as each living sentinel sees it: more than one while they do not agree. */
  public Set<RedisProcess> primariesNamed() {
    return livingSentinels().stream().map(this::primarySeenBy).collect(Collectors.toSet());
  }

  /** All data servers, whatever their present role. */
  public List<RedisProcess> servers() {
    return List.copyOf(servers);
  }

  /** The sentinels; two of them must live for a failover. */
  public List<RedisProcess> sentinels() {
    return List.copyOf(sentinels.keySet());
  }

  /** Kills the primary and waits until a replica is promoted and every living sentinel says so. */
  public RedisProcess failover() {
    RedisProcess old = primary();
    old.kill9();
    return awaitOtherPrimaryThan(old);
  }

  /**
   * Has the sentinels promote a replica although the primary lives, and waits until they name it.
   * The deposed one goes on as a primary until it is told.
   */
  public RedisProcess depose() {
    RedisProcess old = primary();
    // Refused while the failover before counts as under way.
    await()
        .atMost(AT_MOST)
        .pollInterval(Duration.ofMillis(200))
        .ignoreExceptions()
        .until(() -> livingSentinels().get(0).failover(MASTER_ID).equals("OK"));
    return awaitOtherPrimaryThan(old);
  }

  @Override
  public void close() {
    client.shutdown(Duration.ZERO, Duration.ofSeconds(2));
    sentinels.keySet().forEach(RedisProcess::close);
    servers.forEach(RedisProcess::close);
  }

  private void form(int replicas) {
    RedisProcess primary = RedisProcess.start();
    servers.add(primary);
    for (int i = 0; i < replicas; i++) {
      servers.add(RedisProcess.builder().replicaOf(primary).start());
    }
    for (int i = 0; i < SENTINELS; i++) {
      RedisProcess sentinel =
          RedisProcess.builder()
              .sentinel()
              .config(
                  monitor(primary),
                  "sentinel down-after-milliseconds " + MASTER_ID + " " + DOWN_AFTER_MILLIS,
                  "sentinel failover-timeout " + MASTER_ID + " " + FAILOVER_TIMEOUT_MILLIS)
              .start();
      RedisURI uri = RedisURI.create(sentinel.uri());
      uri.setTimeout(TestConnection.COMMAND_TIMEOUT);
      sentinels.put(sentinel, client.connectSentinel(uri).sync());
    }
    await()
        .atMost(AT_MOST)
        .untilAsserted(
            () ->
                assertThat(livingSentinels())
                    .allSatisfy(
                        sentinel -> {
                          assertThat(sentinel.master(MASTER_ID))
                              .containsEntry("flags", "master")
                              .containsEntry("num-slaves", Integer.toString(replicas))
                              .containsEntry(
                                  "num-other-sentinels", Integer.toString(SENTINELS - 1));
                          assertThat(sentinel.replicas(MASTER_ID))
                              .allSatisfy(
                                  replica ->
                                      assertThat(replica)
                                          .containsEntry("flags", "slave")
                                          .containsEntry("master-link-status", "ok"));
                        }));
  }

  private static String monitor(RedisProcess primary) {
    return String.join(
        " ",
        "sentinel monitor",
        MASTER_ID,
        RedisProcess.HOST,
        Integer.toString(primary.port()),
        Integer.toString(QUORUM));
  }

  private RedisProcess awaitOtherPrimaryThan(RedisProcess old) {
    await()
        .atMost(AT_MOST)
        .untilAsserted(
            () ->
                assertThat(livingSentinels())
                    .allSatisfy(
                        sentinel -> {
                          RedisProcess primary = primarySeenBy(sentinel);
                          assertThat(primary).isNotSameAs(old);
                          assertThat(primary.sync().info("replication")).contains("role:master");
                        }));
    return primary();
  }

  private List<RedisSentinelCommands<String, String>> livingSentinels() {
    return sentinels.entrySet().stream()
        .filter(sentinel -> sentinel.getKey().isAlive())
        .map(Map.Entry::getValue)
        .toList();
  }

  private RedisProcess primarySeenBy(RedisSentinelCommands<String, String> sentinel) {
    Map<String, String> seen = sentinel.master(MASTER_ID);
    return servers.stream()
        .filter(server -> Integer.toString(server.port()).equals(seen.get("port")))
        .findFirst()
        .orElseThrow();
  }
}
