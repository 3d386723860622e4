package dev.soloflight.chaos;

import dev.soloflight.chaos.Findings.Kind;
import java.util.List;
import java.util.Optional;

/**
 * DESIGN 10.1: within a record's life there is one execution. A second one needs a reason: a lost
 * record, an owner whose beats did not arrive, a forget, or Redis out of reach.
 */
final class ExecutionRules {
  private final History history;
  private final Explanations explanations;
  private final Findings findings;

  ExecutionRules(History history, Explanations explanations, Findings findings) {
    this.history = history;
    this.explanations = explanations;
    this.findings = findings;
  }

  void check() {
    history.executionsByKey().values().forEach(this::checkFlight);
    for (Execution execution : history.executions()) {
      checkDegraded(execution);
      checkLoss(execution);
    }
  }

  private void checkFlight(List<Execution> inOrder) {
    for (int i = 1; i < inOrder.size(); i++) {
      Execution second = inOrder.get(i);
      boolean duplicate = false;
      String reason = "";
      boolean explained = true;
      for (Execution first : inOrder.subList(0, i)) {
        if (!duplicates(first, second)) {
          continue;
        }
        duplicate = true;
        Optional<String> why = why(first, second);
        if (why.isPresent()) {
          reason = why.get();
        } else {
          explained = false;
          findings.violation(
              Kind.WRONG,
              second.key,
              second.beganNanos,
              second + " began although " + first + " was there, and nothing explains it");
        }
      }
      if (duplicate) {
        findings.duplicate(explained, reason);
      }
    }
  }

  /** Whether the second began while the first, or its outcome's record, was alive. */
  private boolean duplicates(Execution first, Execution second) {
    if (first.endedNanos > second.beganNanos) {
      return true;
    }
    NodeLife owner = history.node(first.node);
    long lifeNanos =
        switch (first.outcome) {
          case OK -> owner.resultTtlNanos;
          case FAILED -> owner.failedTtlNanos;
          case RETRYABLE -> first.attempt < owner.maxAttempts ? 0 : owner.failedTtlNanos;
          // Given up, so that the next takes over; or dead: its lease is given it in any case.
          case CANCELLED, NONE -> 0;
        };
    return second.beganNanos < first.endedNanos + lifeNanos - Margins.EXPIRY_NANOS;
  }

  private Optional<String> why(Execution first, Execution second) {
    long owned = ownedSince(first);
    if (first.degraded() || second.degraded()) {
      return Optional.of("DEGRADED"); // Each of them is held to its own reason.
    }
    return explanations
        .recordLost(first.key, owned, second.beganNanos)
        .or(() -> ownerSilent(first, second))
        .or(() -> overtaken(first, second))
        .map(fault -> fault.kind().name())
        .or(
            () ->
                explanations
                    .forgotten(first.key, owned, second.beganNanos)
                    .map(forget -> "FORGET"));
  }

  /** What comes between the grant and the task's first line counts too. */
  private long ownedSince(Execution execution) {
    return history.call(execution.call).askedNanos;
  }

  private Optional<Fault> ownerSilent(Execution first, Execution second) {
    long committed =
        first.endedNanos == Long.MAX_VALUE
            ? Long.MAX_VALUE
            : first.endedNanos + Margins.COMMIT_NANOS;
    return explanations.cutOff(
        first.node, ownedSince(first), Math.min(committed, second.beganNanos));
  }

  /** The second owned before the first did, and could not reach Redis to learn that it lost. */
  private Optional<Fault> overtaken(Execution first, Execution second) {
    return second.token > first.token
        ? Optional.empty()
        : explanations.cutOff(second.node, history.call(second.call).askedNanos, second.beganNanos);
  }

  /** Hybrid runs a task without a record only where Redis was out of reach. */
  private void checkDegraded(Execution execution) {
    if (!execution.degraded()) {
      return;
    }
    long askedNanos = history.call(execution.call).askedNanos;
    if (!history.node(execution.node).mode.equals("hybrid")) {
      findings.violation(
          Kind.WRONG,
          execution.key,
          execution.beganNanos,
          execution + " ran without a record, and the mode is not hybrid");
    } else if (explanations.cutOff(execution.node, askedNanos, execution.beganNanos).isEmpty()) {
      findings.violation(
          Kind.WRONG,
          execution.key,
          execution.beganNanos,
          execution + " ran without a record although Redis could be reached");
    }
  }

  private void checkLoss(Execution execution) {
    long lostNanos = execution.lostNanos;
    if (lostNanos != Long.MAX_VALUE
        && explanations.cutOff(execution.node, ownedSince(execution), lostNanos).isEmpty()
        && explanations.recordLost(execution.key, ownedSince(execution), lostNanos).isEmpty()
        && explanations.forgotten(execution.key, ownedSince(execution), lostNanos).isEmpty()) {
      findings.violation(
          Kind.WRONG, execution.key, lostNanos, execution + " lost its ownership for no reason");
    }
  }
}
