package dev.soloflight.internal.store;

/**
 * What acquire answers: exactly one of five, and FORGOTTEN to a resuming owner only (DESIGN 3.3).
 */
public sealed interface Acquired {
  /** The record's fencing token. */
  long ownerToken();

  /** The asker owns the flight. */
  sealed interface Owner extends Acquired {
    /** 1 for the first owner. */
    int attempt();

    /** The same for every owner of this flight. */
    String idempotencyKey();
  }

  /**
   * The first owner of a new flight.
   *
   * @param damaged whether something unreadable was there and has been replaced
   */
  record OwnerNew(long ownerToken, int attempt, String idempotencyKey, boolean damaged)
      implements Owner {}

  /** The next owner of a flight whose owner stopped beating or failed retryably. */
  record OwnerTakeover(long ownerToken, int attempt, String idempotencyKey) implements Owner {}

  /**
   * Another owner is at work, or a failure is in its back-off.
   *
   * @param waitMillis until the lease or the back-off runs out
   */
  record FollowerWait(long ownerToken, long waitMillis) implements Acquired {}

  /** A success to be served from the record. */
  record ReplaySuccess(
      long ownerToken,
      String codec,
      int rawSize,
      String checksum,
      @SuppressWarnings("ArrayRecordComponent") byte[] payload,
      long ttlMillis)
      implements Acquired {}

  /** A failure to be served from the record. */
  record ReplayFailure(
      long ownerToken,
      String errorType,
      String errorCode,
      String errorMessage,
      boolean retryable,
      long ttlMillis)
      implements Acquired {}

  /** To a resuming owner: its flight was forgotten, or is another one by now. */
  record Forgotten(long ownerToken) implements Acquired {}
}
