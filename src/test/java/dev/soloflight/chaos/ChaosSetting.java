package dev.soloflight.chaos;

import java.nio.file.Path;
import java.util.Locale;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * What a run is to be like.
 *
 * @param only the kinds of fault to choose from; empty: all
 */
record ChaosSetting(
    long seed, int seconds, String topology, String mode, Set<FaultKind> only, Path directory) {
  private static final long DEFAULT_SEED = 20_240_607;

  /**
   * From {@code -Dchaos.seed}, {@code -Dchaos.seconds}, {@code -Dchaos.topology}, {@code
   * -Dchaos.mode} and {@code -Dchaos.only} (kinds of fault, separated by commas, or {@code none}).
   */
  static ChaosSetting fromSystemProperties() {
    long seed = Long.getLong("chaos.seed", DEFAULT_SEED);
    String topology = System.getProperty("chaos.topology", "standalone");
    String mode = System.getProperty("chaos.mode", "hybrid");
    return new ChaosSetting(
        seed,
        Integer.getInteger("chaos.seconds", 60),
        topology,
        mode,
        kinds(System.getProperty("chaos.only", "")),
        Path.of("target", "chaos", topology + "-" + mode + "-" + seed).toAbsolutePath());
  }

  private static Set<FaultKind> kinds(String names) {
    if (names.equals("none")) {
      return Set.of(FaultKind.STALL); // Is never chosen.
    }
    return Stream.of(names.split(",", -1))
        .filter(name -> !name.isBlank())
        .map(name -> FaultKind.valueOf(name.trim().toUpperCase(Locale.ROOT)))
        .collect(Collectors.toUnmodifiableSet());
  }

  boolean has(FaultKind kind) {
    return only.isEmpty() || only.contains(kind);
  }

  /** The command that makes the same choices again. */
  String command() {
    return "mvn verify -Pchaos -Dchaos.seed="
        + seed
        + " -Dchaos.seconds="
        + seconds
        + " -Dchaos.topology="
        + topology
        + " -Dchaos.mode="
        + mode;
  }
}
