package dev.soloflight.internal.store;

/** What an owner commits with complete. */
public sealed interface Commit {
  /** The record's life from now on. */
  long ttlMillis();

  /** A result. */
  record Success(
      String codec,
      int rawSize,
      String checksum,
      @SuppressWarnings("ArrayRecordComponent") byte[] payload,
      long ttlMillis)
      implements Commit {}

  /**
   * A failure.
   *
   * @param backoffMillis how long a takeover has to wait
   */
  record Failure(
      String errorType,
      String errorCode,
      String errorMessage,
      boolean retryable,
      long backoffMillis,
      long ttlMillis)
      implements Commit {}
}
