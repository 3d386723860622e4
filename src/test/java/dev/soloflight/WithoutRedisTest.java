package dev.soloflight;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.soloflight.support.RedisProcess;
import dev.soloflight.support.TcpProxy;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.io.IOException;
import java.net.ServerSocket;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/** DESIGN 5: what each mode does while Redis cannot be reached, and after. */
class WithoutRedisTest {
  private static final Duration SOON = Duration.ofSeconds(20);

  private final AtomicInteger runs = new AtomicInteger();

  private static String closedPort() throws IOException {
    try (ServerSocket socket = new ServerSocket(0)) {
      return "redis://127.0.0.1:" + socket.getLocalPort();
    }
  }

  private String run(FlightContext context) {
    return "answer " + runs.incrementAndGet();
  }

  @Test
  void hybrid_answers_and_still_collapses_inside_the_jvm() throws Exception {
    try (SoloFlight solo = SoloFlight.builder().redisUri(closedPort()).build()) {
      FlightKey key = FlightKey.of("s", 1);
      CountDownLatch gate = new CountDownLatch(1);
      List<CompletableFuture<FlightResult<String>>> calls = new ArrayList<>();
      for (int i = 0; i < 10; i++) {
        calls.add(
            CompletableFuture.supplyAsync(
                () ->
                    solo.call(
                        key,
                        String.class,
                        c -> {
                          gate.await();
                          return run(c);
                        }),
                r -> new Thread(r).start()));
      }
      await()
          .pollDelay(Duration.ZERO)
          .atMost(SOON)
          .until(() -> calls.stream().noneMatch(CompletableFuture::isDone));
      gate.countDown();
      List<Source> sources = new ArrayList<>();
      for (var call : calls) {
        FlightResult<String> result = call.get(20, TimeUnit.SECONDS);
        assertThat(result.value()).isEqualTo("answer 1");
        sources.add(result.source());
      }
      assertThat(sources).containsOnlyOnce(Source.DEGRADED);
      assertThat(solo.call(key, String.class, this::run).source()).isEqualTo(Source.REPLAYED_L1);
      assertThat(runs).hasValue(1);
    }
  }

  @Test
  void local_mode_never_touches_the_port() throws Exception {
    try (RedisProcess redis = RedisProcess.start();
        TcpProxy proxy = TcpProxy.to(redis);
        SoloFlight solo =
            SoloFlight.builder().mode(FlightMode.LOCAL).redisUri(proxy.uri()).build()) {
      FlightKey key = FlightKey.of("s", 2);
      assertThat(solo.call(key, String.class, this::run).source()).isEqualTo(Source.EXECUTED);
      assertThat(solo.call(key, String.class, this::run).source()).isEqualTo(Source.REPLAYED_L1);
      assertThat(solo.inspect(key)).isEmpty();
      assertThat(solo.forget(key)).isTrue();
      assertThat(proxy.accepted()).isZero();
    }
  }

  @Test
  void distributed_mode_throws_and_does_not_run_the_task() throws Exception {
    try (SoloFlight solo =
        SoloFlight.builder().mode(FlightMode.DISTRIBUTED).redisUri(closedPort()).build()) {
      assertThatThrownBy(() -> solo.call(FlightKey.of("s", 3), String.class, this::run))
          .isInstanceOf(CoordinationException.class)
          .hasMessageContaining("the task did not run")
          .hasMessageContaining("redis.uri");
      assertThat(
              solo.callAsync(
                  FlightKey.of("s", 3),
                  String.class,
                  c -> CompletableFuture.completedFuture(run(c))))
          .failsWithin(SOON)
          .withThrowableThat()
          .havingRootCause();
      assertThatThrownBy(() -> solo.forget(FlightKey.of("s", 3)))
          .isInstanceOf(CoordinationException.class);
      assertThatThrownBy(() -> solo.inspect(FlightKey.of("s", 3)))
          .isInstanceOf(CoordinationException.class);
      assertThat(runs).hasValue(0);
    }
  }

  @Test
  void a_server_that_swallows_everything_costs_one_command_timeout() throws Exception {
    try (RedisProcess redis = RedisProcess.start();
        TcpProxy proxy = TcpProxy.to(redis);
        SoloFlight solo =
            SoloFlight.builder()
                .mode(FlightMode.DISTRIBUTED)
                .redisUri(proxy.uri())
                .commandTimeout(Duration.ofMillis(500))
                .build()) {
      proxy.blackhole(TcpProxy.Direction.TO_SERVER);
      assertThatThrownBy(() -> solo.call(FlightKey.of("s", 4), String.class, this::run))
          .isInstanceOf(CoordinationException.class);
      proxy.heal();
      await()
          .atMost(SOON)
          .ignoreExceptions()
          .until(() -> solo.call(FlightKey.of("s", 5), String.class, this::run) != null);
      proxy.blackhole(TcpProxy.Direction.TO_CLIENT);
      assertThatThrownBy(() -> solo.call(FlightKey.of("s", 6), String.class, c -> "not run"))
          .isInstanceOf(CoordinationException.class);
      assertThat(runs).hasValue(1);
    }
  }

  @Test
  void the_breaker_makes_a_dead_redis_cost_nothing_and_it_comes_back_by_itself() throws Exception {
    SimpleMeterRegistry registry = new SimpleMeterRegistry();
    try (RedisProcess redis = RedisProcess.start();
        TcpProxy proxy = TcpProxy.to(redis);
        SoloFlight solo =
            SoloFlight.builder()
                .redisUri(proxy.uri())
                .commandTimeout(Duration.ofMillis(200))
                .meterRegistry(registry)
                .build()) {
      assertThat(solo.call(FlightKey.of("s", "up"), String.class, this::run).source())
          .isEqualTo(Source.EXECUTED);
      proxy.blackhole(TcpProxy.Direction.TO_SERVER);
      for (int i = 0; i < 6; i++) {
        assertThat(solo.call(FlightKey.of("s", "down", i), String.class, this::run).source())
            .isEqualTo(Source.DEGRADED);
      }
      assertThat(registry.get("soloflight.redis.available").gauge().value()).isZero();
      for (int i = 0; i < 200; i++) {
        assertThat(solo.call(FlightKey.of("s", "open", i), String.class, this::run).source())
            .isEqualTo(Source.DEGRADED);
      }
      long forgotten = redis.commandCount("evalsha") + redis.commandCount("eval");
      assertThat(forgotten)
          .as("nothing arrived, and nothing was queued up to arrive later")
          .isLessThan(10);
      proxy.heal();
      AtomicInteger number = new AtomicInteger();
      await()
          .atMost(SOON)
          .until(
              () ->
                  solo.call(
                              FlightKey.of("s", "back", number.incrementAndGet()),
                              String.class,
                              this::run)
                          .source()
                      == Source.EXECUTED);
    }
  }

  @Test
  void a_follower_that_loses_redis_waits_for_it_to_come_back() throws Exception {
    try (RedisProcess redis = RedisProcess.start();
        TcpProxy proxy = TcpProxy.to(redis);
        SoloFlight owner = SoloFlight.builder().redisUri(redis.uri()).build();
        SoloFlight follower =
            SoloFlight.builder()
                .redisUri(proxy.uri())
                .commandTimeout(Duration.ofMillis(300))
                .build()) {
      FlightKey key = FlightKey.of("s", "lost and found");
      CompletableFuture<String> provider = new CompletableFuture<>();
      var own = owner.callAsync(key, String.class, c -> provider);
      await().atMost(SOON).until(() -> owner.inspect(key).isPresent());
      var followed =
          follower.callAsync(key, String.class, c -> CompletableFuture.completedFuture("twice"));
      await().atMost(SOON).until(() -> waiting(owner, key) == 1);
      proxy.refuse(true);
      proxy.cut();
      provider.complete("once");
      assertThat(own.get(20, TimeUnit.SECONDS).value()).isEqualTo("once");
      await().during(Duration.ofMillis(500)).atMost(SOON).until(() -> !followed.isDone());
      proxy.refuse(false);
      assertThat(followed.get(20, TimeUnit.SECONDS).value()).isEqualTo("once");
    }
  }

  @Test
  @DisplayName("Case 12: a wait for a Redis that is gone ends at its deadline")
  void a_follower_whose_redis_stays_away_follows_the_mode_at_its_deadline() throws Exception {
    for (FlightMode mode : List.of(FlightMode.HYBRID, FlightMode.DISTRIBUTED)) {
      try (RedisProcess redis = RedisProcess.start();
          TcpProxy proxy = TcpProxy.to(redis);
          SoloFlight owner = SoloFlight.builder().redisUri(redis.uri()).build();
          SoloFlight follower =
              SoloFlight.builder()
                  .mode(mode)
                  .redisUri(proxy.uri())
                  .commandTimeout(Duration.ofMillis(200))
                  .followerMaxWait(Duration.ofSeconds(2))
                  .build()) {
        FlightKey key = FlightKey.of("s", "gone", mode.name());
        CompletableFuture<String> provider = new CompletableFuture<>();
        owner.callAsync(key, String.class, c -> provider);
        await().atMost(SOON).until(() -> owner.inspect(key).isPresent());
        CompletableFuture<FlightResult<String>> followed =
            CompletableFuture.supplyAsync(
                () -> follower.call(key, String.class, this::run), r -> new Thread(r).start());
        await().atMost(SOON).until(() -> waiting(owner, key) == 1);
        proxy.refuse(true);
        proxy.cut();
        if (mode == FlightMode.HYBRID) {
          FlightResult<String> result = followed.get(20, TimeUnit.SECONDS);
          assertThat(result.source()).isEqualTo(Source.DEGRADED);
        } else {
          assertThat(followed)
              .failsWithin(SOON)
              .withThrowableThat()
              .withCauseInstanceOf(CoordinationException.class);
        }
        provider.complete("late");
      }
    }
    assertThat(runs).as("the hybrid one's").hasValue(1);
  }

  @Test
  void a_tasks_own_failure_never_falls_back_and_runs_once() throws Exception {
    try (RedisProcess redis = RedisProcess.start();
        SoloFlight solo = SoloFlight.builder().redisUri(redis.uri()).build()) {
      for (int i = 0; i < 2; i++) {
        assertThatThrownBy(
                () ->
                    solo.execute(
                        FlightKey.of("s", "fails"),
                        String.class,
                        c -> {
                          runs.incrementAndGet();
                          throw new IllegalStateException("no");
                        }))
            .isInstanceOf(i == 0 ? IllegalStateException.class : FlightFailedException.class);
      }
      assertThat(runs).hasValue(1);
    }
  }

  private static int waiting(SoloFlight node, FlightKey key) {
    return node.inspect(key).map(FlightView::waitingNodes).orElse(0);
  }
}
