package dev.soloflight.cli;

import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * What the demo came to.
 *
 * @param flights distinct requests among the calls
 * @param modelCalls what would have been paid
 * @param differingAnswers calls that got another answer than the first of their flight
 * @param failures calls without an answer, one line each
 * @param takeoverMillis from the owner's death to the model call of its successor; null if none
 *     died
 * @param bySource calls by where their answer came from
 * @param stages the same figures by stage
 */
record DemoReport(
    int nodes,
    int calls,
    int flights,
    int modelCalls,
    int differingAnswers,
    List<String> failures,
    long takeovers,
    @Nullable Long takeoverMillis,
    Map<String, Long> bySource,
    List<StageLine> stages,
    long elapsedMillis) {

  /** One stage's part. */
  record StageLine(String stage, int calls, int flights, int modelCalls) {}

  int savedCalls() {
    return calls - modelCalls;
  }

  /** Whether every flight was paid for once, but for the owners that died, and all is well. */
  boolean asPromised() {
    return modelCalls == flights + takeovers && differingAnswers == 0 && failures.isEmpty();
  }

  ObjectNode toJson() {
    ObjectNode json =
        Json.MAPPER
            .createObjectNode()
            .put("nodes", nodes)
            .put("calls", calls)
            .put("flights", flights)
            .put("modelCalls", modelCalls)
            .put("savedCalls", savedCalls())
            .put("differingAnswers", differingAnswers)
            .put("failures", failures.size())
            .put("takeovers", takeovers)
            .put("takeoverMillis", takeoverMillis);
    ObjectNode sources = json.putObject("bySource");
    bySource.forEach(sources::put);
    return json.put("elapsedMillis", elapsedMillis);
  }

  List<String> lines() {
    List<String> lines = new ArrayList<>();
    Table table = new Table().row("stage", "calls", "flights", "model calls", "saved");
    for (StageLine line : stages) {
      table.row(
          line.stage(),
          line.calls(),
          line.flights(),
          line.modelCalls(),
          line.calls() - line.modelCalls());
    }
    table.row("all", calls, flights, modelCalls, savedCalls());
    lines.addAll(table.lines());
    lines.add("");
    StringBuilder sources = new StringBuilder("Answers came from:");
    bySource.forEach(
        (source, count) -> sources.append(' ').append(source).append(' ').append(count));
    lines.add(sources.toString());
    if (takeoverMillis != null) {
      lines.add(
          "Takeovers: " + takeovers + ", " + takeoverMillis + " ms after the owner was killed");
    }
    lines.add("Answers that differ within a flight: " + differingAnswers);
    lines.add("Calls without an answer: " + failures.size());
    failures.forEach(failure -> lines.add("  " + failure));
    lines.add(
        asPromised()
            ? nodes
                + " nodes, "
                + calls
                + " calls, "
                + modelCalls
                + " paid, "
                + savedCalls()
                + " saved ("
                + Math.round(100.0 * savedCalls() / Math.max(1, calls))
                + "%)."
            : "NOT as promised: expected "
                + (flights + takeovers)
                + " model calls, saw "
                + modelCalls
                + ".");
    return lines;
  }
}
