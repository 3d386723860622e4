package dev.soloflight.chaos;

import dev.soloflight.chaos.Findings.Kind;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** DESIGN 3.3: the fencing token is strictly greater at each change of owner. */
final class TokenRules {
  private final History history;
  private final Findings findings;

  TokenRules(History history, Findings findings) {
    this.history = history;
    this.findings = findings;
  }

  void check() {
    history
        .executionsByKey()
        .values()
        .forEach(
            executions -> {
              List<Execution> owned = executions.stream().filter(e -> !e.degraded()).toList();
              checkUnique(owned);
              checkGrowing(owned);
            });
  }

  private void checkUnique(List<Execution> owned) {
    Map<Long, Execution> holders = new HashMap<>();
    for (Execution execution : owned) {
      for (long token : new long[] {execution.token, execution.endToken}) {
        Execution other = holders.putIfAbsent(token, execution);
        if (other != null && other != execution) {
          wrong(execution, "has the same token as " + other);
        }
      }
      if (execution.endToken < execution.token) {
        wrong(execution, "ended with token " + execution.endToken);
      }
    }
  }

  /**
   * An owner confirms right before it runs, and its caller asked before that: so who was asked for
   * after another had begun was confirmed after it.
   */
  private void checkGrowing(List<Execution> owned) {
    for (int i = 1; i < owned.size(); i++) {
      Execution later = owned.get(i);
      long askedNanos = history.call(later.call).askedNanos;
      for (Execution earlier : owned.subList(0, i)) {
        if (earlier.beganNanos < askedNanos && later.token < earlier.token) {
          wrong(later, "came after " + earlier + " and its token is not greater");
        }
      }
    }
  }

  private void wrong(Execution execution, String what) {
    findings.violation(Kind.WRONG, execution.key, execution.beganNanos, execution + " " + what);
  }
}
