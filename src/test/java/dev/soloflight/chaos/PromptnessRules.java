package dev.soloflight.chaos;

import dev.soloflight.chaos.Findings.Kind;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/** DESIGN 10.2 and 10.3: an answer for every call, by its deadline; a dead owner is replaced. */
final class PromptnessRules {
  private static final long PROMISED_NANOS = TimeUnit.MILLISECONDS.toNanos(250);

  /** Only calm moments are looked at, so little is needed for the line to get into the history. */
  private static final long LINE_NANOS = TimeUnit.MILLISECONDS.toNanos(250);

  private final History history;
  private final Explanations explanations;
  private final Findings findings;
  private final Map<String, List<Execution>> executions;

  PromptnessRules(History history, Explanations explanations, Findings findings) {
    this.history = history;
    this.explanations = explanations;
    this.findings = findings;
    this.executions = history.executionsByKey();
  }

  void check() {
    history.calls().forEach(this::checkCall);
    history.executions().forEach(this::checkTakeover);
  }

  private void checkCall(Call call) {
    NodeLife node = history.node(call.node);
    if (!call.answered()) {
      if (!node.killed()) {
        findings.violation(Kind.LOST, call.key, call.askedNanos, call + " was never answered");
      }
      return;
    }
    long due = call.deadlineNanos;
    for (Execution own : executions.getOrDefault(call.key, List.of())) {
      if (own.call.equals(call.id)) {
        checkStart(call, own, due);
        // Its own task may take its time; then the outcome is settled, in a few commands.
        due = Math.max(due, own.endedNanos + 4 * node.commandTimeoutNanos);
      }
    }
    late(call, due, call.answeredNanos, "was answered");
  }

  private void checkStart(Call call, Execution own, long due) {
    late(call, due, own.beganNanos, "began to run its task");
  }

  private void late(Call call, long dueNanos, long atNanos, String what) {
    long due = explanations.due(call.node, call.askedNanos, dueNanos);
    if (atNanos > due + Margins.SCHEDULING_NANOS) {
      findings.violation(
          Kind.STUCK,
          call.key,
          atNanos,
          call + " " + what + " " + millis(atNanos - dueNanos) + " ms after its deadline");
    }
  }

  /** An owner killed at work, a call that waited elsewhere, and nothing else amiss. */
  private void checkTakeover(Execution dead) {
    NodeLife owner = history.node(dead.node);
    if (!owner.killed()
        || dead.outcome != Execution.Outcome.NONE
        || dead.degraded()
        || dead.attempt >= owner.maxAttempts) {
      return;
    }
    long killed = owner.killedNanos;
    long due = killed + owner.leaseNanos + PROMISED_NANOS + LINE_NANOS;
    boolean waitedFor =
        history.calls().stream()
            .anyMatch(
                call ->
                    call.key.equals(dead.key)
                        && !call.node.equals(dead.node)
                        && call.askedNanos < killed - Margins.STALL_NANOS
                        && call.answeredNanos > killed
                        && call.deadlineNanos > due);
    if (!waitedFor
        || !explanations.calm(dead.key, dead.node, killed - owner.leaseNanos, due)
        || explanations.cutOff(dead.node, dead.beganNanos, killed - 1).isPresent()
        || explanations.forgotten(dead.key, dead.beganNanos, due).isPresent()) {
      return;
    }
    findings.takeoverTimed();
    boolean replaced =
        executions.get(dead.key).stream()
            .anyMatch(next -> next.beganNanos > dead.beganNanos && next.beganNanos <= due);
    if (!replaced) {
      findings.violation(
          Kind.STUCK,
          dead.key,
          due,
          dead + " died with its node and nobody took over within takeover-detect + 250 ms");
    }
  }

  private static long millis(long nanos) {
    return TimeUnit.NANOSECONDS.toMillis(nanos);
  }
}
