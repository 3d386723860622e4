package dev.soloflight.internal.guard;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;

import dev.soloflight.FlightFailedException;
import dev.soloflight.FlightKey;
import dev.soloflight.internal.policy.ConfigLoader;
import dev.soloflight.internal.policy.ConfigSource;
import dev.soloflight.internal.policy.StagePolicy;
import dev.soloflight.internal.time.SystemTimers;
import dev.soloflight.support.VirtualTimers;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.Size;
import net.jqwik.api.lifecycle.AfterProperty;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** One execution within its stage's limits, on a clock turned by hand. */
class GuardedCallTest {
  private static final Duration TIMEOUT = Duration.ofSeconds(5);
  private static final FlightKey KEY = FlightKey.of("s", "guarded");

  private final VirtualTimers timers = new VirtualTimers();
  private final ExecutorService pool = Executors.newCachedThreadPool();
  private Guards guards = new Guards(timers);
  private StagePolicy policy = policy(Map.of());

  @AfterEach
  @AfterProperty
  void stop() {
    pool.shutdownNow();
    assertThat(Thread.interrupted()).as("this thread was left interrupted").isFalse();
  }

  private static StagePolicy policy(Map<String, String> guard) {
    Map<String, String> settings = new HashMap<>();
    guard.forEach((name, value) -> settings.put("stages.s.guard." + name, value));
    return ConfigLoader.load(ConfigSource.builtIn().withOverrides(settings)).config().stage("s");
  }

  private void limit(String... namesAndValues) {
    Map<String, String> guard = new HashMap<>();
    for (int i = 0; i < namesAndValues.length; i += 2) {
      guard.put(namesAndValues[i], namesAndValues[i + 1]);
    }
    policy = policy(guard);
    guards = new Guards(timers);
  }

  private GuardedCall call() {
    return guards.newCall(KEY, policy);
  }

  private static void assertRefused(Throwable refusal, String code, String setting) {
    assertThat(refusal)
        .isInstanceOfSatisfying(
            FlightFailedException.class,
            e -> {
              assertThat(e.errorCode()).isEqualTo(code);
              assertThat(e.retryable()).isTrue();
              assertThat(e.errorType()).isEqualTo(FlightFailedException.class.getName());
              assertThat(e.errorMessage()).isEqualTo(e.getMessage());
            })
        .hasMessageContainingAll(KEY.toString(), "stages.s.guard." + setting, "tried again");
  }

  /** Refused in both forms, and the task does not run. */
  private void assertRefuses(String code, String setting) {
    AtomicInteger runs = new AtomicInteger();
    assertRefused(catchThrowable(() -> call().run(runs::incrementAndGet)), code, setting);
    CompletableFuture<Integer> async =
        call().start(() -> CompletableFuture.completedFuture(runs.incrementAndGet()));
    assertRefused(failureOf(async), code, setting);
    assertThat(runs).as("a refused task ran").hasValue(0);
  }

  private static Throwable failureOf(CompletableFuture<?> future) {
    assertThat(future).isCompletedExceptionally();
    return future.<Throwable>handle((value, e) -> e).join();
  }

  private void succeed() throws Exception {
    assertThat(call().run(() -> "v")).isEqualTo("v");
  }

  private void fail() {
    assertThatThrownBy(
            () ->
                call()
                    .run(
                        () -> {
                          throw new IOException("task");
                        }))
        .isExactlyInstanceOf(IOException.class)
        .hasMessage("task");
  }

  /** A task that runs until the gate opens, on a thread of its own. */
  private CompletableFuture<String> running(CountDownLatch gate) throws Exception {
    CountDownLatch began = new CountDownLatch(1);
    CompletableFuture<String> result = new CompletableFuture<>();
    GuardedCall call = call();
    pool.execute(
        () -> {
          try {
            result.complete(
                call.run(
                    () -> {
                      began.countDown();
                      gate.await();
                      return "late";
                    }));
          } catch (Throwable e) {
            result.completeExceptionally(e);
          }
        });
    began.await();
    return result;
  }

  // Timeout

  @Test
  void a_timeout_interrupts_the_task_and_leaves_no_interrupt_behind() throws Exception {
    limit("timeout", "5s");
    AtomicReference<Throwable> inTask = new AtomicReference<>();
    AtomicReference<Throwable> thrown = new AtomicReference<>();
    AtomicBoolean left = new AtomicBoolean();
    CountDownLatch began = new CountDownLatch(1);
    Thread caller =
        new Thread(
            () -> {
              thrown.set(
                  catchThrowable(
                      () ->
                          call()
                              .run(
                                  () -> {
                                    began.countDown();
                                    try {
                                      return new CountDownLatch(1).await(1, TimeUnit.HOURS);
                                    } catch (InterruptedException e) {
                                      inTask.set(e);
                                      throw e;
                                    }
                                  })));
              left.set(Thread.currentThread().isInterrupted());
            });
    caller.start();
    began.await();
    timers.advance(TIMEOUT.minusNanos(1));
    assertThat(inTask).as("before its time").hasNullValue();
    timers.advance(Duration.ofNanos(1));
    caller.join();

    assertThat(inTask.get()).isInstanceOf(InterruptedException.class);
    assertRefused(thrown.get(), "GUARD_TIMEOUT", "timeout");
    assertThat(thrown.get()).hasMessageContaining("5000 ms").hasCause(inTask.get());
    assertThat(left).isFalse();
    assertThat(timers.pending()).isZero();
  }

  @Test
  void a_task_that_ends_in_time_is_not_interrupted_and_leaves_no_alarm() throws Exception {
    limit("timeout", "5s");
    assertThat(
            call()
                .<String>run(
                    () -> {
                      timers.advance(TIMEOUT.minusNanos(1));
                      return Thread.currentThread().isInterrupted() ? "interrupted" : "v";
                    }))
        .isEqualTo("v");
    assertThat(timers.pending()).isZero();
    fail();
    assertThat(timers.pending()).isZero();
    call().start(() -> CompletableFuture.completedFuture("v")).join();
    assertThat(timers.pending()).isZero();
    timers.advance(TIMEOUT.multipliedBy(2));
  }

  @Test
  void a_value_that_comes_after_the_timeout_has_been_paid_for_and_is_returned() throws Exception {
    limit("timeout", "5s");
    assertThat(
            call()
                .<String>run(
                    () -> {
                      timers.advance(TIMEOUT);
                      return "late";
                    }))
        .isEqualTo("late");
    assertThat(Thread.currentThread().isInterrupted()).isFalse();
  }

  @Test
  void a_failure_that_the_timeout_caused_is_a_timeout_whatever_the_task_made_of_it() {
    limit("timeout", "5s");
    IllegalStateException own = new IllegalStateException("interrupted somewhere inside");
    Throwable thrown =
        catchThrowable(
            () ->
                call()
                    .run(
                        () -> {
                          timers.advance(TIMEOUT);
                          throw own;
                        }));
    assertRefused(thrown, "GUARD_TIMEOUT", "timeout");
    assertThat(thrown).hasCause(own);
    assertThat(Thread.currentThread().isInterrupted()).isFalse();
  }

  @Test
  void a_timeout_cancels_the_asynchronous_task() {
    limit("timeout", "5s");
    CompletableFuture<String> provider = new CompletableFuture<>();
    CompletableFuture<String> result = call().start(() -> provider);
    timers.advance(TIMEOUT.minusNanos(1));
    assertThat(result).isNotDone();
    timers.advance(Duration.ofNanos(1));
    assertThat(provider).isCancelled();
    assertRefused(failureOf(result), "GUARD_TIMEOUT", "timeout");
  }

  @Test
  void a_timeout_ends_the_call_of_a_stage_that_does_not_heed_its_cancellation() {
    limit("timeout", "5s", "max-concurrent", "1");
    CompletableFuture<String> provider = new CompletableFuture<>();
    CompletableFuture<String> result = call().start(provider::minimalCompletionStage);
    timers.advance(TIMEOUT);

    assertThat(provider).isNotDone();
    assertRefused(failureOf(result), "GUARD_TIMEOUT", "timeout");
    assertThat(call().start(() -> CompletableFuture.completedFuture("next")))
        .as("a stage that never ends keeps no permit")
        .isCompletedWithValue("next");
    provider.complete("much too late");
    CompletableFuture<String> again = call().start(CompletableFuture::new);
    assertThat(again).as("given back once, not twice").isNotDone();
    assertRefuses("GUARD_BULKHEAD_FULL", "max-concurrent");
  }

  // Cancel, interrupt

  @Test
  void cancel_interrupts_the_task_and_leaves_no_interrupt_behind() {
    GuardedCall call = call();
    assertThatThrownBy(
            () ->
                call.run(
                    () -> {
                      call.cancel();
                      return new CountDownLatch(1).await(1, TimeUnit.HOURS);
                    }))
        .isInstanceOf(CancellationException.class)
        .hasMessageContaining(KEY.toString())
        .hasCauseInstanceOf(InterruptedException.class);
    assertThat(Thread.currentThread().isInterrupted()).isFalse();
    assertThat(call.cancelled()).isTrue();
  }

  @Test
  void a_call_cancelled_before_it_began_does_not_run() {
    GuardedCall blocking = call();
    blocking.cancel();
    AtomicInteger runs = new AtomicInteger();
    assertThatThrownBy(() -> blocking.run(runs::incrementAndGet))
        .isInstanceOf(CancellationException.class);
    GuardedCall async = call();
    async.cancel();
    assertThat(
            failureOf(async.start(() -> CompletableFuture.completedFuture(runs.incrementAndGet()))))
        .isInstanceOf(CancellationException.class);
    assertThat(runs).hasValue(0);
  }

  @Test
  void cancel_while_the_asynchronous_task_is_being_started_cancels_it() {
    GuardedCall call = call();
    CompletableFuture<String> provider = new CompletableFuture<>();
    CompletableFuture<String> result =
        call.start(
            () -> {
              call.cancel();
              return provider;
            });
    assertThat(provider).isCancelled();
    assertThat(failureOf(result)).isInstanceOf(CancellationException.class);
  }

  @Test
  void cancel_after_the_end_changes_nothing() throws Exception {
    GuardedCall call = call();
    assertThat(call.<String>run(() -> "v")).isEqualTo("v");
    call.cancel();
    assertThat(call.cancelled()).isFalse();
    assertThat(Thread.currentThread().isInterrupted()).isFalse();
  }

  @Test
  void somebody_elses_interrupt_is_not_swallowed() throws Exception {
    limit("timeout", "5s");
    assertThat(
            call()
                .<String>run(
                    () -> {
                      Thread.currentThread().interrupt();
                      return "v";
                    }))
        .isEqualTo("v");
    assertThat(Thread.interrupted()).isTrue();
    assertThatThrownBy(
            () ->
                call()
                    .run(
                        () -> {
                          throw new InterruptedException("the caller's own");
                        }))
        .isExactlyInstanceOf(InterruptedException.class)
        .hasMessage("the caller's own");
  }

  @Test
  void no_interrupt_of_ours_outlives_the_call_however_close_the_race() throws Exception {
    SynchronousQueue<GuardedCall> racing = new SynchronousQueue<>();
    SynchronousQueue<Boolean> over = new SynchronousQueue<>();
    pool.execute(
        () -> {
          try {
            while (true) {
              racing.take().cancel();
              over.put(true);
            }
          } catch (InterruptedException e) {
            // The test is over.
          }
        });
    int returned = 0;
    for (int i = 0; i < 3_000; i++) {
      int spins = i % 300;
      GuardedCall call = call();
      racing.put(call);
      try {
        call.run(
            () -> {
              int x = 0;
              for (int s = 0; s < spins; s++) {
                x += s;
                Thread.onSpinWait();
              }
              return x;
            });
        returned++;
      } catch (CancellationException e) {
        // Cancelled before it began.
      }
      assertThat(Thread.interrupted()).as("right after call %s", i).isFalse();
      over.take();
      assertThat(Thread.interrupted()).as("when the other side of call %s is over", i).isFalse();
    }
    assertThat(returned).as("the race was one").isPositive();
  }

  @Test
  void no_interrupt_of_a_real_timeout_outlives_the_call() throws Exception {
    policy = policy(Map.of("timeout", "1ms"));
    int timedOut = 0;
    try (SystemTimers real = new SystemTimers("guard-test-timer")) {
      Guards ofRealTime = new Guards(real);
      for (int i = 0; i < 300; i++) {
        long spinNanos = 900_000 + (i % 20) * 10_000L;
        AtomicBoolean interrupted = new AtomicBoolean();
        ofRealTime
            .newCall(KEY, policy)
            .run(
                () -> {
                  long until = System.nanoTime() + spinNanos;
                  while (System.nanoTime() - until < 0) {
                    Thread.onSpinWait();
                  }
                  interrupted.set(Thread.currentThread().isInterrupted());
                  return "v";
                });
        timedOut += interrupted.get() ? 1 : 0;
        assertThat(Thread.interrupted()).as("after call %s", i).isFalse();
      }
      // Whatever rang late rings before this.
      CountDownLatch rung = new CountDownLatch(1);
      real.after(0, rung::countDown);
      rung.await();
    }
    assertThat(timedOut).as("some timeouts passed before the task's end").isPositive();
  }

  // Permits

  enum Ending {
    VALUE,
    NULL,
    EXCEPTION,
    ERROR,
    TIMEOUT,
    TIMEOUT_IGNORED,
    CANCELLED_BEFORE,
    CANCELLED,
    INTERRUPTED,
    ASYNC_VALUE,
    ASYNC_NULL,
    ASYNC_FAILURE,
    ASYNC_ERROR,
    ASYNC_TIMEOUT,
    ASYNC_TIMEOUT_IGNORED,
    ASYNC_CANCELLED,
    ASYNC_CANCELLED_BEFORE,
    ASYNC_NOT_STARTED,
    ASYNC_NOT_STARTED_ERROR,
    ASYNC_NO_STAGE
  }

  private void endBy(Ending ending) throws Exception {
    GuardedCall call = call();
    switch (ending) {
      case VALUE -> assertThat(call.<String>run(() -> "v")).isEqualTo("v");
      case NULL -> assertThat(call.<String>run(() -> null)).isNull();
      case EXCEPTION -> fail();
      case ERROR ->
          assertThatThrownBy(
                  () ->
                      call.run(
                          () -> {
                            throw new StackOverflowError();
                          }))
              .isExactlyInstanceOf(StackOverflowError.class);
      case TIMEOUT ->
          assertThatThrownBy(
                  () ->
                      call.run(
                          () -> {
                            timers.advance(TIMEOUT);
                            return new CountDownLatch(1).await(1, TimeUnit.HOURS);
                          }))
              .isInstanceOf(FlightFailedException.class);
      case TIMEOUT_IGNORED ->
          assertThat(
                  call.<String>run(
                      () -> {
                        timers.advance(TIMEOUT);
                        return "late";
                      }))
              .isEqualTo("late");
      case CANCELLED_BEFORE -> {
        call.cancel();
        assertThatThrownBy(() -> call.run(() -> "v")).isInstanceOf(CancellationException.class);
      }
      case CANCELLED ->
          assertThatThrownBy(
                  () ->
                      call.run(
                          () -> {
                            call.cancel();
                            return new CountDownLatch(1).await(1, TimeUnit.HOURS);
                          }))
              .isInstanceOf(CancellationException.class);
      case INTERRUPTED ->
          assertThatThrownBy(
                  () ->
                      call.run(
                          () -> {
                            throw new InterruptedException();
                          }))
              .isInstanceOf(InterruptedException.class);
      case ASYNC_VALUE ->
          assertThat(call.start(() -> CompletableFuture.completedFuture("v")))
              .isCompletedWithValue("v");
      case ASYNC_NULL ->
          assertThat(call.start(() -> CompletableFuture.completedFuture(null)))
              .isCompletedWithValue(null);
      case ASYNC_FAILURE -> {
        CompletableFuture<String> provider = new CompletableFuture<>();
        CompletableFuture<String> result = call.start(() -> provider.thenApply(v -> v));
        provider.completeExceptionally(new IOException("task"));
        assertThat(failureOf(result)).isExactlyInstanceOf(IOException.class);
      }
      case ASYNC_ERROR ->
          assertThat(
                  failureOf(
                      call.start(() -> CompletableFuture.failedFuture(new AssertionError("task")))))
              .isExactlyInstanceOf(AssertionError.class);
      case ASYNC_TIMEOUT, ASYNC_TIMEOUT_IGNORED -> {
        CompletableFuture<String> provider = new CompletableFuture<>();
        CompletionStage<String> stage =
            ending == Ending.ASYNC_TIMEOUT ? provider : provider.minimalCompletionStage();
        CompletableFuture<String> result = call.start(() -> stage);
        timers.advance(TIMEOUT);
        assertThat(failureOf(result)).isInstanceOf(FlightFailedException.class);
        provider.complete("late");
      }
      case ASYNC_CANCELLED -> {
        CompletableFuture<String> provider = new CompletableFuture<>();
        CompletableFuture<String> result = call.start(() -> provider);
        call.cancel();
        assertThat(provider).isCancelled();
        assertThat(failureOf(result)).isInstanceOf(CancellationException.class);
      }
      case ASYNC_CANCELLED_BEFORE -> {
        call.cancel();
        assertThat(failureOf(call.start(CompletableFuture::new)))
            .isInstanceOf(CancellationException.class);
      }
      case ASYNC_NOT_STARTED ->
          assertThat(
                  failureOf(
                      call.start(
                          () -> {
                            throw new IOException("no connection");
                          })))
              .isExactlyInstanceOf(IOException.class);
      case ASYNC_NOT_STARTED_ERROR -> {
        CompletableFuture<String> result =
            call.start(
                () -> {
                  throw new NoClassDefFoundError("task");
                });
        assertThat(failureOf(result)).isExactlyInstanceOf(NoClassDefFoundError.class);
      }
      case ASYNC_NO_STAGE ->
          assertThat(failureOf(call.start(() -> null)))
              .isInstanceOf(NullPointerException.class)
              .hasMessageContaining(KEY.toString());
    }
  }

  private void assertPermitsLeft(int permits) throws Exception {
    List<CompletableFuture<String>> providers = new ArrayList<>();
    for (int i = 0; i < permits; i++) {
      CompletableFuture<String> provider = new CompletableFuture<>();
      providers.add(provider);
      assertThat(call().start(() -> provider)).as("permit %s", i + 1).isNotDone();
    }
    assertRefuses("GUARD_BULKHEAD_FULL", "max-concurrent");
    providers.forEach(provider -> provider.complete("v"));
  }

  @ParameterizedTest
  @EnumSource
  void permits_are_given_back_exactly_once_however_the_call_ends(Ending ending) throws Exception {
    limit("timeout", "5s", "max-concurrent", "2");
    for (int i = 0; i < 50; i++) {
      endBy(ending);
    }
    assertPermitsLeft(2);
    assertThat(timers.pending()).as("alarms left").isZero();
  }

  @Property(tries = 200)
  void permits_are_given_back_exactly_once_whatever_the_sequence(
      @ForAll @Size(min = 1, max = 30) List<Ending> endings) throws Exception {
    limit("timeout", "5s", "max-concurrent", "3");
    for (Ending ending : endings) {
      endBy(ending);
    }
    assertPermitsLeft(3);
    assertThat(Thread.interrupted()).isFalse();
  }

  @Test
  void more_than_max_concurrent_are_refused_while_they_run_and_let_in_after() throws Exception {
    limit("max-concurrent", "2");
    CountDownLatch gate = new CountDownLatch(1);
    var one = running(gate);
    var two = running(gate);
    for (int i = 0; i < 20; i++) {
      assertRefuses("GUARD_BULKHEAD_FULL", "max-concurrent (2)");
    }
    gate.countDown();
    assertThat(one.get(10, TimeUnit.SECONDS)).isEqualTo("late");
    assertThat(two.get(10, TimeUnit.SECONDS)).isEqualTo("late");
    assertPermitsLeft(2);
  }

  // Breaker

  private void breaker() {
    limit(
        "breaker.failure-rate",
        "50",
        "breaker.window",
        "4",
        "breaker.open-for",
        "10s",
        "timeout",
        "5s",
        "max-concurrent",
        "5");
  }

  private void open() {
    breaker();
    for (int i = 0; i < 4; i++) {
      fail();
    }
    assertRefuses("GUARD_BREAKER_OPEN", "breaker");
  }

  @Test
  void the_breaker_opens_when_the_share_of_failures_is_reached_and_not_before() throws Exception {
    breaker();
    fail();
    fail();
    fail();
    succeed();
    assertRefuses("GUARD_BREAKER_OPEN", "breaker");
    breaker();
    fail();
    for (int i = 0; i < 10; i++) {
      succeed();
      succeed();
      succeed();
      fail();
    }
    succeed();
  }

  @ParameterizedTest
  @EnumSource(
      names = {
        "EXCEPTION",
        "ERROR",
        "TIMEOUT",
        "ASYNC_FAILURE",
        "ASYNC_ERROR",
        "ASYNC_TIMEOUT",
        "ASYNC_TIMEOUT_IGNORED",
        "ASYNC_NOT_STARTED",
        "ASYNC_NOT_STARTED_ERROR"
      })
  void failures_and_timeouts_of_the_task_open_the_breaker(Ending ending) throws Exception {
    limit(
        "breaker.failure-rate",
        "100",
        "breaker.window",
        "3",
        "breaker.open-for",
        "1h",
        "timeout",
        "5s");
    endBy(ending);
    endBy(ending);
    endBy(ending);
    assertRefuses("GUARD_BREAKER_OPEN", "breaker");
  }

  @ParameterizedTest
  @EnumSource(
      names = {
        "VALUE",
        "NULL",
        "TIMEOUT_IGNORED",
        "CANCELLED_BEFORE",
        "CANCELLED",
        "INTERRUPTED",
        "ASYNC_VALUE",
        "ASYNC_NULL",
        "ASYNC_CANCELLED",
        "ASYNC_CANCELLED_BEFORE"
      })
  void what_says_nothing_against_the_service_does_not_open_the_breaker(Ending ending)
      throws Exception {
    limit(
        "breaker.failure-rate",
        "1",
        "breaker.window",
        "3",
        "breaker.open-for",
        "1h",
        "timeout",
        "5s");
    for (int i = 0; i < 20; i++) {
      endBy(ending);
    }
    succeed();
  }

  @Test
  void refusals_of_other_limits_do_not_count_as_failures() throws Exception {
    limit(
        "breaker.failure-rate",
        "1",
        "breaker.window",
        "2",
        "breaker.open-for",
        "1h",
        "max-concurrent",
        "1");
    CompletableFuture<String> provider = new CompletableFuture<>();
    call().start(() -> provider);
    for (int i = 0; i < 20; i++) {
      assertRefuses("GUARD_BULKHEAD_FULL", "max-concurrent");
    }
    provider.complete("v");
    for (int i = 0; i < 5; i++) {
      succeed();
    }
  }

  @Test
  void an_open_breaker_lets_one_trial_through_after_open_for_and_closes_on_its_success()
      throws Exception {
    open();
    timers.advance(Duration.ofSeconds(10).minusMillis(1));
    assertRefuses("GUARD_BREAKER_OPEN", "breaker");
    timers.advance(Duration.ofMillis(2));
    CompletableFuture<String> trial = new CompletableFuture<>();
    CompletableFuture<String> result = call().start(() -> trial);
    assertThat(result).as("the trial").isNotDone();
    assertRefuses("GUARD_BREAKER_OPEN", "breaker");
    trial.complete("v");
    assertThat(result).isCompletedWithValue("v");
    for (int i = 0; i < 10; i++) {
      succeed();
    }
  }

  @Test
  void a_trial_that_fails_opens_the_breaker_again_for_as_long() throws Exception {
    open();
    for (int i = 0; i < 3; i++) {
      timers.advance(Duration.ofSeconds(10).plusMillis(1));
      fail();
      assertRefuses("GUARD_BREAKER_OPEN", "breaker");
      timers.advance(Duration.ofSeconds(9));
      assertRefuses("GUARD_BREAKER_OPEN", "breaker");
    }
    timers.advance(Duration.ofSeconds(2));
    succeed();
    succeed();
  }

  @ParameterizedTest
  @EnumSource(
      names = {
        "CANCELLED",
        "CANCELLED_BEFORE",
        "INTERRUPTED",
        "ASYNC_CANCELLED",
        "ASYNC_CANCELLED_BEFORE"
      })
  void a_trial_that_says_nothing_leaves_room_for_the_next_one(Ending ending) throws Exception {
    open();
    timers.advance(Duration.ofSeconds(10).plusMillis(1));
    for (int i = 0; i < 5; i++) {
      endBy(ending);
    }
    succeed();
    succeed();
  }

  @Test
  void a_trial_whose_stage_never_ends_does_not_keep_the_breaker_from_trying_again()
      throws Exception {
    open();
    timers.advance(Duration.ofSeconds(10).plusMillis(1));
    CompletableFuture<String> trial =
        call().start(new CompletableFuture<String>()::minimalCompletionStage);
    timers.advance(TIMEOUT);
    assertRefused(failureOf(trial), "GUARD_TIMEOUT", "timeout");
    assertRefuses("GUARD_BREAKER_OPEN", "breaker");
    timers.advance(Duration.ofSeconds(10).plusMillis(1));
    succeed();
  }

  @Test
  void a_trial_refused_by_another_limit_leaves_room_for_the_next_one() throws Exception {
    limit(
        "breaker.failure-rate",
        "50",
        "breaker.window",
        "2",
        "breaker.open-for",
        "10s",
        "max-concurrent",
        "1");
    CompletableFuture<String> provider = new CompletableFuture<>();
    CompletableFuture<String> busy = new CompletableFuture<>();
    fail();
    fail();
    assertRefuses("GUARD_BREAKER_OPEN", "breaker");
    timers.advance(Duration.ofSeconds(10).plusMillis(1));
    CompletableFuture<String> trial = call().start(() -> provider);
    assertThat(trial).isNotDone();
    provider.complete("v");
    CompletableFuture<String> running = call().start(() -> busy);
    assertThat(running).isNotDone();
    assertRefuses("GUARD_BULKHEAD_FULL", "max-concurrent");
    busy.complete("v");
    succeed();
  }

  // Rate

  @Test
  void more_than_the_rate_are_refused_and_keep_no_other_permit() throws Exception {
    limit(
        "rate.limit",
        "3",
        "rate.period",
        "1h",
        "max-concurrent",
        "1",
        "breaker.failure-rate",
        "1",
        "breaker.window",
        "2",
        "breaker.open-for",
        "1h");
    succeed();
    succeed();
    succeed();
    for (int i = 0; i < 20; i++) {
      assertRefuses("GUARD_RATE_LIMITED", "rate");
    }
  }

  @Test
  void what_another_limit_refuses_uses_nothing_of_the_rate() throws Exception {
    limit("rate.limit", "2", "rate.period", "1h", "max-concurrent", "1");
    CompletableFuture<String> provider = new CompletableFuture<>();
    call().start(() -> provider);
    for (int i = 0; i < 20; i++) {
      assertRefuses("GUARD_BULKHEAD_FULL", "max-concurrent");
    }
    provider.complete("v");
    succeed();
    assertRefuses("GUARD_RATE_LIMITED", "rate");
  }
}
