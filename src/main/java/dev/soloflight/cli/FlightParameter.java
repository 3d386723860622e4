package dev.soloflight.cli;

import dev.soloflight.FlightKey;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Parameters;

/** The flight that a command is about. */
final class FlightParameter {
  @Parameters(
      paramLabel = "KEY",
      converter = FlightKeyConverter.class,
      description = "STAGE:DIGEST, as logs, errors and 'flights' print it.")
  private @Nullable FlightKey key;

  FlightKey key() {
    return Objects.requireNonNull(key, "picocli requires it");
  }
}
