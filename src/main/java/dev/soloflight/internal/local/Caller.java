package dev.soloflight.internal.local;

import dev.soloflight.FlightKey;
import dev.soloflight.Source;
import dev.soloflight.internal.coordinator.Ticket;
import java.lang.reflect.Type;
import org.jspecify.annotations.Nullable;

/** One call that wants a flight's outcome. */
interface Caller {
  /**
   * What a call asks for.
   *
   * @param type the result type
   * @param chain the tasks that led to this call
   * @param deadlineNanos monotonic time at which its wait is over
   */
  record Asked(FlightKey key, Type type, @Nullable Chain chain, long deadlineNanos) {}

  /** What this call asks for. */
  Asked asked();

  /** The flight asked for. */
  default FlightKey key() {
    return asked().key();
  }

  /**
   * Leads from now on: serves the ticket. Called at most once at a time, without locks, on any
   * thread; must not block.
   */
  void lead(LocalFlight flight, Ticket ticket);

  /** The flight has ended. Called once, without locks, on any thread; must not run user code. */
  void deliver(Outcome outcome, Source source);

  /** Whether it has gone; its flight's lock guards this. */
  boolean gone();

  /** It goes; its flight's lock guards this. */
  void markGone();
}
