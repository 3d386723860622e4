package dev.soloflight.cases;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.soloflight.FlightKey;
import dev.soloflight.FlightMode;
import dev.soloflight.FlightResult;
import dev.soloflight.SoloFlight;
import dev.soloflight.Source;
import dev.soloflight.support.RedisClusterOf3;
import dev.soloflight.support.RedisProcess;
import dev.soloflight.support.RedisRecords;
import dev.soloflight.support.SoloNode;
import dev.soloflight.support.TcpProxy;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/** Servers that forget scripts, change roles and come back to a crowd. */
class TopologyCasesTest {
  private static final Duration SOON = Duration.ofSeconds(20);

  private static <T> T get(CompletableFuture<T> call) throws Exception {
    return call.get(SOON.toSeconds(), TimeUnit.SECONDS);
  }

  @Test
  @DisplayName(
      "Case 28: scripts flushed on every node, and a new primary, are no caller's business")
  void noscript_is_nobodys_business() throws Exception {
    try (RedisClusterOf3 cluster = RedisClusterOf3.replicas(1);
        SoloNode owner = new SoloNode(cluster.uri(), FlightMode.DISTRIBUTED);
        SoloNode follower = new SoloNode(cluster.uri(), FlightMode.DISTRIBUTED)) {
      int number = 0;
      Map<RedisProcess, FlightKey> keys = new HashMap<>();
      while (keys.size() < 3) {
        FlightKey one = FlightKey.of("s", "flushed", number++);
        keys.putIfAbsent(cluster.primaryOf(RedisRecords.redisKey(one)), one);
      }
      for (FlightKey key : keys.values()) {
        flyWithScriptsFlushedBeforeEachStep(cluster, owner, follower, key);
      }
      // The replica that takes over has never seen a script.
      FlightKey key = keys.values().iterator().next();
      cluster.failOver(cluster.primaryOf(RedisRecords.redisKey(key)));
      assertThat(follower.solo().forget(key)).isTrue();
      flyWithScriptsFlushedBeforeEachStep(cluster, owner, follower, key);
    }
  }

  private static void flyWithScriptsFlushedBeforeEachStep(
      RedisClusterOf3 cluster, SoloNode owner, SoloNode follower, FlightKey key) throws Exception {
    String record = RedisRecords.redisKey(key);
    RedisProcess primary = cluster.primaryOf(record);
    CompletableFuture<String> provider = new CompletableFuture<>();
    flush(cluster);
    var own = owner.solo().callAsync(key, String.class, c -> provider);
    await().atMost(SOON).until(() -> "RUNNING".equals(primary.sync().hget(record, "status")));
    flush(cluster);
    var followed =
        follower
            .solo()
            .callAsync(key, String.class, c -> CompletableFuture.completedFuture("twice"));
    await().atMost(SOON).until(() -> primary.sync().hget(record, "waiters") != null);
    flush(cluster);
    String beat = primary.sync().hget(record, "heartbeatAt");
    await().atMost(SOON).until(() -> !beat.equals(primary.sync().hget(record, "heartbeatAt")));
    flush(cluster);
    provider.complete("once");
    assertThat(get(own).value()).isEqualTo("once");
    assertThat(get(followed).value()).isEqualTo("once");
    assertThat(primary.sync().hget(record, "attempt")).isEqualTo("1");
    flush(cluster);
    assertThat(follower.call(key, c -> "twice").source()).isEqualTo(Source.REPLAYED);
    flush(cluster);
    assertThat(owner.solo().inspect(key).orElseThrow().status()).isEqualTo("SUCCEEDED");
    flush(cluster);
    assertThat(owner.solo().forget(key)).isTrue();
    assertThat(follower.call(key, c -> "anew").value()).isEqualTo("anew");
  }

  private static void flush(RedisClusterOf3 cluster) {
    cluster.nodes().stream()
        .filter(node -> node.sync().role().get(0).equals("master"))
        .forEach(node -> node.sync().scriptFlush());
  }

  @Test
  @DisplayName("Case 30: after fifteen seconds without Redis its clients come back spread out")
  void reconnects_are_spread_out() throws Exception {
    int clients = 60;
    List<SoloFlight> nodes = new ArrayList<>();
    try (RedisProcess redis = RedisProcess.start();
        TcpProxy proxy = TcpProxy.to(redis)) {
      for (int i = 0; i < clients; i++) {
        SoloFlight node =
            SoloFlight.builder().redisUri(proxy.uri()).mode(FlightMode.HYBRID).build();
        nodes.add(node);
        assertThat(node.execute(FlightKey.of("s", "up", i), String.class, c -> "up"))
            .isEqualTo("up");
      }
      int before = proxy.accepted();
      proxy.refuse(true);
      proxy.cut();
      List<CompletableFuture<FlightResult<String>>> meanwhile = new ArrayList<>();
      for (SoloFlight node : nodes) {
        // Enough of them for each node to give Redis up.
        for (int i = 0; i < 6; i++) {
          meanwhile.add(
              node.callAsync(
                  FlightKey.of("s", "meanwhile", i),
                  String.class,
                  c -> CompletableFuture.completedFuture("no Redis")));
        }
      }
      for (CompletableFuture<FlightResult<String>> call : meanwhile) {
        assertThat(get(call).source()).isEqualTo(Source.DEGRADED);
      }
      await().pollDelay(Duration.ofSeconds(15)).atMost(SOON).until(() -> true);
      proxy.refuse(false);

      List<Long> cameAtNanos = new ArrayList<>();
      await()
          .pollInterval(Duration.ofMillis(5))
          .atMost(Duration.ofSeconds(30))
          .until(
              () -> {
                for (int came = proxy.accepted() - before; cameAtNanos.size() < came; ) {
                  cameAtNanos.add(System.nanoTime());
                }
                return cameAtNanos.size() >= clients;
              });
      long busiest =
          cameAtNanos.stream()
              .mapToLong(
                  from ->
                      cameAtNanos.stream()
                          .filter(at -> at >= from && at - from < TimeUnit.MILLISECONDS.toNanos(50))
                          .count())
              .max()
              .orElseThrow();
      assertThat(busiest).as("of %d, within 50 ms", clients).isLessThan(clients / 2);
      await()
          .atMost(SOON)
          .until(
              () ->
                  nodes.stream()
                      .allMatch(
                          node ->
                              node.call(
                                          FlightKey.of("s", "back", System.nanoTime()),
                                          String.class,
                                          c -> "back")
                                      .source()
                                  == Source.EXECUTED));
      assertThat(redis.sync().clientList().lines().filter(l -> l.contains("name=soloflight")))
          .as("one connection each, none left over")
          .hasSize(clients);
    } finally {
      nodes.forEach(SoloFlight::close);
    }
  }
}
