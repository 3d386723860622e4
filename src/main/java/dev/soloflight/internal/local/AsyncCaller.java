package dev.soloflight.internal.local;

import dev.soloflight.AsyncFlightTask;
import dev.soloflight.FlightCancelledException;
import dev.soloflight.FlightResult;
import dev.soloflight.Source;
import dev.soloflight.internal.coordinator.Ownership;
import dev.soloflight.internal.coordinator.Ticket;
import dev.soloflight.internal.guard.GuardedCall;
import dev.soloflight.internal.time.Timers.Alarm;
import java.time.Duration;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.RejectedExecutionException;
import org.jspecify.annotations.Nullable;

/**
 * A caller that holds no thread: it is the future that the user has. Whatever ends that future from
 * outside (cancel, orTimeout) makes the caller go.
 */
final class AsyncCaller<T> extends CompletableFuture<FlightResult<T>> implements Caller {
  private final LocalFlights flights;
  private final Asked asked;
  private final AsyncFlightTask<T> task;
  private final long startedNanos;
  private volatile @Nullable LocalFlight flight;
  private volatile @Nullable Alarm deadline;
  private boolean gone;

  AsyncCaller(LocalFlights flights, Asked asked, AsyncFlightTask<T> task, long startedNanos) {
    this.flights = flights;
    this.asked = asked;
    this.task = task;
    this.startedNanos = startedNanos;
  }

  @Override
  public Asked asked() {
    return asked;
  }

  @Override
  public boolean gone() {
    return gone;
  }

  @Override
  public void markGone() {
    gone = true;
  }

  /**
   * It waits in this flight; from now on its deadline counts. The flight may have ended meanwhile,
   * and this caller with it: then it was counted, and only its traces are left to be removed.
   */
  void joined(LocalFlight joined) {
    flight = joined;
    if (!isDone()) {
      deadline =
          flights
              .timers()
              .after(asked.deadlineNanos() - flights.timers().nanoTime(), this::deadlinePassed);
    }
    if (isDone()) {
      cancelDeadline();
      Chain.waitOver(asked.chain(), joined);
    }
  }

  private void cancelDeadline() {
    Alarm pending = deadline;
    if (pending != null) {
      deadline = null;
      pending.cancel();
    }
  }

  private void deadlinePassed() {
    LocalFlight waitedFor = flight;
    if (waitedFor == null || isDone()) {
      return;
    }
    waitedFor.overdue();
    if (waitedFor.leave(this) == LocalFlight.Leave.BUSY) {
      return;
    }
    Chain.waitOver(asked.chain(), waitedFor);
    if (flights.executesOnTimeout(waitedFor.stage())) {
      flights.onExecutor(() -> runPrivately(waitedFor.stage()));
    } else {
      fail(flights.timedOut(waitedFor), null);
    }
  }

  private void runPrivately(Stage stage) {
    Ownership ownership = flights.unowned();
    GuardedCall call = flights.guards().newCall(key(), stage.policy());
    long beganNanos = flights.timers().nanoTime();
    TaskContext context = new TaskContext(key(), ownership, flights.executor());
    call.<T>start(() -> task.start(context))
        .whenComplete(
            (value, e) -> {
              stage.metrics().executed(flights.timers().nanoTime() - beganNanos, e == null);
              if (e == null) {
                succeed(value, Source.EXECUTED, 0);
              } else {
                fail(Serving.taskFailure(e), Source.EXECUTED);
              }
            });
  }

  @Override
  public void lead(LocalFlight led, Ticket ticket) {
    onExecutor(led, ticket, () -> serve(led, ticket));
  }

  /** Takes the next step towards the task; one that the executor refuses is another caller's. */
  private void onExecutor(LocalFlight led, Ticket ticket, Runnable step) {
    try {
      flights
          .executor()
          .execute(
              () -> {
                try {
                  step.run();
                } catch (Throwable e) {
                  led.handOver(this, ticket, "its caller failed");
                  fail(e, null);
                }
              });
    } catch (RejectedExecutionException e) {
      led.handOver(this, ticket, "its caller's executor refused it");
      fail(
          new FlightCancelledException(
              "flight " + key() + ": the async executor refused to run it; give it room", e),
          null);
    }
  }

  private void serve(LocalFlight led, Ticket ticket) {
    Serving serving = new Serving(flights, led, this);
    if (!(ticket instanceof Ticket.Own own)) {
      told(serving.replay(ticket));
      return;
    }
    Ownership ownership = own.ownership();
    ownership
        .confirm()
        .whenComplete(
            (confirmed, e) ->
                onExecutor(
                    led,
                    ticket,
                    () -> {
                      if (e != null) {
                        told(serving.unreachable(Serving.unwrap(e)));
                      } else if (!confirmed) {
                        told(serving.again(0));
                      } else {
                        start(serving, led, ownership);
                      }
                    }));
  }

  private void start(Serving serving, LocalFlight led, Ownership ownership) {
    GuardedCall call = serving.begin(ownership);
    if (call == null) {
      ownership.release("nobody waits for it any more");
      told(new Flown(new Outcome.Broken(serving.gone()), Source.EXECUTED));
      return;
    }
    TaskContext context = serving.context(ownership);
    long beganNanos = flights.timers().nanoTime();
    @Nullable Chain outer = flights.enter(led);
    CompletableFuture<T> running;
    try {
      running = call.start(() -> task.start(context));
    } finally {
      flights.leave(outer);
    }
    running.whenComplete(
        (value, e) ->
            flights.onExecutor(
                () -> {
                  Throwable thrown = e == null ? null : Serving.taskFailure(e);
                  led.stage()
                      .metrics()
                      .executed(flights.timers().nanoTime() - beganNanos, thrown == null);
                  if (thrown instanceof CancellationException cancelled && call.cancelled()) {
                    told(serving.cancelled(ownership, cancelled));
                    return;
                  }
                  Outcome own = serving.outcomeOf(ownership, value, thrown);
                  serving
                      .settle(call, ownership, own)
                      .whenComplete(
                          (settlement, ignored) ->
                              flights.onExecutor(
                                  () -> told(serving.settled(ownership, own, settlement))));
                }));
  }

  private void told(Flown flown) {
    if (flown.outcome() != null) {
      conclude(flown.outcome(), flown.source());
    }
  }

  @Override
  public void deliver(Outcome outcome, Source source) {
    flights.onExecutor(() -> conclude(outcome, source));
  }

  @SuppressWarnings("unchecked") // the flight's type is this caller's type
  private void conclude(Outcome outcome, Source source) {
    if (outcome instanceof Outcome.Value value) {
      succeed((T) value.value(), source, value.ownerToken());
    } else if (outcome instanceof Outcome.Failed failed) {
      boolean mine = source == Source.EXECUTED || source == Source.DEGRADED;
      fail(flights.failure(key(), failed, mine), source);
    } else {
      fail(((Outcome.Broken) outcome).reason(), null);
    }
  }

  private void succeed(@Nullable T value, Source source, long ownerToken) {
    long elapsedNanos = flights.timers().nanoTime() - startedNanos;
    if (super.complete(
        new FlightResult<>(value, source, ownerToken, Duration.ofNanos(elapsedNanos)))) {
      concluded(source, true, elapsedNanos);
    }
  }

  private void fail(Throwable failure, @Nullable Source source) {
    if (super.completeExceptionally(failure)) {
      concluded(source, false, flights.timers().nanoTime() - startedNanos);
    }
  }

  private void concluded(@Nullable Source source, boolean success, long elapsedNanos) {
    cancelDeadline();
    LocalFlight ended = flight;
    if (ended != null) {
      Chain.waitOver(asked.chain(), ended);
    }
    flights.count(key(), source, success, elapsedNanos);
  }

  private void goneByItself() {
    cancelDeadline();
    LocalFlight left = flight;
    if (left != null) {
      Chain.waitOver(asked.chain(), left);
      if (left.leave(this) == LocalFlight.Leave.BUSY) {
        left.leaderLeaves(this);
      }
    }
    flights.count(key(), null, false, flights.timers().nanoTime() - startedNanos);
  }

  @Override
  public boolean cancel(boolean mayInterruptIfRunning) {
    boolean cancelled = super.cancel(mayInterruptIfRunning);
    if (cancelled) {
      goneByItself();
    }
    return cancelled;
  }

  @Override
  public boolean completeExceptionally(Throwable ex) {
    boolean completed = super.completeExceptionally(ex);
    if (completed) {
      goneByItself();
    }
    return completed;
  }

  @Override
  public boolean complete(FlightResult<T> value) {
    boolean completed = super.complete(value);
    if (completed) {
      goneByItself();
    }
    return completed;
  }

  /** Dependents are plain futures: cancelling one of them is not this caller's going. */
  @Override
  public <U> CompletableFuture<U> newIncompleteFuture() {
    return new CompletableFuture<>();
  }
}
