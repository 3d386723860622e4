package dev.soloflight.internal.policy;

import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * Limits around a stage's task; every one is off unless set.
 *
 * @param timeout how long the task may take, or null
 * @param maxConcurrent how many tasks of this stage may run at once in this JVM; 0: no limit
 * @param breaker circuit breaker, or null
 * @param rate rate limit, or null
 */
public record GuardPolicy(
    @Nullable Duration timeout, int maxConcurrent, @Nullable Breaker breaker, @Nullable Rate rate) {
  /** No limits. */
  public static final GuardPolicy OFF = new GuardPolicy(null, 0, null, null);

  /**
   * Opens when too many of the last calls failed.
   *
   * @param failureRatePercent share of failures that opens it, 1 to 100
   * @param window how many calls are looked at
   * @param openFor how long it stays open
   */
  public record Breaker(int failureRatePercent, int window, Duration openFor) {}

  /**
   * At most so many calls a period.
   *
   * @param limit calls
   * @param period the period
   */
  public record Rate(int limit, Duration period) {}
}
