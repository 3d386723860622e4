package dev.soloflight;

/** Where a result came from. Every call has exactly one source. */
public enum Source {
  /** This call ran the task. */
  EXECUTED,

  /** Another caller in this JVM ran the task, or fetched the result, and this call shared it. */
  SHARED,

  /** Served from this JVM's L1 cache; Redis was not asked. */
  REPLAYED_L1,

  /** Served from the record in Redis, which was there when the call came. */
  REPLAYED,

  /** Waited for an owner on another node and got its outcome. */
  FOLLOWED,

  /**
   * This call ran the task without the cluster's protection, because Redis could not be reached.
   */
  DEGRADED
}
