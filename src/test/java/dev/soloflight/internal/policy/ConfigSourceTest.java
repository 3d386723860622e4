package dev.soloflight.internal.policy;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.soloflight.FlightConfigException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ConfigSourceTest {
  @TempDir Path dir;

  @Test
  void a_file_is_read_as_utf_8_and_messages_carry_its_name() throws Exception {
    Path file = dir.resolve("a.yml");
    Files.writeString(file, "# Größe 大小\nmode: x\n");

    assertThatThrownBy(() -> ConfigLoader.load(ConfigSource.file(file)))
        .hasMessageStartingWith(file + " has a fault:\n  line 2: mode = x");
  }

  @Test
  void a_missing_file_is_named_with_where_it_was_looked_for() {
    assertRefused(Path.of("no/such.yml"), "no/such.yml does not exist (looked for it in /");
  }

  @Test
  void a_directory_is_refused() {
    assertRefused(dir, dir + " is a directory; expected a YAML file");
  }

  @Test
  void text_that_is_not_utf_8_is_refused() throws Exception {
    Path latin = dir.resolve("latin.yml");
    Files.write(latin, "namespace: Größe".getBytes(StandardCharsets.ISO_8859_1));
    Path utf16 = dir.resolve("utf16.yml");
    Files.write(utf16, "mode: local".getBytes(StandardCharsets.UTF_16));

    assertRefused(latin, latin + " is not UTF-8");
    assertRefused(utf16, utf16 + " is not UTF-8");
  }

  @Test
  void a_huge_file_is_refused_without_being_read_to_its_end() {
    assertRefused(Path.of("/dev/zero"), "/dev/zero is larger than 1024 KB");
  }

  @Test
  void a_file_below_something_that_is_no_directory_is_refused() throws Exception {
    Path file = Files.writeString(dir.resolve("plain"), "");

    assertRefused(file.resolve("a.yml"), "cannot be read (FileSystemException)");
  }

  @Test
  void the_environment_of_the_process_is_the_default() {
    String name =
        System.getenv().keySet().stream()
            .filter(key -> key.matches("[A-Z_]+"))
            .findFirst()
            .orElseThrow();

    assertThat(ConfigSource.builtIn().environment().apply(name)).isEqualTo(System.getenv(name));
  }

  private static void assertRefused(Path file, String message) {
    assertThatThrownBy(() -> ConfigSource.file(file))
        .isInstanceOf(FlightConfigException.class)
        .hasNoCause()
        .hasMessageContaining(message);
  }
}
