package dev.soloflight.internal.store;

/**
 * What one asking sends with acquire.
 *
 * @param ownerId who asks, unique to one asking
 * @param idempotencyKey the proposal
 * @param leaseMillis the asker's takeover-detect
 * @param runningTtlMillis the stage's running-ttl
 * @param maxAttempts owners a flight may have
 * @param failedTtlMillis the stage's failed-result-ttl
 * @param damagedToken a finished record with this token counts as absent; 0 for none
 * @param resume whether the asker has executed, or is executing, under this idempotencyKey
 */
public record AcquireRequest(
    String ownerId,
    String idempotencyKey,
    long leaseMillis,
    long runningTtlMillis,
    int maxAttempts,
    long failedTtlMillis,
    long damagedToken,
    boolean resume) {

  /** The same asking, with a damaged record named. */
  public AcquireRequest withDamagedToken(long token) {
    return new AcquireRequest(
        ownerId,
        idempotencyKey,
        leaseMillis,
        runningTtlMillis,
        maxAttempts,
        failedTtlMillis,
        token,
        resume);
  }

  /** The same asking, by one who has executed, or is executing, under its idempotency key. */
  public AcquireRequest resuming() {
    return new AcquireRequest(
        ownerId,
        idempotencyKey,
        leaseMillis,
        runningTtlMillis,
        maxAttempts,
        failedTtlMillis,
        damagedToken,
        true);
  }
}
