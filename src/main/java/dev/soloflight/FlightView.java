package dev.soloflight;

import java.time.Duration;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * One flight's record as it stands, without its payload. Times are those of the Redis clock.
 *
 * @param key the flight
 * @param status {@code PENDING}, {@code RUNNING}, {@code SUCCEEDED}, {@code FAILED} or {@code
 *     FORGOTTEN}
 * @param ownerId who owns or owned it
 * @param ownerToken the current fencing token
 * @param attempt which owner this is, from 1; 0 for a forgotten flight
 * @param idempotencyKey the same for every owner of this flight; null for a forgotten one
 * @param startedAt when the current owner acquired it
 * @param heartbeatAt when the current owner last beat
 * @param finishedAt when it ended, or null
 * @param lease how long the owner may be silent before it is taken over
 * @param waitingNodes how many nodes asked to be woken
 * @param codec how the payload is encoded, or null
 * @param rawSize the result's size in bytes before compression, or 0
 * @param errorType class name of the failure, or null
 * @param errorCode code of the failure, or null
 * @param errorMessage message of the failure, or null
 * @param retryable whether the failure may be tried again
 * @param ttl what is left of the record's life
 */
public record FlightView(
    FlightKey key,
    String status,
    String ownerId,
    long ownerToken,
    int attempt,
    @Nullable String idempotencyKey,
    @Nullable Instant startedAt,
    @Nullable Instant heartbeatAt,
    @Nullable Instant finishedAt,
    Duration lease,
    int waitingNodes,
    @Nullable String codec,
    long rawSize,
    @Nullable String errorType,
    @Nullable String errorCode,
    @Nullable String errorMessage,
    boolean retryable,
    Duration ttl) {}
