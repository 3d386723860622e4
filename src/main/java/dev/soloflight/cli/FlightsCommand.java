package dev.soloflight.cli;

import dev.soloflight.FlightKey;
import dev.soloflight.FlightView;
import dev.soloflight.internal.policy.SoloFlightConfig;
import dev.soloflight.internal.store.Flights;
import java.io.PrintWriter;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** What is in the air, and what can still be replayed. */
@Command(name = "flights", description = "What is in the air, and what can still be replayed.")
final class FlightsCommand implements Callable<Integer> {
  @Mixin private final ConnectionOptions connection = new ConnectionOptions();

  @Option(
      names = "--limit",
      paramLabel = "N",
      defaultValue = "100",
      description = "How many at most (default ${DEFAULT-VALUE}).")
  private int limit;

  @Option(names = "--json", description = "One JSON array.")
  private boolean json;

  @Spec private CommandSpec spec = CommandSpec.create();

  @Override
  public Integer call() {
    if (limit < 1) {
      throw CliException.usage("--limit is " + limit + "; expected 1 or more");
    }
    SoloFlightConfig config = connection.load().config();
    List<FlightView> views = Flights.list(config, limit);
    PrintWriter out = spec.commandLine().getOut();
    if (json) {
      out.println(Json.line(views.stream().map(Json::of).toList()));
      return 0;
    }
    if (views.isEmpty()) {
      out.println(
          "No flight in namespace " + config.namespace() + ", prefix " + config.prefix() + ".");
      return 0;
    }
    Table table =
        new Table().row("flight", "status", "attempt", "waiting nodes", "ttl left", "owner");
    for (FlightView view : views) {
      FlightKey key = view.key();
      table.row(
          key.id(),
          view.status().toLowerCase(Locale.ROOT),
          view.attempt(),
          view.waitingNodes(),
          view.ttl().toSeconds() + " s",
          view.ownerId());
    }
    table.lines().forEach(out::println);
    if (views.size() == limit) {
      out.println("There may be more: --limit");
    }
    return 0;
  }
}
