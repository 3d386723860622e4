package dev.soloflight.chaos;

import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;

/** What a check has found. */
final class Findings {
  /** What a violation counts as. */
  enum Kind {
    /** An execution, a token or an answer that must not be. */
    WRONG,
    /** A call without an answer, or a paid result that its caller did not get. */
    LOST,
    /** Too late: an answer, a takeover, a key that stayed. */
    STUCK,
    /** A key without a TTL. */
    TTL_LESS
  }

  /**
   * A broken promise.
   *
   * @param key the flight, or empty
   * @param atNanos when it showed
   */
  record Violation(Kind kind, String what, String key, long atNanos) {}

  private final List<Violation> violations = new ArrayList<>();
  private final Map<String, Integer> explanations = new java.util.TreeMap<>();
  private int duplicates;
  private int explained;
  private int takeoversTimed;

  void violation(Kind kind, String key, long atNanos, String what) {
    violations.add(new Violation(kind, what, key, atNanos));
  }

  void duplicate(boolean isExplained, String by) {
    duplicates++;
    if (isExplained) {
      explained++;
      explanations.merge(by, 1, Integer::sum);
    }
  }

  void takeoverTimed() {
    takeoversTimed++;
  }

  List<Violation> violations() {
    return violations;
  }

  int duplicates() {
    return duplicates;
  }

  int explained() {
    return explained;
  }

  /** How many takeovers happened while nothing else was amiss, so that their time was held. */
  int takeoversTimed() {
    return takeoversTimed;
  }

  /** What the duplicates were explained by, with counts. */
  Map<String, Integer> explanations() {
    return explanations;
  }

  long count(Kind kind) {
    return violations.stream().filter(violation -> violation.kind() == kind).count();
  }

  Map<Kind, Long> counts() {
    Map<Kind, Long> counts = new EnumMap<>(Kind.class);
    for (Kind kind : Kind.values()) {
      counts.put(kind, count(kind));
    }
    return counts;
  }
}
