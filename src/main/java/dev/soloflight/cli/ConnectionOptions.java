package dev.soloflight.cli;

import dev.soloflight.FlightMode;
import dev.soloflight.SoloFlight;
import dev.soloflight.internal.policy.ConfigLoader;
import dev.soloflight.internal.policy.ConfigSource;
import dev.soloflight.internal.policy.LoadedConfig;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** Which Redis, and whose flights: what a command shares with the service it looks at. */
final class ConnectionOptions {
  private static final String URI_VARIABLE = "SOLOFLIGHT_REDIS_URI";

  @Option(
      names = "--config",
      paramLabel = "FILE",
      description = "The service's soloflight.yml. Without it: the defaults.")
  private @Nullable Path config;

  @Option(
      names = "--redis",
      paramLabel = "URI",
      description = {
        "redis://, rediss:// or redis-sentinel://; several seeds of a Cluster with commas.",
        "Without it: the file's redis.uri, else " + URI_VARIABLE + ", else redis://127.0.0.1:6379."
      })
  private @Nullable String redis;

  @Option(
      names = "--namespace",
      paramLabel = "NAME",
      description = "Whose flights. Without it: the file's namespace, else default.")
  private @Nullable String namespace;

  @Nullable Path config() {
    return config;
  }

  /** What was given, as settings that override the file's. */
  Map<String, String> overrides() {
    Map<String, String> overrides = new LinkedHashMap<>();
    String fromEnvironment = System.getenv(URI_VARIABLE);
    if (redis != null) {
      overrides.put("redis.uri", redis);
    } else if (config == null && fromEnvironment != null && !fromEnvironment.isBlank()) {
      overrides.put("redis.uri", fromEnvironment);
    }
    if (namespace != null) {
      overrides.put("namespace", namespace);
    }
    return overrides;
  }

  /** The settings, checked. */
  LoadedConfig load() {
    return load(config, overrides());
  }

  /** The settings of a file, or the defaults without one, under these overrides; checked. */
  static LoadedConfig load(@Nullable Path config, Map<String, String> overrides) {
    return ConfigLoader.load(
        (config == null ? ConfigSource.builtIn() : ConfigSource.file(config))
            .withOverrides(overrides));
  }

  /** An instance that asks Redis or fails: what it cannot see it does not guess. */
  SoloFlight open() {
    SoloFlight.Builder builder = SoloFlight.builder();
    if (config != null) {
      builder.config(config);
    }
    overrides().forEach(builder::set);
    return builder.set("distributed-enabled", "true").mode(FlightMode.DISTRIBUTED).build();
  }
}
