package dev.soloflight;

/** Where identical calls are collapsed (DESIGN 5). */
public enum FlightMode {
  /** Inside this JVM only; Redis is never contacted. */
  LOCAL,

  /** Across the cluster only; without Redis a call fails with {@link CoordinationException}. */
  DISTRIBUTED,

  /** Across the cluster, and inside this JVM while Redis cannot be reached. */
  HYBRID
}
