package dev.soloflight.cli;

import dev.soloflight.FlightKey;
import dev.soloflight.SoloFlight;
import java.io.PrintWriter;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** Drops one flight. */
@Command(
    name = "forget",
    description = {
      "Drops one flight: the next caller, anywhere, executes anew.",
      "A node's L1 cache keeps what it has for its l1.ttl; an execution at work ends for its own"
          + " callers alone."
    })
final class ForgetCommand implements Callable<Integer> {
  @Mixin private final ConnectionOptions connection = new ConnectionOptions();

  @Mixin private final FlightParameter flight = new FlightParameter();

  @Option(names = "--json", description = "One JSON object.")
  private boolean json;

  @Spec private CommandSpec spec = CommandSpec.create();

  @Override
  public Integer call() {
    PrintWriter out = spec.commandLine().getOut();
    FlightKey asked = flight.key();
    boolean forgotten;
    try (SoloFlight soloFlight = connection.open()) {
      forgotten = soloFlight.forget(asked);
    }
    if (json) {
      out.println(
          Json.MAPPER.createObjectNode().put("flight", asked.id()).put("forgotten", forgotten));
    } else {
      out.println(
          forgotten
              ? asked + " is forgotten; the next caller executes anew."
              : asked + " had no record; nothing to forget.");
    }
    return 0;
  }
}
