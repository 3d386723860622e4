package dev.soloflight.chaos;

import dev.soloflight.chaos.Execution.Outcome;
import dev.soloflight.chaos.Findings.Kind;
import java.util.concurrent.TimeUnit;

/**
 * DESIGN 10.5 and 10.6: every answer is what an execution of this flight came to, undamaged and of
 * its time; a paid result reaches the call that ran it; errors are of the promised types.
 */
final class AnswerRules {
  private static final long CLOCK_STEP_NANOS = TimeUnit.MILLISECONDS.toNanos(5);

  private final History history;
  private final Explanations explanations;
  private final Findings findings;

  AnswerRules(History history, Explanations explanations, Findings findings) {
    this.history = history;
    this.explanations = explanations;
    this.findings = findings;
  }

  void check() {
    history.calls().stream().filter(Call::answered).forEach(this::checkAnswer);
    history.executions().forEach(this::checkPaid);
  }

  private void checkAnswer(Call call) {
    if (call.hasValue()) {
      checkValue(call);
    } else if (!call.exec.isEmpty()) {
      checkFailure(call);
    } else {
      checkError(call);
    }
  }

  private void checkValue(Call call) {
    Execution source = computed(call);
    if (source == null) {
      return;
    }
    if (source.outcome != Outcome.OK || !source.hash.equals(call.hash)) {
      wrong(call, "got a value that is not what " + source + " computed");
    }
    if (call.ran() && !source.call.equals(call.id)) {
      wrong(call, "says it ran the task, but its value is of " + source);
    }
    if (call.source.equals("DEGRADED") != (call.ran() && source.degraded())) {
      wrong(call, "says " + call.source + ", but its value is of " + source);
    }
    if (call.fromRecord() && (source.degraded() || call.token < source.token)) {
      wrong(call, "got token " + call.token + " from the record of " + source);
    }
    checkAge(call, source);
  }

  private void checkFailure(Call call) {
    Execution source = computed(call);
    if (source == null) {
      return;
    }
    if (source.outcome != Outcome.FAILED && source.outcome != Outcome.RETRYABLE) {
      wrong(call, "got a failure that is not what " + source + " came to");
    }
    checkAge(call, source);
  }

  /** The execution that an answer names, if it may be the answer. */
  private Execution computed(Call call) {
    Execution source = history.execution(call.exec);
    if (source == null
        || !source.key.equals(call.key)
        || source.endedNanos > call.answeredNanos
        || source.outcome == Outcome.NONE) {
      wrong(call, "got an answer that nobody computed: " + call.exec);
      return null;
    }
    return source;
  }

  private void checkAge(Call call, Execution source) {
    NodeLife owner = history.node(source.node);
    long committed = source.endedNanos + Math.max(owner.maxWaitNanos, owner.runningTtlNanos);
    long ttl = source.outcome == Outcome.OK ? owner.resultTtlNanos : owner.failedTtlNanos;
    long dead = explanations.due(source.node, source.endedNanos, committed) + ttl;
    if (call.askedNanos > dead + Margins.SCHEDULING_NANOS) {
      wrong(
          call,
          "was served "
              + source
              + " "
              + TimeUnit.NANOSECONDS.toMillis(call.askedNanos - source.endedNanos)
              + " ms after its end");
    }
  }

  private void checkError(Call call) {
    NodeLife node = history.node(call.node);
    switch (call.error) {
      case "FlightTimeoutException" -> {
        if (call.answeredNanos < call.deadlineNanos - CLOCK_STEP_NANOS) {
          wrong(call, "timed out before its deadline");
        }
      }
      case "CoordinationException" -> {
        if (node.mode.equals("hybrid")
            || explanations.cutOff(call.node, call.askedNanos, call.answeredNanos).isEmpty()) {
          wrong(call, "failed with a CoordinationException for no reason");
        }
      }
      case "FlightCancelledException" -> {
        if (node.closingNanos > call.answeredNanos) {
          wrong(call, "was cancelled by nobody");
        }
      }
      case "FlightFailedException" -> {
        if (!call.code.equals("OWNER_LOST") || !ownersLost(call)) {
          wrong(call, "failed with code " + call.code + " that no execution gave");
        }
      }
      default -> wrong(call, "failed with " + call.error);
    }
  }

  /** Somebody must have been silent for the attempts to be used up by silence. */
  private boolean ownersLost(Call call) {
    NodeLife node = history.node(call.node);
    long since =
        call.askedNanos
            - node.failedTtlNanos
            - node.maxAttempts * (node.leaseNanos + node.maxWaitNanos);
    return history.faults().stream()
        .anyMatch(
            fault ->
                fault.kind().silences()
                    && fault.touches(since, call.answeredNanos, Margins.AFTERMATH_NANOS));
  }

  /** A result that was paid for reaches the call that ran it, or gives way to the cluster's. */
  private void checkPaid(Execution execution) {
    Call call = history.call(execution.call);
    if (execution.outcome == Outcome.OK
        && call.answered()
        && !call.hasValue()
        && history.node(execution.node).closingNanos > execution.endedNanos) {
      findings.violation(
          Kind.LOST,
          call.key,
          call.answeredNanos,
          call + " ran " + execution + " and got " + call.error + " instead of its result");
    }
  }

  private void wrong(Call call, String what) {
    findings.violation(Kind.WRONG, call.key, call.answeredNanos, call + " " + what);
  }
}
