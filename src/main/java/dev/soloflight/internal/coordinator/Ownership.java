package dev.soloflight.internal.coordinator;

import dev.soloflight.internal.store.Commit;
import java.util.concurrent.CompletableFuture;

/** The right to run a flight's task, once. Safe to use from any thread; never blocks. */
public interface Ownership {
  /** The current fencing token; 0 where nothing is coordinated. */
  long ownerToken();

  /** The same for every owner of this flight. */
  String idempotencyKey();

  /** 1 for the first owner. */
  int attempt();

  /** Whether the flight is owned still, as far as this node knows. */
  boolean held();

  /** Whether the run goes without the cluster's protection because Redis cannot be reached. */
  boolean degraded();

  /** Whether the outcome goes to a record; if not, {@link #complete} need not be called. */
  boolean recorded();

  /**
   * The last check before the task runs; beats begin with it. False: the flight is another's,
   * pursue again. Fails with {@link dev.soloflight.CoordinationException} where the mode forbids to
   * go on.
   */
  CompletableFuture<Boolean> confirm();

  /** Told once when the ownership is lost, on a thread that must not be blocked. */
  void onLost(Runnable listener);

  /**
   * Brings the outcome in hand to where it belongs; never fails. Ends the beats.
   *
   * @param deadlineNanos until when its caller waits for another's outcome, where another owns now;
   *     by {@link dev.soloflight.internal.time.Timers#nanoTime}
   */
  CompletableFuture<Settlement> complete(Commit commit, long deadlineNanos);

  /** Gives the flight up; the next asker takes over at once. Ends the beats; never fails. */
  CompletableFuture<Void> release(String reason);
}
