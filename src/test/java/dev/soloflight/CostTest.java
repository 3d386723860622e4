package dev.soloflight;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.soloflight.support.RedisProcess;
import io.lettuce.core.api.sync.RedisCommands;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/** What a call costs Redis, counted by Redis itself. A server of its own: counts are exact. */
class CostTest {
  private static final Duration SOON = Duration.ofSeconds(20);

  private RedisProcess server;
  private RedisCommands<String, String> redis;

  @BeforeEach
  void start() {
    server = RedisProcess.start();
    redis = server.sync();
  }

  @AfterEach
  void stop() {
    server.close();
  }

  private SoloFlight node() {
    return SoloFlight.builder()
        .redisUri(server.uri())
        .stage("s", stage -> stage.l1Ttl(Duration.ZERO).heartbeatInterval(Duration.ofSeconds(4)))
        .set("poll-fallback-interval", "1m")
        .set("stream-block-timeout", "1m")
        .build();
  }

  private long scripts() {
    return server.commandCount("evalsha") + server.commandCount("eval");
  }

  @Test
  void a_replay_costs_one_round_trip_and_an_owner_three_scripts() {
    try (SoloFlight one = node();
        SoloFlight two = node()) {
      warmUp(one, two);
      server.resetStats();
      one.execute(FlightKey.of("s", "cost"), String.class, c -> "v");
      assertThat(scripts()).as("acquire, confirm, complete").isEqualTo(3);
      assertThat(server.commandCount("xadd")).as("nobody waits").isZero();
      server.resetStats();
      for (int i = 0; i < 10; i++) {
        assertThat(two.call(FlightKey.of("s", "cost"), String.class, c -> "w").source())
            .isEqualTo(Source.REPLAYED);
      }
      assertThat(scripts()).isEqualTo(10);
    }
  }

  @Test
  void a_waiting_node_costs_one_xadd_however_many_wait_on_it() throws Exception {
    try (SoloFlight one = node();
        SoloFlight two = node();
        SoloFlight three = node()) {
      warmUp(one, two, three);
      List<SoloFlight> followers = List.of(two, three);
      for (SoloFlight follower : followers) {
        listen(one, follower);
      }
      CompletableFuture<String> provider = new CompletableFuture<>();
      FlightKey key = FlightKey.of("s", "waiting");
      server.resetStats();
      List<CompletableFuture<FlightResult<String>>> calls = new ArrayList<>();
      calls.add(one.callAsync(key, String.class, c -> provider));
      await().atMost(SOON).until(() -> one.inspect(key).isPresent());
      for (int i = 0; i < 20; i++) {
        for (SoloFlight follower : followers) {
          calls.add(follower.callAsync(key, String.class, c -> new CompletableFuture<>()));
        }
      }
      await()
          .atMost(SOON)
          .until(() -> one.inspect(key).map(FlightView::waitingNodes).orElse(0) == 2);
      provider.complete("v");
      for (CompletableFuture<FlightResult<String>> call : calls) {
        assertThat(call.get(20, TimeUnit.SECONDS).value()).isEqualTo("v");
      }
      assertThat(server.commandCount("xadd")).as("one a waiting node").isEqualTo(2);
      assertThat(scripts())
          .as("the owner's three, and two acquires a following node")
          .isEqualTo(3 + 2 * 2);
    }
  }

  @Test
  @DisplayName("Case 15: ten thousand followed flights hold two connections")
  void ten_thousand_followed_flights_hold_two_connections() throws Exception {
    try (SoloFlight owner = node();
        SoloFlight follower = node()) {
      CompletableFuture<String> provider = new CompletableFuture<>();
      List<FlightKey> keys =
          IntStream.range(0, 10_000).mapToObj(i -> FlightKey.of("s", "many", i)).toList();
      List<CompletableFuture<FlightResult<String>>> calls = new ArrayList<>();
      for (FlightKey key : keys) {
        calls.add(owner.callAsync(key, String.class, c -> provider));
      }
      await()
          .atMost(SOON)
          .until(() -> keys.stream().allMatch(key -> status(key).equals("RUNNING")));
      await().atMost(SOON).until(() -> connections() == 2); // one a node, while nothing is followed
      for (FlightKey key : keys) {
        calls.add(follower.callAsync(key, String.class, c -> new CompletableFuture<>()));
      }
      await()
          .atMost(SOON)
          .until(() -> keys.stream().allMatch(key -> redis.hget(record(key), "waiters") != null));
      await().atMost(SOON).until(() -> redis.clientList().contains("cmd=xread"));
      assertThat(connections()).as("the owner's one and the follower's two").isEqualTo(3);
      provider.complete("v");
      for (CompletableFuture<FlightResult<String>> call : calls) {
        assertThat(call.get(20, TimeUnit.SECONDS).value()).isEqualTo("v");
      }
    }
  }

  @Test
  @DisplayName("Case 14: a blocking read freezes no command")
  void a_blocked_inbox_does_not_slow_the_commands_of_its_node() throws Exception {
    try (SoloFlight owner = node();
        SoloFlight follower = node()) {
      listen(owner, follower);
      CompletableFuture<String> provider = new CompletableFuture<>();
      FlightKey followed = FlightKey.of("s", "followed");
      var own = owner.callAsync(followed, String.class, c -> provider);
      await().atMost(SOON).until(() -> status(followed).equals("RUNNING"));
      var wait = follower.callAsync(followed, String.class, c -> new CompletableFuture<>());
      await().atMost(SOON).until(() -> redis.clientList().contains("cmd=xread"));
      // The read blocks for a minute: commands that waited behind it would time out after a second.
      for (int i = 0; i < 50; i++) {
        assertThat(follower.call(FlightKey.of("s", "free", i), String.class, c -> "v").source())
            .isEqualTo(Source.EXECUTED);
      }
      provider.complete("v");
      assertThat(own.get(20, TimeUnit.SECONDS).value()).isEqualTo("v");
      assertThat(wait.get(20, TimeUnit.SECONDS).value()).isEqualTo("v");
    }
  }

  /** Lets a node follow once, so that it reads its inbox. */
  private void listen(SoloFlight owner, SoloFlight follower) throws Exception {
    CompletableFuture<String> provider = new CompletableFuture<>();
    FlightKey key = FlightKey.of("s", "listen", System.identityHashCode(follower));
    var own = owner.callAsync(key, String.class, c -> provider);
    await().atMost(SOON).until(() -> status(key).equals("RUNNING"));
    long readers = readers();
    var wait = follower.callAsync(key, String.class, c -> new CompletableFuture<>());
    await().atMost(SOON).until(() -> readers() > readers);
    provider.complete("");
    own.get(20, TimeUnit.SECONDS);
    wait.get(20, TimeUnit.SECONDS);
    await().atMost(SOON).until(() -> readers() > readers);
  }

  private static void warmUp(SoloFlight... nodes) {
    for (int i = 0; i < nodes.length; i++) {
      nodes[i].execute(FlightKey.of("s", "warm", i), String.class, c -> "");
    }
  }

  private long readers() {
    return redis.clientList().lines().filter(line -> line.contains("cmd=xread")).count();
  }

  private long connections() {
    return redis.clientList().lines().filter(line -> line.contains("name=soloflight")).count();
  }

  private String status(FlightKey key) {
    return String.valueOf(redis.hget(record(key), "status"));
  }

  private static String record(FlightKey key) {
    return "soloflight:{default:" + key.id() + "}";
  }
}
