package dev.soloflight.cli;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.soloflight.FlightConfigException;
import dev.soloflight.internal.policy.LoadedConfig;
import dev.soloflight.internal.store.Finding;
import dev.soloflight.internal.store.RedisProbe;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** Says of each thing SoloFlight needs whether it is there, and what to change where it is not. */
@Command(
    name = "doctor",
    description = {
      "Checks configuration, Redis version, rights, eviction, persistence, clock, scripts, XREAD.",
      "Makes one flight of its own and removes it again."
    })
final class DoctorCommand implements Callable<Integer> {
  @Mixin private final ConnectionOptions connection = new ConnectionOptions();

  @Option(names = "--json", description = "One JSON object.")
  private boolean json;

  @Spec private CommandSpec spec = CommandSpec.create();

  @Override
  public Integer call() {
    List<Finding> findings = new ArrayList<>();
    boolean usable = true;
    Path file = connection.config();
    String source = file == null ? "the defaults" : file.toString();
    try {
      LoadedConfig loaded = connection.load();
      findings.add(Finding.ok("configuration", source + ", mode " + lower(loaded.config().mode())));
      loaded
          .warnings()
          .forEach(warning -> findings.add(Finding.warning("configuration", source, warning)));
      findings.addAll(RedisProbe.probe(loaded.config()));
    } catch (FlightConfigException e) {
      usable = false;
      findings.add(Finding.fault("configuration", source, String.valueOf(e.getMessage())));
    }
    print(findings);
    boolean healthy = findings.stream().noneMatch(f -> f.state() == Finding.State.FAULT);
    return healthy ? 0 : usable ? 1 : 2;
  }

  private void print(List<Finding> findings) {
    PrintWriter out = spec.commandLine().getOut();
    if (json) {
      ObjectNode report = Json.MAPPER.createObjectNode();
      report.put("ok", findings.stream().noneMatch(f -> f.state() == Finding.State.FAULT));
      ArrayNode checks = report.putArray("checks");
      for (Finding finding : findings) {
        checks
            .addObject()
            .put("check", finding.check())
            .put("state", lower(finding.state()))
            .put("found", finding.found())
            .put("remedy", finding.remedy());
      }
      out.println(Json.line(report));
      return;
    }
    for (Finding finding : findings) {
      out.printf("%-8s %-14s %s%n", lower(finding.state()), finding.check(), finding.found());
      if (!finding.remedy().isEmpty()) {
        finding.remedy().lines().forEach(line -> out.printf("%-8s %-14s %s%n", "", "", line));
      }
    }
  }

  private static String lower(Enum<?> constant) {
    return constant.name().toLowerCase(Locale.ROOT);
  }
}
