package dev.soloflight.internal.guard;

import dev.soloflight.FlightFailedException;
import dev.soloflight.FlightKey;
import dev.soloflight.internal.time.Timers;
import dev.soloflight.internal.time.Timers.Alarm;
import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.Callable;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One execution of a task within its stage's limits. Used once, by {@link #run} or {@link #start};
 * {@link #cancel} may come from any thread at any time.
 *
 * <p>A refusal is a retryable {@link FlightFailedException} with a code of its own. A value that
 * the task returns is never refused, however late it is: it has been paid for.
 */
public final class GuardedCall {
  private static final Logger log = LoggerFactory.getLogger(GuardedCall.class);

  /** Why the task was told to stop. */
  private enum Stop {
    NONE,
    TIMEOUT,
    CANCELLED
  }

  private final FlightKey key;
  private final Guards.Limits limits;
  private final Timers timers;
  private final ReentrantLock lock = new ReentrantLock();
  private Stop stop = Stop.NONE;
  private @Nullable Thread runner;
  private @Nullable CompletionStage<?> stage;
  private boolean interruptSent;
  private boolean ended;

  GuardedCall(FlightKey key, Guards.Limits limits, Timers timers) {
    this.key = key;
    this.limits = limits;
    this.timers = timers;
  }

  /**
   * Runs the task on this thread. An interrupt of ours never outlives this call, and nobody else's
   * is swallowed.
   *
   * @throws FlightFailedException if a limit refuses it, or its timeout passed
   * @throws CancellationException if {@link #cancel} came before it or made it fail
   * @throws Exception what the task threw
   */
  public <T> @Nullable T run(Callable<@Nullable T> task) throws Exception {
    Permits permits = enter();
    @Nullable Alarm alarm = null;
    @Nullable Throwable thrown = null;
    try {
      begin(Thread.currentThread());
      alarm = armTimeout();
      return task.call();
    } catch (Throwable e) {
      thrown = e;
      throw toThrow(e);
    } finally {
      if (alarm != null) {
        alarm.cancel();
      }
      if (end()) {
        // Ours: the task is over and must not leave it behind.
        var unused = Thread.interrupted();
      }
      permits.giveBack(thrown, stopped());
    }
  }

  /**
   * Starts the task and returns; the future ends with it, or at its timeout, whichever is first. It
   * may be completed on the timer's thread.
   */
  public <T> CompletableFuture<T> start(
      Callable<? extends CompletionStage<? extends @Nullable T>> starter) {
    CompletableFuture<T> result = new CompletableFuture<>();
    Permits permits;
    try {
      permits = enter();
    } catch (RuntimeException e) {
      result.completeExceptionally(e);
      return result;
    }
    @Nullable Alarm alarm = null;
    try {
      begin(null);
      CompletionStage<? extends @Nullable T> started =
          Objects.requireNonNull(
              starter.call(), "flight " + key + ": the asynchronous task returned no stage");
      stopAtOnce(started);
      alarm = armTimeout(result);
      @Nullable Alarm armed = alarm;
      started.whenComplete(
          (value, e) -> {
            if (armed != null) {
              armed.cancel();
            }
            end();
            Throwable cause = e == null ? null : unwrapped(e);
            permits.giveBack(cause, stopped());
            if (cause == null) {
              result.complete(value);
            } else {
              result.completeExceptionally(translated(cause));
            }
          });
    } catch (Throwable e) {
      end();
      permits.giveBack(e, stopped());
      result.completeExceptionally(translated(e));
    }
    return result;
  }

  /** Tells the task to stop: interrupts it, or cancels its stage. */
  public void cancel() {
    stop(Stop.CANCELLED);
  }

  /** Whether {@link #cancel} came while the task had not ended. */
  public boolean cancelled() {
    return stopped() == Stop.CANCELLED;
  }

  private Stop stopped() {
    lock.lock();
    try {
      return stop;
    } finally {
      lock.unlock();
    }
  }

  private void begin(@Nullable Thread thread) {
    lock.lock();
    try {
      if (stop != Stop.NONE) {
        throw new CancellationException("flight " + key + ": cancelled before its task ran");
      }
      runner = thread;
    } finally {
      lock.unlock();
    }
  }

  /** True if an interrupt of ours was sent to the runner. */
  private boolean end() {
    lock.lock();
    try {
      ended = true;
      runner = null;
      stage = null;
      return interruptSent;
    } finally {
      lock.unlock();
    }
  }

  private void stop(Stop why) {
    CompletionStage<?> running;
    lock.lock();
    try {
      if (ended || stop != Stop.NONE) {
        return;
      }
      stop = why;
      if (runner != null) {
        interruptSent = true;
        runner.interrupt();
      }
      running = stage;
    } finally {
      lock.unlock();
    }
    cancel(running);
  }

  private void stopAtOnce(CompletionStage<?> started) {
    boolean late;
    lock.lock();
    try {
      stage = started;
      late = stop != Stop.NONE;
    } finally {
      lock.unlock();
    }
    if (late) {
      cancel(started);
    }
  }

  private void cancel(@Nullable CompletionStage<?> running) {
    if (running == null) {
      return;
    }
    try {
      if (running instanceof Future<?> future) {
        future.cancel(true);
      } else {
        running.toCompletableFuture().cancel(true);
      }
    } catch (RuntimeException e) {
      log.warn("flight {}: its task could not be cancelled", key, e);
    }
  }

  private @Nullable Alarm armTimeout() {
    Duration timeout = limits.policy().timeout();
    return timeout == null ? null : timers.after(timeout.toNanos(), () -> stop(Stop.TIMEOUT));
  }

  private @Nullable Alarm armTimeout(CompletableFuture<?> result) {
    Duration timeout = limits.policy().timeout();
    return timeout == null
        ? null
        : timers.after(
            timeout.toNanos(),
            () -> {
              stop(Stop.TIMEOUT);
              // Whether or not the stage heeds its cancellation. A value that was there first
              // stays.
              result.completeExceptionally(timedOut(null));
            });
  }

  private Throwable translated(Throwable e) {
    return switch (stopped()) {
      case NONE -> e;
      case TIMEOUT -> timedOut(e);
      case CANCELLED -> {
        if (e instanceof CancellationException) {
          yield e;
        }
        CancellationException cancelled =
            new CancellationException("flight " + key + ": its task was cancelled");
        cancelled.initCause(e);
        yield cancelled;
      }
    };
  }

  /** For {@code throw}: checked exceptions pass as they are. */
  private Exception toThrow(Throwable e) {
    Throwable translated = translated(e);
    if (translated instanceof Exception exception) {
      return exception;
    }
    throw (Error) translated;
  }

  private static Throwable unwrapped(Throwable e) {
    return e instanceof CompletionException && e.getCause() != null ? e.getCause() : e;
  }

  private FlightFailedException timedOut(@Nullable Throwable cause) {
    return refused(
        "GUARD_TIMEOUT",
        "its task took longer than " + limits.path() + "timeout (" + millis() + " ms)",
        cause);
  }

  private long millis() {
    Duration timeout = limits.policy().timeout();
    return timeout == null ? 0 : timeout.toMillis();
  }

  private FlightFailedException refused(String code, String why, @Nullable Throwable cause) {
    String message = "flight " + key + ": " + why + "; it may be tried again";
    return new FlightFailedException(
        message, FlightFailedException.class.getName(), code, message, true, cause);
  }

  /** Cheapest to give back last: a refusal by a later limit returns what earlier ones gave. */
  private Permits enter() {
    if (limits.breaker() != null && !limits.breaker().tryAcquirePermission()) {
      throw refused(
          "GUARD_BREAKER_OPEN",
          "too many of this stage's calls failed, " + limits.path() + "breaker is open",
          null);
    }
    if (limits.bulkhead() != null && !limits.bulkhead().tryAcquirePermission()) {
      releaseBreaker();
      throw refused(
          "GUARD_BULKHEAD_FULL",
          limits.path() + "max-concurrent (" + limits.policy().maxConcurrent() + ") are running",
          null);
    }
    if (limits.rate() != null && !limits.rate().acquirePermission()) {
      if (limits.bulkhead() != null) {
        limits.bulkhead().releasePermission();
      }
      releaseBreaker();
      throw refused("GUARD_RATE_LIMITED", limits.path() + "rate is used up for this period", null);
    }
    return new Permits(limits, System.nanoTime());
  }

  private void releaseBreaker() {
    if (limits.breaker() != null) {
      limits.breaker().releasePermission();
    }
  }

  private record Permits(Guards.Limits limits, long sinceNanos) {
    void giveBack(@Nullable Throwable thrown, Stop stop) {
      if (limits.bulkhead() != null) {
        limits.bulkhead().onComplete();
      }
      if (limits.breaker() == null) {
        return;
      }
      long tookNanos = System.nanoTime() - sinceNanos;
      if (thrown == null) {
        limits.breaker().onSuccess(tookNanos, TimeUnit.NANOSECONDS);
      } else if (stop == Stop.CANCELLED
          || (thrown instanceof InterruptedException && stop == Stop.NONE)) {
        // Says nothing about the service behind the task.
        limits.breaker().releasePermission();
      } else {
        limits.breaker().onError(tookNanos, TimeUnit.NANOSECONDS, thrown);
      }
    }
  }
}
