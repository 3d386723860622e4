package dev.soloflight.internal.policy;

import dev.soloflight.FlightConfigException;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.Map;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Where a configuration comes from.
 *
 * @param name what messages call it: the file's name
 * @param yaml its text; null: nothing but what is built in
 * @param overrides values by dotted path ({@code stages.interview-followup.result-ttl} -> {@code
 *     2s}) that take the place of the same key's value in the text. Placeholders are not filled in
 *     here: code that knows a password passes it as it is
 * @param environment value of an environment variable, or null
 */
public record ConfigSource(
    String name,
    @Nullable String yaml,
    Map<String, String> overrides,
    Function<String, @Nullable String> environment) {

  public ConfigSource {
    overrides = Map.copyOf(overrides);
  }

  /** What is built in. */
  public static ConfigSource builtIn() {
    return new ConfigSource("configuration", null, Map.of(), System::getenv);
  }

  /** A text. */
  public static ConfigSource text(String name, String yaml) {
    return new ConfigSource(name, yaml, Map.of(), System::getenv);
  }

  /**
   * A file, read at once.
   *
   * @throws FlightConfigException if it is missing, no readable file, too large, or not UTF-8
   */
  public static ConfigSource file(Path file) {
    return text(file.toString(), read(file));
  }

  /** The same with these overrides instead of its own. */
  public ConfigSource withOverrides(Map<String, String> overrides) {
    return new ConfigSource(name, yaml, overrides, environment);
  }

  /** The same with another environment. */
  public ConfigSource withEnvironment(Function<String, @Nullable String> environment) {
    return new ConfigSource(name, yaml, overrides, environment);
  }

  /** Passwords may stand in the text. */
  @Override
  public String toString() {
    return "ConfigSource[" + name + "]";
  }

  private static String read(Path file) {
    if (Files.isDirectory(file)) {
      throw new FlightConfigException(file + " is a directory; expected a YAML file");
    }
    // bounded: the path may name a device or a dump
    int limit = YamlSettings.MAX_CHARS * 4;
    try (InputStream in = Files.newInputStream(file)) {
      byte[] bytes = in.readNBytes(limit + 1);
      if (bytes.length > limit) {
        throw new FlightConfigException(
            file + " is larger than " + limit / 1024 + " KB: this is no configuration");
      }
      return StandardCharsets.UTF_8.newDecoder().decode(ByteBuffer.wrap(bytes)).toString();
    } catch (NoSuchFileException e) {
      throw new FlightConfigException(
          file + " does not exist (looked for it in " + Path.of("").toAbsolutePath() + ")");
    } catch (CharacterCodingException e) {
      throw new FlightConfigException(file + " is not UTF-8; save it in that encoding");
    } catch (IOException e) {
      throw new FlightConfigException(
          file + " cannot be read (" + e.getClass().getSimpleName() + "); check its permissions");
    }
  }
}
