package dev.soloflight.internal.policy;

import java.util.List;

/**
 * What loading gives.
 *
 * @param config validated
 * @param warnings what can work but is hardly meant; each names its keys, values and lines
 */
public record LoadedConfig(SoloFlightConfig config, List<String> warnings) {
  public LoadedConfig {
    warnings = List.copyOf(warnings);
  }
}
