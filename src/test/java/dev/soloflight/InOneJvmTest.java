package dev.soloflight;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.core.type.TypeReference;
import dev.soloflight.support.TestRedis;
import dev.soloflight.support.WithRedis;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** DESIGN 4, in every mode: what callers in one JVM may rely on. */
@WithRedis
class InOneJvmTest {
  private static final Duration SOON = Duration.ofSeconds(10);

  private final ExecutorService pool = Executors.newCachedThreadPool();
  private final AtomicInteger runs = new AtomicInteger();
  private final CountDownLatch running = new CountDownLatch(1);
  private final CountDownLatch gate = new CountDownLatch(1);
  private TestRedis redis;
  private SoloFlight solo;

  @BeforeEach
  void remember(TestRedis redis) {
    this.redis = redis;
  }

  @AfterEach
  void close() {
    gate.countDown();
    if (solo != null) {
      solo.close();
    }
    pool.shutdownNow();
  }

  private SoloFlight open(FlightMode mode) {
    solo = builder(mode).build();
    return solo;
  }

  private SoloFlight.Builder builder(FlightMode mode) {
    return SoloFlight.builder().mode(mode).redisUri(redis.uri());
  }

  private String slow(FlightContext context) throws InterruptedException {
    int run = runs.incrementAndGet();
    running.countDown();
    gate.await();
    return "answer " + run;
  }

  private <T> CompletableFuture<T> inThread(java.util.concurrent.Callable<T> call) {
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

  /** A call that waits for the running leader. */
  private CompletableFuture<FlightResult<String>> waiter(FlightKey key) {
    return inThread(() -> solo.call(key, String.class, this::slow));
  }

  private static Throwable failureOf(CompletableFuture<?> future) {
    try {
      future.get(10, TimeUnit.SECONDS);
      throw new AssertionError("did not fail");
    } catch (java.util.concurrent.ExecutionException e) {
      return e.getCause();
    } catch (InterruptedException | java.util.concurrent.TimeoutException e) {
      throw new AssertionError(e);
    }
  }

  @ParameterizedTest
  @EnumSource(FlightMode.class)
  void identical_calls_share_one_execution_and_later_ones_replay(FlightMode mode) throws Exception {
    open(mode);
    FlightKey key = FlightKey.of("s", mode.name(), 1);
    List<CompletableFuture<FlightResult<String>>> calls = new ArrayList<>();
    calls.add(waiter(key));
    running.await();
    for (int i = 0; i < 20; i++) {
      calls.add(waiter(key));
      calls.add(
          solo.callAsync(key, String.class, c -> CompletableFuture.completedFuture("another")));
    }
    gate.countDown();
    List<Source> sources = new ArrayList<>();
    for (var call : calls) {
      FlightResult<String> result = call.get(10, TimeUnit.SECONDS);
      assertThat(result.value()).isEqualTo("answer 1");
      sources.add(result.source());
    }
    assertThat(sources).containsOnlyOnce(Source.EXECUTED);
    assertThat(sources.stream().filter(s -> s == Source.SHARED).count()).isGreaterThan(20);
    assertThat(solo.call(key, String.class, this::slow).source()).isEqualTo(Source.REPLAYED_L1);
    assertThat(runs).hasValue(1);
  }

  @ParameterizedTest
  @EnumSource(FlightMode.class)
  void a_leaders_interrupt_is_its_own_and_a_waiter_becomes_leader(FlightMode mode)
      throws Exception {
    open(mode);
    FlightKey key = FlightKey.of("s", mode.name(), 2);
    AtomicReference<Thread> leader = new AtomicReference<>();
    CompletableFuture<String> first =
        inThread(
            () -> {
              leader.set(Thread.currentThread());
              return solo.execute(key, String.class, this::slow);
            });
    running.await();
    List<CompletableFuture<FlightResult<String>>> others = List.of(waiter(key), waiter(key));
    awaitWaiting(2);
    leader.get().interrupt();
    assertThat(failureOf(first)).isInstanceOf(InterruptedException.class);
    await().atMost(SOON).until(() -> runs.get() == 2);
    gate.countDown();
    for (var other : others) {
      assertThat(other.get(10, TimeUnit.SECONDS).value()).isEqualTo("answer 2");
    }
    assertThat(runs).hasValue(2);
  }

  @ParameterizedTest
  @EnumSource(FlightMode.class)
  void a_waiters_interrupt_is_its_own(FlightMode mode) throws Exception {
    open(mode);
    FlightKey key = FlightKey.of("s", mode.name(), 3);
    CompletableFuture<FlightResult<String>> first = waiter(key);
    running.await();
    AtomicReference<Thread> thread = new AtomicReference<>();
    CompletableFuture<Boolean> second =
        inThread(
            () -> {
              thread.set(Thread.currentThread());
              assertThatThrownBy(() -> solo.execute(key, String.class, this::slow))
                  .isInstanceOf(FlightCancelledException.class)
                  .hasMessageContaining(key.toString());
              return Thread.interrupted();
            });
    awaitWaiting(1);
    thread.get().interrupt();
    assertThat(second.get(10, TimeUnit.SECONDS)).as("the interrupt flag is set again").isTrue();
    gate.countDown();
    assertThat(first.get(10, TimeUnit.SECONDS).value()).isEqualTo("answer 1");
  }

  @ParameterizedTest
  @EnumSource(FlightMode.class)
  @DisplayName("Case 21: one caller's cancel is nobody else's; one execution")
  void an_async_leaders_cancellation_leaves_the_task_to_the_others(FlightMode mode)
      throws Exception {
    open(mode);
    FlightKey key = FlightKey.of("s", mode.name(), 4);
    CompletableFuture<String> provider = new CompletableFuture<>();
    CompletableFuture<FlightResult<String>> leader = startAsync(key, provider);
    CompletableFuture<FlightResult<String>> other = startAsync(key, new CompletableFuture<>());
    await().atMost(SOON).until(() -> runs.get() == 1);
    leader.cancel(true);
    assertThat(provider).isNotDone();
    provider.complete("paid");
    assertThat(other.get(10, TimeUnit.SECONDS).value()).isEqualTo("paid");
    assertThat(runs).hasValue(1);
  }

  @ParameterizedTest
  @EnumSource(FlightMode.class)
  void the_task_is_cancelled_with_its_last_caller_and_the_next_one_executes(FlightMode mode)
      throws Exception {
    open(mode);
    FlightKey key = FlightKey.of("s", mode.name(), 5);
    CompletableFuture<String> provider = new CompletableFuture<>();
    CompletableFuture<FlightResult<String>> leader = startAsync(key, provider);
    CompletableFuture<FlightResult<String>> other = startAsync(key, new CompletableFuture<>());
    await().atMost(SOON).until(() -> runs.get() == 1);
    other.orTimeout(1, TimeUnit.MILLISECONDS);
    await().atMost(SOON).until(other::isDone);
    assertThat(provider).isNotDone();
    leader.cancel(false);
    await().atMost(SOON).until(provider::isCancelled);
    FlightResult<String> next = solo.call(key, String.class, c -> "anew");
    assertThat(next.value()).isEqualTo("anew");
    assertThat(next.source()).isEqualTo(Source.EXECUTED);
  }

  private CompletableFuture<FlightResult<String>> startAsync(
      FlightKey key, CompletableFuture<String> provider) {
    return solo.callAsync(
        key,
        String.class,
        c -> {
          runs.incrementAndGet();
          return provider;
        });
  }

  @ParameterizedTest
  @EnumSource(FlightMode.class)
  void a_failure_runs_once_and_keeps_its_type_code_and_message(FlightMode mode) throws Exception {
    open(mode);
    FlightKey key = FlightKey.of("s", mode.name(), 6);
    CompletableFuture<String> leader =
        inThread(
            () ->
                solo.execute(
                    key,
                    String.class,
                    c -> {
                      slow(c);
                      throw new IOException("line 1 is down");
                    }));
    running.await();
    CompletableFuture<FlightResult<String>> waiter = waiter(key);
    awaitWaiting(1);
    gate.countDown();
    assertThat(failureOf(leader))
        .isExactlyInstanceOf(IOException.class)
        .hasMessage("line 1 is down");
    for (Throwable told :
        List.of(
            failureOf(waiter),
            failureOf(waiter(key)),
            failureOf(startAsync(key, new CompletableFuture<>())))) {
      assertThat(told).isInstanceOf(FlightFailedException.class);
      FlightFailedException failed = (FlightFailedException) told;
      assertThat(failed.errorType()).isEqualTo("java.io.IOException");
      assertThat(failed.errorCode()).isEqualTo("TASK_FAILED");
      assertThat(failed.errorMessage()).isEqualTo("line 1 is down");
      assertThat(failed.retryable()).isFalse();
    }
    assertThat(runs).hasValue(1);
  }

  @ParameterizedTest
  @EnumSource(FlightMode.class)
  void an_error_reaches_the_waiters_and_leaves_nothing_stuck(FlightMode mode) throws Exception {
    open(mode);
    FlightKey key = FlightKey.of("s", mode.name(), 7);
    CompletableFuture<String> leader =
        inThread(
            () ->
                solo.execute(
                    key,
                    String.class,
                    c -> {
                      slow(c);
                      throw new StackOverflowError();
                    }));
    running.await();
    CompletableFuture<FlightResult<String>> waiter = waiter(key);
    awaitWaiting(1);
    gate.countDown();
    assertThat(failureOf(leader)).isInstanceOf(StackOverflowError.class);
    assertThat(failureOf(waiter))
        .isInstanceOfSatisfying(
            FlightFailedException.class,
            e -> assertThat(e.errorType()).isEqualTo("java.lang.StackOverflowError"));
    solo.forget(key);
    assertThat(solo.execute(key, String.class, c -> "well")).isEqualTo("well");
  }

  @ParameterizedTest
  @EnumSource(FlightMode.class)
  void a_result_that_has_no_stored_form_reaches_its_own_callers(FlightMode mode) {
    open(mode);
    class Opaque {
      @SuppressWarnings("unused")
      public String getValue() {
        throw new AssertionError("getter");
      }
    }
    Opaque value = new Opaque();
    FlightKey key = FlightKey.of("s", mode.name(), 8);
    assertThat(solo.execute(key, Opaque.class, c -> value)).isSameAs(value);
    assertThat(solo.call(key, Opaque.class, c -> value).source()).isEqualTo(Source.REPLAYED_L1);
  }

  @ParameterizedTest
  @EnumSource(FlightMode.class)
  @DisplayName("Case 25: a flight that asks for itself, straight or around, fails at once")
  void asking_for_the_own_key_fails_at_once(FlightMode mode) {
    open(mode);
    FlightKey a = FlightKey.of("s", mode.name(), "A");
    FlightKey b = FlightKey.of("s", mode.name(), "B");
    assertThatThrownBy(
            () ->
                solo.execute(a, String.class, c -> solo.execute(a, String.class, inner -> "never")))
        .isInstanceOf(FlightConfigException.class)
        .hasMessageContaining(a.toString());
    solo.forget(a);
    assertThatThrownBy(
            () ->
                solo.execute(
                    a,
                    String.class,
                    c ->
                        solo.execute(
                            b, String.class, d -> solo.execute(a, String.class, e -> "never"))))
        .isInstanceOf(FlightConfigException.class)
        .hasMessageContaining(a + " -> " + b + " -> " + a);
    solo.forget(a);
    assertThatThrownBy(
            () ->
                solo.callAsync(
                        a,
                        String.class,
                        c ->
                            solo.callAsync(
                                    a, String.class, d -> CompletableFuture.completedFuture(""))
                                .thenApply(FlightResult::value))
                    .join())
        .hasRootCauseInstanceOf(FlightConfigException.class);
  }

  @ParameterizedTest
  @EnumSource(FlightMode.class)
  void two_tasks_that_wait_for_each_other_fail_at_once(FlightMode mode) throws Exception {
    open(mode);
    FlightKey a = FlightKey.of("s", mode.name(), "A2");
    FlightKey b = FlightKey.of("s", mode.name(), "B2");
    CountDownLatch both = new CountDownLatch(2);
    CompletableFuture<String> one = inThread(() -> crossing(a, b, both));
    CompletableFuture<String> two = inThread(() -> crossing(b, a, both));
    Throwable first = failureOf(one);
    Throwable second = failureOf(two);
    assertThat(List.of(first, second))
        .anySatisfy(
            e ->
                assertThat(e)
                    .isInstanceOf(FlightConfigException.class)
                    .hasMessageContaining("both would wait for ever"));
  }

  private String crossing(FlightKey mine, FlightKey other, CountDownLatch both) {
    return solo.execute(
        mine,
        String.class,
        c -> {
          both.countDown();
          both.await();
          return solo.execute(other, String.class, d -> "unused");
        });
  }

  record Score(String name, int points) {}

  @ParameterizedTest
  @EnumSource(FlightMode.class)
  void values_of_every_kind_come_back_as_they_were(FlightMode mode) {
    try (SoloFlight one = builder(mode).build();
        SoloFlight two = builder(mode).build()) {
      for (SoloFlight node : mode == FlightMode.LOCAL ? List.of(one) : List.of(one, two)) {
        String m = mode.name();
        assertThat(
                node.execute(
                    FlightKey.of("s", m, "null"), String.class, c -> first(node, one, null)))
            .isNull();
        assertThat(
                node.execute(
                    FlightKey.of("s", m, "record"),
                    Score.class,
                    c -> first(node, one, new Score("王小明", 87))))
            .isEqualTo(new Score("王小明", 87));
        assertThat(
                node.execute(
                    FlightKey.of("s", m, "generic"),
                    new TypeReference<Map<String, List<Score>>>() {},
                    c -> first(node, one, Map.of("a", List.of(new Score("x", 1))))))
            .isEqualTo(Map.of("a", List.of(new Score("x", 1))));
        assertThat(
                node.execute(
                    FlightKey.of("s", m, "string"), String.class, c -> first(node, one, "答😀")))
            .isEqualTo("答😀");
        assertThat(
                node.execute(
                    FlightKey.of("s", m, "bytes"),
                    byte[].class,
                    c -> first(node, one, new byte[] {0, -1, 7})))
            .containsExactly(0, -1, 7);
      }
    }
  }

  private static <T> T first(SoloFlight node, SoloFlight one, T value) {
    assertThat(node).as("only the first node executes").isSameAs(one);
    return value;
  }

  @ParameterizedTest
  @EnumSource(FlightMode.class)
  void another_result_type_for_the_same_key_is_refused(FlightMode mode) throws Exception {
    open(mode);
    FlightKey key = FlightKey.of("s", mode.name(), 10);
    CompletableFuture<FlightResult<String>> leader = waiter(key);
    running.await();
    assertThatThrownBy(() -> solo.execute(key, Integer.class, c -> 1))
        .isInstanceOf(FlightConfigException.class)
        .hasMessageContaining("java.lang.String")
        .hasMessageContaining("java.lang.Integer");
    gate.countDown();
    leader.get(10, TimeUnit.SECONDS);
    assertThatThrownBy(() -> solo.execute(key, Integer.class, c -> 1))
        .isInstanceOf(FlightConfigException.class);
    if (mode != FlightMode.LOCAL) {
      try (SoloFlight other = builder(mode).build()) {
        assertThatThrownBy(() -> other.execute(key, Integer.class, c -> 1))
            .isInstanceOf(FlightConfigException.class)
            .hasMessageContaining("java.lang.String")
            .hasMessageContaining("java.lang.Integer");
      }
    }
  }

  @ParameterizedTest
  @EnumSource(FlightMode.class)
  void a_wait_that_takes_too_long_fails_with_both_forms(FlightMode mode) throws Exception {
    solo = builder(mode).followerMaxWait(Duration.ofMillis(300)).build();
    FlightKey key = FlightKey.of("s", mode.name(), 11);
    CompletableFuture<FlightResult<String>> leader = waiter(key);
    running.await();
    assertThatThrownBy(() -> solo.execute(key, String.class, this::slow))
        .isInstanceOf(FlightTimeoutException.class)
        .hasMessageContaining("follower-max-wait");
    assertThat(failureOf(startAsync(key, new CompletableFuture<>())))
        .isInstanceOf(FlightTimeoutException.class);
    gate.countDown();
    assertThat(leader.get(10, TimeUnit.SECONDS).value()).isEqualTo("answer 1");
    assertThat(runs).hasValue(1);
  }

  @ParameterizedTest
  @EnumSource(FlightMode.class)
  void a_wait_that_takes_too_long_executes_where_the_policy_says_so(FlightMode mode)
      throws Exception {
    solo =
        builder(mode)
            .followerMaxWait(Duration.ofMillis(300))
            .stage("s", stage -> stage.executeOnWaitTimeout())
            .build();
    FlightKey key = FlightKey.of("s", mode.name(), 12);
    CompletableFuture<FlightResult<String>> leader = waiter(key);
    running.await();
    FlightResult<String> own = solo.call(key, String.class, c -> "own " + c.isOwner());
    assertThat(own.value()).isEqualTo("own false");
    assertThat(own.ownerToken()).isZero();
    assertThat(
            solo.callAsync(key, String.class, c -> CompletableFuture.completedFuture("async own"))
                .get(10, TimeUnit.SECONDS)
                .value())
        .isEqualTo("async own");
    gate.countDown();
    assertThat(leader.get(10, TimeUnit.SECONDS).value()).isEqualTo("answer 1");
  }

  @ParameterizedTest
  @EnumSource(FlightMode.class)
  void a_forgotten_result_is_not_served_and_not_resurrected(FlightMode mode) throws Exception {
    open(mode);
    FlightKey key = FlightKey.of("s", mode.name(), 13);
    CompletableFuture<FlightResult<String>> old = waiter(key);
    running.await();
    assertThat(solo.forget(key)).isTrue();
    assertThat(solo.execute(key, String.class, c -> "new")).isEqualTo("new");
    gate.countDown();
    assertThat(old.get(10, TimeUnit.SECONDS).value())
        .as("its own callers get it, or the committed one")
        .isIn("answer 1", "new");
    assertThat(solo.execute(key, String.class, c -> "newer")).isEqualTo("new");
    assertThat(solo.forget(key)).isTrue();
    assertThat(solo.forget(key)).isFalse();
    assertThat(solo.execute(key, String.class, c -> "newer")).isEqualTo("newer");
  }

  @ParameterizedTest
  @EnumSource(FlightMode.class)
  void a_retry_from_the_failures_callback_starts_anew_after_forget(FlightMode mode)
      throws Exception {
    open(mode);
    FlightKey key = FlightKey.of("s", mode.name(), 14);
    CompletableFuture<String> retried =
        solo.callAsync(
                key, String.class, c -> CompletableFuture.failedFuture(new IOException("once")))
            .handle(
                (r, e) -> {
                  solo.forget(key);
                  return solo.callAsync(
                      key, String.class, c -> CompletableFuture.completedFuture("twice"));
                })
            .thenCompose(f -> f)
            .thenApply(FlightResult::value);
    assertThat(retried.get(10, TimeUnit.SECONDS)).isEqualTo("twice");
  }

  @ParameterizedTest
  @EnumSource(FlightMode.class)
  void a_retryable_failure_is_tried_again_by_the_next_caller_until_attempts_are_used_up(
      FlightMode mode) {
    open(mode);
    FlightKey key = FlightKey.of("s", mode.name(), 15);
    for (int attempt = 1; attempt <= 3; attempt++) {
      assertThatThrownBy(() -> solo.execute(key, String.class, this::failRetryably))
          .isInstanceOf(FlightFailedException.class)
          .hasMessage("try again");
    }
    assertThat(runs).hasValue(3);
    if (mode != FlightMode.LOCAL) {
      assertThatThrownBy(() -> solo.execute(key, String.class, this::failRetryably))
          .isInstanceOfSatisfying(
              FlightFailedException.class, e -> assertThat(e.errorCode()).isEqualTo("BUSY"));
      assertThat(runs).as("attempts are used up").hasValue(3);
    }
  }

  private String failRetryably(FlightContext context) {
    runs.incrementAndGet();
    throw FlightFailedException.of("BUSY", "try again", true);
  }

  @ParameterizedTest
  @EnumSource(FlightMode.class)
  void an_executor_that_refuses_fails_its_caller_and_nobody_else(FlightMode mode) throws Exception {
    ThreadPoolExecutor full =
        new ThreadPoolExecutor(
            1, 1, 1, TimeUnit.SECONDS, new java.util.concurrent.SynchronousQueue<>());
    CountDownLatch free = new CountDownLatch(1);
    full.execute(
        () -> {
          try {
            free.await();
          } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
          }
        });
    try {
      solo = builder(mode).asyncExecutor(full).build();
      FlightKey key = FlightKey.of("s", mode.name(), 16);
      assertThat(failureOf(startAsync(key, new CompletableFuture<>())))
          .isInstanceOf(FlightCancelledException.class)
          .hasRootCauseInstanceOf(RejectedExecutionException.class);
      assertThat(solo.execute(key, String.class, c -> "blocking")).isEqualTo("blocking");
    } finally {
      free.countDown();
      full.shutdownNow();
    }
  }

  @ParameterizedTest
  @EnumSource(FlightMode.class)
  void an_executor_that_refuses_from_any_step_on_strands_nobody(FlightMode mode) throws Exception {
    for (int accepted = 0; accepted < 8; accepted++) {
      AtomicInteger left = new AtomicInteger(accepted);
      java.util.concurrent.Executor closing =
          step -> {
            if (left.getAndDecrement() <= 0) {
              throw new RejectedExecutionException("full");
            }
            pool.execute(step);
          };
      CompletableFuture<String> provider = new CompletableFuture<>();
      try (SoloFlight one = builder(mode).asyncExecutor(closing).build()) {
        FlightKey key = FlightKey.of("s", mode.name(), "closing", accepted);
        var first = one.callAsync(key, String.class, c -> provider);
        var second = one.callAsync(key, String.class, c -> provider);
        pool.execute(() -> provider.complete("answer"));
        for (var call : List.of(first, second)) {
          try {
            assertThat(call.get(10, TimeUnit.SECONDS).value()).isEqualTo("answer");
          } catch (java.util.concurrent.ExecutionException e) {
            assertThat(e).hasRootCauseInstanceOf(RejectedExecutionException.class);
          }
        }
        assertThat(one.execute(key, String.class, c -> "answer")).isEqualTo("answer");
      }
    }
  }

  @ParameterizedTest
  @EnumSource(FlightMode.class)
  void close_cancels_the_task_and_tells_every_caller(FlightMode mode) throws Exception {
    open(mode);
    FlightKey key = FlightKey.of("s", mode.name(), 17);
    CompletableFuture<FlightResult<String>> leader = waiter(key);
    running.await();
    CompletableFuture<FlightResult<String>> waiting = waiter(key);
    CompletableFuture<FlightResult<String>> async = startAsync(key, new CompletableFuture<>());
    awaitWaiting(1);
    solo.close();
    solo.close();
    for (var call : List.of(leader, waiting, async)) {
      assertThat(failureOf(call))
          .isInstanceOf(FlightCancelledException.class)
          .hasMessageContaining("closed");
    }
    assertThatThrownBy(() -> solo.execute(key, String.class, c -> "late"))
        .isInstanceOf(FlightCancelledException.class);
  }

  @ParameterizedTest
  @EnumSource(FlightMode.class)
  void a_task_sees_its_flight(FlightMode mode) {
    open(mode);
    FlightKey key = FlightKey.of("s", mode.name(), 18);
    AtomicReference<FlightContext> seen = new AtomicReference<>();
    FlightResult<String> result =
        solo.call(
            key,
            String.class,
            c -> {
              seen.set(c);
              assertThat(c.isOwner()).isTrue();
              return c.idempotencyKey();
            });
    assertThat(seen.get().key()).isEqualTo(key);
    assertThat(seen.get().attempt()).isEqualTo(1);
    assertThat(seen.get().ownerToken()).isEqualTo(result.ownerToken()).isPositive();
    assertThat(seen.get().idempotencyKey()).isEqualTo(result.value()).isNotBlank();
  }

  @ParameterizedTest
  @EnumSource(FlightMode.class)
  void a_saturated_user_pool_does_not_stop_the_blocking_form(FlightMode mode) throws Exception {
    ThreadPoolExecutor one =
        new ThreadPoolExecutor(
            1, 1, 1, TimeUnit.SECONDS, new java.util.concurrent.LinkedBlockingQueue<>());
    try {
      solo = builder(mode).asyncExecutor(one).build();
      one.execute(
          () -> {
            try {
              gate.await();
            } catch (InterruptedException e) {
              Thread.currentThread().interrupt();
            }
          });
      FlightKey key = FlightKey.of("s", mode.name(), 19);
      assertThat(
              inThread(() -> solo.execute(key, String.class, c -> "v")).get(10, TimeUnit.SECONDS))
          .isEqualTo("v");
    } finally {
      one.shutdownNow();
    }
  }

  @ParameterizedTest
  @EnumSource(FlightMode.class)
  void dependents_and_cancelled_dependents_do_not_disturb_the_flight(FlightMode mode)
      throws Exception {
    open(mode);
    FlightKey key = FlightKey.of("s", mode.name(), 20);
    CompletableFuture<String> provider = new CompletableFuture<>();
    CompletableFuture<FlightResult<String>> call = startAsync(key, provider);
    CompletableFuture<String> dependent = call.thenApply(FlightResult::value);
    dependent.cancel(true);
    provider.complete("kept");
    assertThat(call.get(10, TimeUnit.SECONDS).value()).isEqualTo("kept");
    assertThatThrownBy(dependent::join)
        .isInstanceOfAny(CancellationException.class, CompletionException.class);
  }

  /** So many blocking callers wait inside the library. */
  private void awaitWaiting(int callers) {
    await()
        .atMost(SOON)
        .until(
            () ->
                Thread.getAllStackTraces().values().stream()
                        .filter(
                            stack ->
                                java.util.Arrays.stream(stack)
                                    .anyMatch(
                                        f ->
                                            f.getClassName().endsWith("BlockingCaller")
                                                && f.getMethodName().equals("await")))
                        .count()
                    >= callers);
  }
}
