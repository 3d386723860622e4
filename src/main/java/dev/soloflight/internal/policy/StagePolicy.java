package dev.soloflight.internal.policy;

import java.time.Duration;
import java.util.Set;

/**
 * The rules of one stage (DESIGN 8), validated.
 *
 * @param stage the stage's name
 * @param heartbeatInterval how often an owner beats
 * @param runningTtl the life of a PENDING, RUNNING or FORGOTTEN record after its last change
 * @param takeoverDetect the lease: an owner silent for longer is taken over
 * @param resultTtl how long a success is replayed
 * @param failedResultTtl how long a failure is replayed
 * @param maxAttempts how many owners a flight may have
 * @param retryBackoff pause between a retryable failure and its takeover
 * @param followerMaxWait how long a caller waits for an owner's outcome
 * @param onWaitTimeout what a caller does when that wait is over
 * @param onOwnershipLost what happens to a task whose flight was lost
 * @param l1Ttl the longest life of an L1 entry; zero: no L1
 * @param compressionThresholdBytes results larger than this are gzipped
 * @param retryOn class names of exceptions (and their subclasses) that count as retryable
 * @param guard limits around the task
 */
public record StagePolicy(
    String stage,
    Duration heartbeatInterval,
    Duration runningTtl,
    Duration takeoverDetect,
    Duration resultTtl,
    Duration failedResultTtl,
    int maxAttempts,
    Duration retryBackoff,
    Duration followerMaxWait,
    OnWaitTimeout onWaitTimeout,
    OnOwnershipLost onOwnershipLost,
    Duration l1Ttl,
    int compressionThresholdBytes,
    Set<String> retryOn,
    GuardPolicy guard) {

  public StagePolicy {
    retryOn = Set.copyOf(retryOn);
  }

  /** What a caller does when its wait is over. */
  public enum OnWaitTimeout {
    /** Throws {@link dev.soloflight.FlightTimeoutException}. */
    FAIL,
    /** Runs the task itself, outside the flight. */
    EXECUTE
  }

  /** What happens to a running task whose flight was lost. */
  public enum OnOwnershipLost {
    /** It goes on; its result is kept in hand. */
    CONTINUE,
    /** It is cancelled. */
    CANCEL
  }
}
