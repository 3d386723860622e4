package dev.soloflight.chaos;

/**
 * A fault and when it was.
 *
 * @param node the node it is about, or empty: all
 * @param key the flight it is about, or empty: all
 */
record Fault(String id, FaultKind kind, String node, String key, long fromNanos, long toNanos) {
  boolean concernsNode(String other) {
    return node.isEmpty() || node.equals(other);
  }

  boolean concernsKey(String other) {
    return key.isEmpty() || key.equals(other);
  }

  /** Whether it was, or its aftermath, at any moment between. */
  boolean touches(long from, long to, long aftermathNanos) {
    long until = toNanos == Long.MAX_VALUE ? toNanos : toNanos + aftermathNanos;
    return fromNanos <= to && until >= from;
  }

  /** Only its beginning: what the end of one node means for the others. */
  Fault momentary() {
    return new Fault(id, kind, node, key, fromNanos, fromNanos);
  }
}
