package dev.soloflight.chaos;

import dev.soloflight.chaos.Findings.Kind;
import java.util.ArrayDeque;
import java.util.Comparator;
import java.util.Deque;
import java.util.List;

/**
 * DESIGN 10.4 and 3.4: once a successor's outcome has been seen in the record, no later call gets
 * an earlier owner's; once a forget has ended, no later call gets what it forgot.
 */
final class OrderRules {
  private final History history;
  private final Explanations explanations;
  private final Findings findings;

  OrderRules(History history, Explanations explanations, Findings findings) {
    this.history = history;
    this.explanations = explanations;
    this.findings = findings;
  }

  void check() {
    history
        .callsByKey()
        .values()
        .forEach(
            calls -> {
              List<Call> told =
                  calls.stream()
                      .filter(call -> call.answered() && history.execution(call.exec) != null)
                      .toList();
              checkSuccession(told);
              told.forEach(this::checkForgotten);
            });
  }

  private void checkSuccession(List<Call> askedInOrder) {
    Deque<Call> fromRecord = new ArrayDeque<>();
    askedInOrder.stream()
        .filter(Call::fromRecord)
        .sorted(Comparator.comparingLong(call -> call.answeredNanos))
        .forEach(fromRecord::add);
    Call newest = null;
    for (Call call : askedInOrder) {
      while (!fromRecord.isEmpty() && fromRecord.peek().answeredNanos <= call.askedNanos) {
        Call seen = fromRecord.poll();
        if (newest == null || seen.token > newest.token) {
          newest = seen;
        }
      }
      if (newest != null
          && call.hasValue()
          && call.token > 0
          && call.token < newest.token
          && !call.exec.equals(newest.exec)) {
        overtaken(call, newest);
      }
    }
  }

  private void overtaken(Call call, Call newest) {
    Execution source = history.execution(call.exec);
    boolean explained =
        call.fromRecord()
            ? explanations.recordRestored(newest.askedNanos, call.answeredNanos).isPresent()
            : staleHere(call, source);
    if (!explained) {
      findings.violation(
          Kind.WRONG,
          call.key,
          call.answeredNanos,
          call + " got " + source + " although " + newest + " had token " + newest.token);
    }
  }

  /** L1 keeps what it has for its TTL, whatever happens to the record meanwhile. */
  private boolean staleHere(Call call, Execution source) {
    return explanations.recordLost(call.key, source.beganNanos, call.askedNanos).isPresent()
        || explanations.forgotten(call.key, source.beganNanos, call.askedNanos).isPresent()
        || explanations.cutOff(source.node, source.beganNanos, call.askedNanos).isPresent()
        || explanations.cutOff(call.node, source.beganNanos, call.askedNanos).isPresent();
  }

  private void checkForgotten(Call call) {
    Execution source = history.execution(call.exec);
    for (Forget forget : explanations.forgetsOf(call.key)) {
      if (forget.done
          && source.beganNanos < forget.beganNanos
          && forget.endedNanos < call.askedNanos
          && !mayStillBeServed(call, source, forget)) {
        findings.violation(
            Kind.WRONG,
            call.key,
            call.answeredNanos,
            call + " was asked after forget " + forget.id + " and got the forgotten " + source);
      }
    }
  }

  private boolean mayStillBeServed(Call call, Execution source, Forget forget) {
    if (explanations.recordLost(call.key, forget.beganNanos, call.answeredNanos).isPresent()) {
      return true; // The tombstone is lost.
    }
    if (call.fromRecord() || call.node.equals(forget.node)) {
      return false;
    }
    // Another node: L1 keeps what it has, and an execution at work is joined until its next beat.
    long l1Nanos = history.node(call.node).l1TtlNanos;
    long grace =
        explanations.due(call.node, forget.beganNanos, forget.endedNanos + l1Nanos)
            + Margins.SCHEDULING_NANOS;
    if (call.askedNanos <= grace) {
      return true;
    }
    // A node that is cut off learns of nothing: its own executions, and L1 for its TTL after them.
    boolean unaware =
        source.degraded()
            || explanations
                .cutOff(source.node, source.beganNanos, source.endedNanos + Margins.COMMIT_NANOS)
                .isPresent();
    return unaware
        && call.node.equals(source.node)
        && call.askedNanos <= source.endedNanos + l1Nanos + Margins.SCHEDULING_NANOS;
  }
}
