package dev.soloflight.internal.local;

import dev.soloflight.internal.metrics.FlightMetrics.StageMetrics;
import dev.soloflight.internal.policy.StagePolicy;

/** What every call of a stage needs, looked up once. */
record Stage(StagePolicy policy, StageMetrics metrics, long l1TtlNanos, long maxWaitNanos) {
  Stage(StagePolicy policy, StageMetrics metrics) {
    this(policy, metrics, policy.l1Ttl().toNanos(), policy.followerMaxWait().toNanos());
  }
}
