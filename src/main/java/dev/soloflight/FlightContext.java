package dev.soloflight;

/** What a running task may know about its own flight. Safe to use from any thread. */
public interface FlightContext {
  /** The flight this task executes. */
  FlightKey key();

  /**
   * The fencing token of the current ownership: strictly greater at each change of owner. It grows
   * when a lost record had to be asserted again, so ask anew before each use. Zero where the flight
   * is not coordinated ({@link #isOwner()} is false).
   */
  long ownerToken();

  /**
   * The same for every owner of this flight: pass it to the provider, so that it deduplicates too.
   */
  String idempotencyKey();

  /** 1 for the first owner, one more for each takeover. */
  int attempt();

  /**
   * Whether this node owns the flight now, as far as it knows. False after the ownership was lost,
   * and always false for a call that runs without coordination.
   */
  boolean isOwner();

  /**
   * Registers what to do when the ownership is lost: the flight was taken over or forgotten. Runs
   * at most once, on the async executor; at once if the ownership is lost already. What it throws
   * is logged and otherwise ignored.
   */
  void onOwnershipLost(Runnable listener);
}
