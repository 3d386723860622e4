package dev.soloflight.internal.local;

import dev.soloflight.FlightKey;
import dev.soloflight.Source;
import dev.soloflight.internal.coordinator.Ticket;
import java.lang.reflect.Type;
import org.jspecify.annotations.Nullable;

/** One call that wants a flight's outcome. */
interface Caller {
  FlightKey key();

  /** The result type asked for. */
  Type type();

  /** The tasks that led to this call. */
  @Nullable Chain chain();

  /** Monotonic time at which its wait is over. */
  long deadlineNanos();

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
