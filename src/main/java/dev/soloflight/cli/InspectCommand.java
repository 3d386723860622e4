package dev.soloflight.cli;

import com.fasterxml.jackson.databind.JsonNode;
import dev.soloflight.FlightKey;
import dev.soloflight.FlightView;
import dev.soloflight.SoloFlight;
import java.io.PrintWriter;
import java.util.Optional;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** One record, without its payload. */
@Command(name = "inspect", description = "One flight's record, without its payload.")
final class InspectCommand implements Callable<Integer> {
  @Mixin private final ConnectionOptions connection = new ConnectionOptions();

  @Mixin private final FlightParameter flight = new FlightParameter();

  @Option(names = "--json", description = "One JSON object; null where there is no record.")
  private boolean json;

  @Spec private CommandSpec spec = CommandSpec.create();

  @Override
  public Integer call() {
    PrintWriter out = spec.commandLine().getOut();
    FlightKey asked = flight.key();
    Optional<FlightView> view;
    try (SoloFlight soloFlight = connection.open()) {
      view = soloFlight.inspect(asked);
    }
    if (json) {
      out.println(view.map(Json::of).map(Json::line).orElse("null"));
    } else if (view.isEmpty()) {
      out.println(asked + " has no record: never asked for, or its time to live is over.");
    } else {
      Table table = new Table().row("flight", asked.id());
      for (var field : Json.of(view.get()).properties()) {
        JsonNode value = field.getValue();
        if (!value.isNull() && !field.getKey().equals("flight")) {
          table.row(field.getKey(), value.asText());
        }
      }
      table.lines().forEach(out::println);
    }
    return view.isPresent() ? 0 : 1;
  }
}
