package dev.soloflight.chaos;

import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Predicate;

/** Which fault or forget may be the reason for what was seen. */
final class Explanations {
  private final History history;
  private final Map<String, List<Forget>> forgets;

  Explanations(History history) {
    this.history = history;
    this.forgets = history.forgetsByKey();
  }

  /** A fault between that kept a node's steps, or the answers to them, from arriving. */
  Optional<Fault> cutOff(String node, long from, long to) {
    return find(
        fault ->
            fault.kind().silences()
                && fault.concernsNode(node)
                && fault.touches(from, to, aftermath(fault)));
  }

  /** A fault between that may have lost the flight's record or its tombstone. */
  Optional<Fault> recordLost(String key, long from, long to) {
    return find(
        fault -> fault.kind().loses() && fault.concernsKey(key) && fault.touches(from, to, 0));
  }

  /** A fault between that may have brought back an older record. */
  Optional<Fault> recordRestored(long from, long to) {
    return find(fault -> fault.kind().restores() && fault.touches(from, to, 0));
  }

  /** A forget of the flight that took effect between. */
  Optional<Forget> forgotten(String key, long from, long to) {
    return forgetsOf(key).stream().filter(forget -> forget.mayTouch(from, to)).findFirst();
  }

  /** Whether nothing that may concern a flight, apart from one node's end, was amiss between. */
  boolean calm(String key, String butFor, long from, long to) {
    return find(fault ->
            !fault.node().equals(butFor)
                && fault.concernsKey(key)
                && (fault.kind().silences() || fault.kind().loses())
                && (fault.kind().ends() ? fault.momentary() : fault)
                    .touches(from, to, aftermath(fault)))
        .isEmpty();
  }

  List<Forget> forgetsOf(String key) {
    return forgets.getOrDefault(key, List.of());
  }

  /** When something due is due on a node whose process may have stood still meanwhile. */
  long due(String node, long fromNanos, long dueNanos) {
    long due = dueNanos;
    boolean later = true;
    while (later) {
      later = false;
      for (Fault fault : history.faults()) {
        if (fault.kind().stops()
            && !fault.node().isEmpty()
            && fault.concernsNode(node)
            && fault.touches(fromNanos, due + Margins.SCHEDULING_NANOS, 0)
            && fault.toNanos() > due) {
          due = fault.toNanos();
          later = due != Long.MAX_VALUE;
        }
      }
    }
    return due;
  }

  private static long aftermath(Fault fault) {
    return fault.kind() == FaultKind.STALL || fault.kind() == FaultKind.CLIENT_KILL
        ? Margins.STALL_AFTERMATH_NANOS
        : Margins.AFTERMATH_NANOS;
  }

  private Optional<Fault> find(Predicate<Fault> test) {
    return history.faults().stream().filter(test).findFirst();
  }
}
