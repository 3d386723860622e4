package dev.soloflight.chaos;

import dev.soloflight.chaos.Findings.Kind;
import dev.soloflight.chaos.Findings.Violation;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;

/** Holds a history to DESIGN 10. */
final class HistoryChecker {
  private static final int SHOWN_VIOLATIONS = 5;
  private static final long SHOWN_BEFORE_NANOS = TimeUnit.SECONDS.toNanos(12);
  private static final long SHOWN_AFTER_NANOS = TimeUnit.SECONDS.toNanos(1);

  private final History history;
  private final Findings findings = new Findings();

  private HistoryChecker(History history) {
    this.history = history;
  }

  static HistoryChecker check(History history) {
    HistoryChecker checker = new HistoryChecker(history);
    checker.check();
    return checker;
  }

  private void check() {
    Explanations explanations = new Explanations(history);
    new ExecutionRules(history, explanations, findings).check();
    new TokenRules(history, findings).check();
    new PromptnessRules(history, explanations, findings).check();
    new AnswerRules(history, explanations, findings).check();
    new OrderRules(history, explanations, findings).check();
    long end =
        history.events().isEmpty()
            ? 0
            : history.events().get(history.events().size() - 1).atNanos();
    for (String key : history.eternalKeys()) {
      findings.violation(Kind.TTL_LESS, "", end, "key without a TTL: " + key);
    }
    if (history.keysLeft() != 0) {
      findings.violation(
          Kind.STUCK, "", end, "keys left in Redis at the end: " + history.keysLeft());
    }
  }

  Findings findings() {
    return findings;
  }

  boolean passed() {
    return findings.violations().isEmpty();
  }

  /** The run in one line. */
  String line(long seed) {
    long faults =
        history.faults().stream().filter(fault -> fault.kind() != FaultKind.STALL).count();
    return String.format(
        Locale.ROOT,
        "chaos: seed=%d faults=%d calls=%d executions=%d duplicates=%d (explained=%d) wrong=%d"
            + " lost=%d stuck=%d ttl-less=%d",
        seed,
        faults,
        history.calls().size(),
        history.executions().size(),
        findings.duplicates(),
        findings.explained(),
        findings.count(Kind.WRONG),
        findings.count(Kind.LOST),
        findings.count(Kind.STUCK),
        findings.count(Kind.TTL_LESS));
  }

  /** What the run was like, beside its verdict. */
  String summary() {
    long degraded = history.executions().stream().filter(Execution::degraded).count();
    long stalls =
        history.faults().stream().filter(fault -> fault.kind() == FaultKind.STALL).count();
    Map<String, Long> answers =
        history.calls().stream()
            .filter(Call::answered)
            .collect(
                Collectors.groupingBy(
                    call -> call.hasValue() ? call.source : call.error + call.code,
                    TreeMap::new,
                    Collectors.counting()));
    Map<String, Long> kinds =
        history.faults().stream()
            .collect(
                Collectors.groupingBy(
                    fault -> fault.kind().name(), TreeMap::new, Collectors.counting()));
    return "answers "
        + answers
        + "\nfaults "
        + kinds
        + "\nduplicates explained by "
        + findings.explanations()
        + "\nruns without Redis "
        + degraded
        + ", standstills "
        + stalls
        + ", takeovers timed "
        + findings.takeoversTimed();
  }

  /** The first violations, each with its flight's history around it. */
  String report() {
    StringBuilder report = new StringBuilder();
    findings.violations().stream()
        .limit(SHOWN_VIOLATIONS)
        .forEach(violation -> tell(report, violation));
    int more = findings.violations().size() - SHOWN_VIOLATIONS;
    for (int i = 0; i < more; i++) {
      Violation violation = findings.violations().get(SHOWN_VIOLATIONS + i);
      report.append("also ").append(violation.kind()).append(' ').append(violation.what());
      report.append(" [").append(violation.key()).append("]\n");
    }
    return report.toString();
  }

  private void tell(StringBuilder report, Violation violation) {
    report.append(violation.kind()).append(": ").append(violation.what()).append('\n');
    if (violation.key().isEmpty()) {
      return;
    }
    long from = violation.atNanos() - SHOWN_BEFORE_NANOS;
    long to = violation.atNanos() + SHOWN_AFTER_NANOS;
    report.append("  flight ").append(violation.key()).append(", ms before and after:\n");
    FlightLines lines = new FlightLines(history, violation.key());
    for (Event event : history.events()) {
      if (event.atNanos() >= from && event.atNanos() <= to && lines.belongs(event)) {
        double millis = (event.atNanos() - violation.atNanos()) / 1e6;
        String text = event.toString();
        report.append(
            String.format(
                Locale.ROOT, "  %10.1f %s%n", millis, text.substring(text.indexOf(' ') + 1)));
      }
    }
  }
}
