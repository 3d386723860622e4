package dev.soloflight.internal.local;

import dev.soloflight.CoordinationException;
import dev.soloflight.FlightTask;
import dev.soloflight.Source;
import dev.soloflight.internal.coordinator.Ownership;
import dev.soloflight.internal.coordinator.Settlement;
import dev.soloflight.internal.coordinator.Ticket;
import dev.soloflight.internal.guard.GuardedCall;
import java.util.concurrent.CancellationException;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/** A caller whose own thread waits, and runs the task when it is its turn to lead. */
final class BlockingCaller implements Caller {
  /** What the thread is woken with. */
  sealed interface Signal {
    /** Lead. */
    record Lead(LocalFlight flight, Ticket ticket) implements Signal {}

    /** The flight has ended. */
    record Ended(Outcome outcome, Source source) implements Signal {}
  }

  private final LocalFlights flights;
  private final Asked asked;
  private final FlightTask<?> task;
  private final Thread thread = Thread.currentThread();
  private final AtomicReference<@Nullable Signal> mailbox = new AtomicReference<>();
  private boolean gone;

  BlockingCaller(LocalFlights flights, Asked asked, FlightTask<?> task) {
    this.flights = flights;
    this.asked = asked;
    this.task = task;
  }

  @Override
  public Asked asked() {
    return asked;
  }

  @Override
  public void lead(LocalFlight flight, Ticket ticket) {
    signal(new Signal.Lead(flight, ticket));
  }

  @Override
  public void deliver(Outcome outcome, Source source) {
    signal(new Signal.Ended(outcome, source));
  }

  @Override
  public boolean gone() {
    return gone;
  }

  @Override
  public void markGone() {
    gone = true;
  }

  private void signal(Signal signal) {
    mailbox.set(signal);
    LockSupport.unpark(thread);
  }

  /** The next signal; null when the deadline has passed. */
  @Nullable Signal await() throws InterruptedException {
    while (true) {
      Signal signal = mailbox.getAndSet(null);
      if (signal != null) {
        return signal;
      }
      if (Thread.interrupted()) {
        throw new InterruptedException();
      }
      long leftNanos = asked.deadlineNanos() - flights.timers().nanoTime();
      if (leftNanos <= 0) {
        return null;
      }
      LockSupport.parkNanos(this, leftNanos);
    }
  }

  /** The next signal, which is sure to come, whatever happens to this thread meanwhile. */
  Signal awaitSure() {
    boolean interrupted = false;
    try {
      while (true) {
        Signal signal = mailbox.getAndSet(null);
        if (signal != null) {
          return signal;
        }
        LockSupport.park(this);
        interrupted |= Thread.interrupted();
      }
    } finally {
      if (interrupted) {
        Thread.currentThread().interrupt();
      }
    }
  }

  /** Serves the ticket on this thread. Null: the ticket was void, wait again. */
  Flown serve(LocalFlight flight, Ticket ticket) throws InterruptedException {
    Serving serving = new Serving(flights, flight, this);
    boolean served = false;
    try {
      Flown flown =
          ticket instanceof Ticket.Own own ? execute(serving, flight, own) : serving.replay(ticket);
      served = true;
      return flown;
    } finally {
      if (!served) {
        // Interrupted, or an Error of our own: whatever it was, nobody is left waiting for it.
        flight.handOver(this, ticket, "its caller was interrupted");
      }
    }
  }

  private Flown execute(Serving serving, LocalFlight flight, Ticket.Own ticket)
      throws InterruptedException {
    Ownership ownership = ticket.ownership();
    try {
      if (!serving.confirmed(ownership)) {
        return serving.again(0);
      }
    } catch (CoordinationException e) {
      return serving.unreachable(e);
    }
    if (Thread.interrupted()) {
      throw new InterruptedException();
    }
    GuardedCall call = serving.begin(ownership);
    if (call == null) {
      ownership.release("nobody waits for it any more");
      return new Flown(new Outcome.Broken(serving.gone()), Source.EXECUTED);
    }
    TaskContext context = serving.context(ownership);
    long beganNanos = flights.timers().nanoTime();
    Object value = null;
    Throwable thrown = null;
    @Nullable Chain outer = flights.enter(flight);
    try {
      value = call.run(() -> task.run(context));
    } catch (Throwable e) {
      thrown = e;
    } finally {
      flights.leave(outer);
    }
    flight.stage().metrics().executed(flights.timers().nanoTime() - beganNanos, thrown == null);
    if (thrown instanceof CancellationException cancelled && call.cancelled()) {
      return serving.cancelled(ownership, cancelled);
    }
    if (Serving.interrupted(thrown)) {
      // The caller's own interrupt: its exception, as it was, for it alone.
      flight.handOver(this, ticket, "its caller was interrupted");
      Outcome own = serving.outcomeOf(ownership, null, thrown);
      return new Flown(own, Source.EXECUTED);
    }
    Outcome own = serving.outcomeOf(ownership, value, thrown);
    Settlement settlement = serving.settle(call, ownership, own).join();
    return serving.settled(ownership, own, settlement);
  }

  /** Runs the task on this thread outside the flight, whose owner took too long. */
  Flown runPrivately(GuardedCall call, Ownership ownership, LocalFlight flight) {
    Serving serving = new Serving(flights, flight, this);
    TaskContext context = serving.context(ownership);
    long beganNanos = flights.timers().nanoTime();
    Object value = null;
    Throwable thrown = null;
    try {
      value = call.run(() -> task.run(context));
    } catch (Throwable e) {
      thrown = e;
    }
    flight.stage().metrics().executed(flights.timers().nanoTime() - beganNanos, thrown == null);
    return new Flown(serving.outcomeOf(ownership, value, thrown), Source.EXECUTED);
  }
}
