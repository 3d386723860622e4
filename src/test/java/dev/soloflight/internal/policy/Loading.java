package dev.soloflight.internal.policy;

import static org.assertj.core.api.Assertions.catchThrowableOfType;

import dev.soloflight.FlightConfigException;
import java.util.Arrays;
import java.util.List;
import java.util.Map;

/** What the tests of this package load with. */
final class Loading {
  static final String NAME = "test.yml";

  private Loading() {}

  static LoadedConfig load(String yaml) {
    return load(yaml, Map.of());
  }

  static LoadedConfig load(String yaml, Map<String, String> overrides) {
    return ConfigLoader.load(
        ConfigSource.text(NAME, yaml).withOverrides(overrides).withEnvironment(name -> null));
  }

  static LoadedConfig load(Map<String, String> overrides) {
    return ConfigLoader.load(ConfigSource.builtIn().withOverrides(overrides));
  }

  static StagePolicy stage(String name, String yaml) {
    return load(yaml).config().stage(name);
  }

  /** The faults that loading reports, one by one. */
  static List<String> faults(String yaml) {
    return faults(yaml, Map.of());
  }

  static List<String> faults(String yaml, Map<String, String> overrides) {
    String message = message(yaml, overrides);
    return Arrays.stream(message.split("\n", -1)).skip(1).map(String::strip).toList();
  }

  static String message(String yaml) {
    return message(yaml, Map.of());
  }

  static String message(String yaml, Map<String, String> overrides) {
    return String.valueOf(
        catchThrowableOfType(FlightConfigException.class, () -> load(yaml, overrides))
            .getMessage());
  }
}
