package dev.soloflight.support;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Arrays;
import org.junit.jupiter.api.Test;

class NodeProcessTest {
  private static final Duration PATIENCE = Duration.ofSeconds(30);

  /** A node that says what it was given, then answers what it is told until it is told to exit. */
  static final class Echo {
    private Echo() {}

    public static void main(String[] args) throws IOException {
      System.out.println("ready " + Arrays.toString(args) + " " + System.getenv("ECHO_ENV"));
      System.err.println("a log line");
      BufferedReader in =
          new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
      for (String line = in.readLine(); line != null; line = in.readLine()) {
        if (line.startsWith("exit")) {
          System.exit(7);
        }
        System.out.println(line + " at " + System.currentTimeMillis());
      }
    }
  }

  @Test
  void takes_arguments_and_lines_and_gives_lines_and_an_exit_code() {
    try (NodeProcess node =
        NodeProcess.of(Echo.class).args("a", "b c").env("ECHO_ENV", "from-env").start()) {
      assertThat(node.awaitLine("^ready", PATIENCE)).isEqualTo("ready [a, b c] from-env");
      node.send("hello");
      assertThat(node.awaitLine(line -> line.startsWith("hello"), PATIENCE)).contains(" at ");
      assertThat(node.exitCode()).isEmpty();

      node.send("exit");

      assertThat(node.awaitExit(PATIENCE)).isEqualTo(7);
      assertThat(node.exitCode()).hasValue(7);
      assertThat(node.lines()).hasSize(2);
    }
  }

  @Test
  void a_node_that_ends_early_fails_the_wait_at_once_and_shows_its_output() {
    try (NodeProcess node = NodeProcess.of(Echo.class).start()) {
      node.awaitLine("^ready", PATIENCE);
      node.send("exit");
      assertThatThrownBy(() -> node.awaitLine("never", Duration.ofHours(1)))
          .isInstanceOf(AssertionError.class)
          .hasMessageContaining("Echo ended without /never/")
          .hasMessageContaining("ready [] null");
    }
  }

  @Test
  void says_nothing_while_paused_goes_on_when_resumed_and_dies_when_killed() {
    try (NodeProcess node = NodeProcess.of(Echo.class).start()) {
      node.awaitLine("^ready", PATIENCE);
      node.pause();
      node.send("anybody there");
      assertThatThrownBy(() -> node.awaitLine("^anybody", Duration.ofMillis(300)))
          .isInstanceOf(AssertionError.class);
      assertThat(node.isAlive()).isTrue();

      node.resume();
      node.awaitLine("^anybody", PATIENCE);

      node.pause();
      node.kill9();
      assertThat(node.exitCode()).hasValue(128 + 9);
    }
  }

  @Test
  void a_clock_offset_moves_the_wall_clock_of_the_node() {
    assumeTrue(NodeProcess.faketimeAvailable(), "libfaketime is not installed");
    try (NodeProcess node =
        NodeProcess.of(Echo.class).clockOffset(Duration.ofMinutes(-10)).start()) {
      node.send("clock");
      String line = node.awaitLine("^clock", PATIENCE);
      long nodeMillis = Long.parseLong(line.substring(line.lastIndexOf(' ') + 1));
      assertThat(Duration.ofMillis(System.currentTimeMillis() - nodeMillis))
          .isBetween(Duration.ofMinutes(10).minusSeconds(1), Duration.ofMinutes(11));
    }
  }
}
