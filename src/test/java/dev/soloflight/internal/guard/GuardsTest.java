package dev.soloflight.internal.guard;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.soloflight.FlightContext;
import dev.soloflight.FlightFailedException;
import dev.soloflight.FlightKey;
import dev.soloflight.FlightResult;
import dev.soloflight.FlightView;
import dev.soloflight.SoloFlight;
import dev.soloflight.Source;
import dev.soloflight.StageSettings;
import dev.soloflight.support.TestRedis;
import dev.soloflight.support.WithRedis;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Guards are inside the flight: they limit executions, never who asks for an outcome. */
@WithRedis
class GuardsTest {
  private static final Duration SOON = Duration.ofSeconds(10);

  private final ExecutorService pool = Executors.newCachedThreadPool();
  private final List<SoloFlight> nodes = new ArrayList<>();
  private final AtomicInteger runs = new AtomicInteger();
  private final CountDownLatch running = new CountDownLatch(1);
  private final CountDownLatch gate = new CountDownLatch(1);
  private TestRedis redis;

  @BeforeEach
  void remember(TestRedis redis) {
    this.redis = redis;
  }

  @AfterEach
  void close() {
    gate.countDown();
    nodes.forEach(SoloFlight::close);
    pool.shutdownNow();
  }

  private SoloFlight node(Consumer<StageSettings> rules) {
    SoloFlight node = SoloFlight.builder().redisUri(redis.uri()).stage("s", rules).build();
    nodes.add(node);
    return node;
  }

  private String slow(FlightContext context) throws InterruptedException {
    int run = runs.incrementAndGet();
    running.countDown();
    gate.await();
    return "answer " + run;
  }

  private <T> CompletableFuture<T> inThread(Callable<T> call) {
    CompletableFuture<T> result = new CompletableFuture<>();
    pool.execute(
        () -> {
          try {
            result.complete(call.call());
          } catch (Throwable e) {
            result.completeExceptionally(e);
          }
        });
    return result;
  }

  private static void assertRefused(Callable<?> call, String code) {
    assertThatThrownBy(call::call)
        .isInstanceOfSatisfying(
            FlightFailedException.class,
            e -> {
              assertThat(e.errorCode()).isEqualTo(code);
              assertThat(e.retryable()).isTrue();
            });
  }

  private static String never(FlightContext context) {
    throw new AssertionError("ran: " + context.key());
  }

  @Test
  void waiters_followers_and_replays_use_no_permits() throws Exception {
    SoloFlight owner =
        node(stage -> stage.maxConcurrent(1).rate(1, Duration.ofHours(1)).l1Ttl(Duration.ZERO));
    // This node's only permit is used up for an hour: all it can do is follow and replay.
    SoloFlight follower = node(stage -> stage.rate(1, Duration.ofHours(1)).l1Ttl(Duration.ZERO));
    follower.execute(FlightKey.of("s", "used up"), String.class, c -> "v");
    FlightKey key = FlightKey.of("s", "shared");
    List<CompletableFuture<FlightResult<String>>> calls = new ArrayList<>();
    calls.add(inThread(() -> owner.call(key, String.class, this::slow)));
    running.await();
    for (int i = 0; i < 20; i++) {
      calls.add(inThread(() -> owner.call(key, String.class, GuardsTest::never)));
      calls.add(
          owner.callAsync(key, String.class, c -> CompletableFuture.failedFuture(new Error())));
      calls.add(inThread(() -> follower.call(key, String.class, GuardsTest::never)));
    }
    await()
        .atMost(SOON)
        .until(() -> owner.inspect(key).map(FlightView::waitingNodes).orElse(0) == 1);
    gate.countDown();

    for (var call : calls) {
      assertThat(call.get(10, TimeUnit.SECONDS).value()).isEqualTo("answer 1");
    }
    for (int i = 0; i < 20; i++) {
      for (SoloFlight node : nodes) {
        FlightResult<String> replay = node.call(key, String.class, GuardsTest::never);
        assertThat(replay.value()).isEqualTo("answer 1");
        assertThat(replay.source()).isEqualTo(Source.REPLAYED);
      }
    }
    assertThat(runs).hasValue(1);
    FlightKey another = FlightKey.of("s", "another");
    assertRefused(
        () -> owner.execute(another, String.class, GuardsTest::never), "GUARD_RATE_LIMITED");
  }

  @Test
  void a_full_stage_refuses_another_flight_and_replays_what_it_has() throws Exception {
    SoloFlight node = node(stage -> stage.maxConcurrent(1));
    FlightKey known = FlightKey.of("s", "known");
    node.execute(known, String.class, c -> "known");
    FlightKey busy = FlightKey.of("s", "busy");
    var own = inThread(() -> node.execute(busy, String.class, this::slow));
    running.await();

    FlightKey another = FlightKey.of("s", "another");
    assertRefused(
        () -> node.execute(another, String.class, GuardsTest::never), "GUARD_BULKHEAD_FULL");
    assertThat(node.call(known, String.class, GuardsTest::never).source())
        .isEqualTo(Source.REPLAYED_L1);
    assertThat(node.execute(FlightKey.of("t", "another stage"), String.class, c -> "v"))
        .isEqualTo("v");
    gate.countDown();
    own.get(10, TimeUnit.SECONDS);
    assertThat(node.execute(another, String.class, c -> "let in")).isEqualTo("let in");
  }

  @Test
  void a_refusal_is_never_the_last_attempt_however_many_came_before() throws Exception {
    SoloFlight node = node(stage -> stage.maxConcurrent(1).maxAttempts(2));
    var own = inThread(() -> node.execute(FlightKey.of("s", "busy"), String.class, this::slow));
    running.await();
    FlightKey refused = FlightKey.of("s", "refused");
    for (int i = 0; i < 5; i++) {
      assertRefused(
          () -> node.execute(refused, String.class, GuardsTest::never), "GUARD_BULKHEAD_FULL");
      assertThatThrownBy(
              () ->
                  node.callAsync(
                          refused, String.class, c -> CompletableFuture.failedFuture(new Error()))
                      .join())
          .hasCauseInstanceOf(FlightFailedException.class)
          .hasMessageContaining("max-concurrent");
    }
    gate.countDown();
    own.get(10, TimeUnit.SECONDS);
    assertThat(node.execute(refused, String.class, c -> "let in")).isEqualTo("let in");
  }

  @Test
  void a_node_that_waits_takes_over_at_once_where_the_owner_is_full() throws Exception {
    SoloFlight full = node(stage -> stage.maxConcurrent(1));
    SoloFlight free = node(stage -> {});
    var own = inThread(() -> full.execute(FlightKey.of("s", "busy"), String.class, this::slow));
    running.await();
    FlightKey key = FlightKey.of("s", "handed over");
    assertRefused(() -> full.execute(key, String.class, GuardsTest::never), "GUARD_BULKHEAD_FULL");
    FlightResult<String> elsewhere = free.call(key, String.class, c -> "room here");
    assertThat(elsewhere.value()).isEqualTo("room here");
    assertThat(elsewhere.source()).isEqualTo(Source.EXECUTED);
    assertThat(full.execute(key, String.class, GuardsTest::never)).isEqualTo("room here");
    gate.countDown();
    own.get(10, TimeUnit.SECONDS);
  }

  @Test
  void a_timeout_interrupts_the_task_and_the_next_caller_tries_again() throws Exception {
    SoloFlight node = node(stage -> stage.guardTimeout(Duration.ofMillis(200)));
    FlightKey key = FlightKey.of("s", "timeout");
    AtomicBoolean interrupted = new AtomicBoolean();
    AtomicBoolean left = new AtomicBoolean();
    var call =
        inThread(
            () -> {
              try {
                return node.execute(
                    key,
                    String.class,
                    c -> {
                      try {
                        gate.await();
                        return "never";
                      } catch (InterruptedException e) {
                        interrupted.set(true);
                        throw e;
                      }
                    });
              } finally {
                left.set(Thread.currentThread().isInterrupted());
              }
            });
    assertThatThrownBy(() -> call.get(10, TimeUnit.SECONDS))
        .cause()
        .isInstanceOfSatisfying(
            FlightFailedException.class,
            e -> {
              assertThat(e.errorCode()).isEqualTo("GUARD_TIMEOUT");
              assertThat(e.retryable()).isTrue();
            });
    assertThat(interrupted).isTrue();
    assertThat(left).as("the caller's thread was left interrupted").isFalse();
    assertThat(node.execute(key, String.class, this::attempt)).isEqualTo("attempt 2");
  }

  private String attempt(FlightContext context) {
    return "attempt " + context.attempt();
  }

  @Test
  void a_timeout_cancels_the_asynchronous_task() throws Exception {
    SoloFlight node = node(stage -> stage.guardTimeout(Duration.ofMillis(200)));
    FlightKey key = FlightKey.of("s", "async timeout");
    CompletableFuture<String> provider = new CompletableFuture<>();
    var call = node.callAsync(key, String.class, c -> provider);
    assertThatThrownBy(() -> call.get(10, TimeUnit.SECONDS))
        .cause()
        .isInstanceOfSatisfying(
            FlightFailedException.class, e -> assertThat(e.errorCode()).isEqualTo("GUARD_TIMEOUT"));
    await().atMost(SOON).until(provider::isCancelled);
  }

  @Test
  void an_error_of_the_asynchronous_task_reaches_every_caller() throws Exception {
    SoloFlight node = node(stage -> {});
    FlightKey key = FlightKey.of("s", "async error");
    CompletableFuture<String> provider = new CompletableFuture<>();
    var first = node.callAsync(key, String.class, c -> provider);
    var second = node.callAsync(key, String.class, c -> provider);
    await()
        .atMost(SOON)
        .until(() -> node.inspect(key).map(FlightView::status).orElse("").equals("RUNNING"));
    provider.completeExceptionally(new AssertionError("an Error, no Exception"));
    for (var call : List.of(first, second)) {
      assertThatThrownBy(() -> call.get(10, TimeUnit.SECONDS))
          .hasRootCauseExactlyInstanceOf(AssertionError.class);
    }
    assertThat(node.forget(key)).isTrue();
    assertThat(node.execute(key, String.class, c -> "not stuck")).isEqualTo("not stuck");
  }

  @Test
  void an_open_breaker_stops_executions_and_not_replays() {
    SoloFlight node = node(stage -> stage.breaker(60, 3, Duration.ofHours(1)).l1Ttl(Duration.ZERO));
    FlightKey known = FlightKey.of("s", "known");
    node.execute(known, String.class, c -> "known");
    for (int i = 0; i < 2; i++) {
      FlightKey failing = FlightKey.of("s", "failing", i);
      assertThatThrownBy(
              () ->
                  node.execute(
                      failing,
                      String.class,
                      c -> {
                        throw new IOException("down");
                      }))
          .isExactlyInstanceOf(IOException.class);
    }
    FlightKey another = FlightKey.of("s", "another");
    assertRefused(
        () -> node.execute(another, String.class, GuardsTest::never), "GUARD_BREAKER_OPEN");
    for (int i = 0; i < 10; i++) {
      assertThat(node.call(known, String.class, GuardsTest::never).source())
          .isEqualTo(Source.REPLAYED);
    }
  }
}
