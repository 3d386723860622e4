package dev.soloflight.internal.policy;

import static dev.soloflight.internal.policy.Loading.faults;
import static dev.soloflight.internal.policy.Loading.message;
import static org.assertj.core.api.Assertions.assertThat;

import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class HostileYamlTest {
  @ParameterizedTest
  @ValueSource(
      strings = {
        "mode: !!javax.script.ScriptEngineManager [!!java.net.URLClassLoader [[]]]",
        "mode: !!dev.soloflight.FlightMode local",
        "mode: !mine local",
        "stages: !mine {a: {result-ttl: 1m}}",
        "defaults: {retry-on: [!mine a.B]}",
        "mode: !h!mine local",
      })
  void a_tag_is_refused(String yaml) {
    assertThat(faults(yaml))
        .singleElement()
        .asString()
        .startsWith("line 1: ")
        .contains("a tag (! or !! before a value) is not allowed");
  }

  @Test
  void an_alias_bomb_is_refused() {
    String bomb =
        "a0: &a0 [x]\n"
            + IntStream.range(1, 10)
                .mapToObj(
                    i -> "a%d: &a%d [%s]\n".formatted(i, i, "*a%d,".formatted(i - 1).repeat(9)))
                .collect(Collectors.joining());

    assertThat(message(bomb))
        .isEqualTo(
            "test.yml has a fault:\n  expected YAML with at most 50 aliases of blocks and 50 levels");
  }

  @ParameterizedTest
  @ValueSource(strings = {"[", "{a: ", "- ", "? "})
  void deep_nesting_is_refused(String level) {
    assertThat(message(level.repeat(20_000)))
        .contains("at most 50 aliases of blocks and 50 levels");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "stages: &s\n  a: *s\n",
        "stages: &s\n  stages: *s\n",
        "defaults: &d\n  guard: *d\n",
        "soloflight: &s\n  soloflight: *s\n",
        "xunzhi-agent: &s\n  ai-singleflight: {stage-policies: *s}\n",
      })
  void a_block_that_holds_itself_ends_in_a_fault(String yaml) {
    assertThat(message(yaml)).startsWith("test.yml has ");
  }

  @Test
  void too_much_text_is_refused_before_it_is_parsed() {
    assertThat(message("a: 1\n".repeat(2_000_000)))
        .isEqualTo("test.yml has a fault:\n  more than 256 KB: this is no configuration");
  }

  @Test
  void a_large_file_of_unknown_keys_ends_in_a_short_report() {
    String yaml =
        IntStream.range(0, 15_000)
            .mapToObj(i -> "result-tl" + i + ": 1s\n")
            .collect(Collectors.joining());

    assertThat(message(yaml).length()).isLessThan(20_000);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "mode",
        "namespace",
        "redis.uri",
        "redis.command-timeout",
        "l1.ttl",
        "max-result-bytes",
        "follower-max-wait"
      })
  void an_endless_value_is_refused_in_a_short_message(String key) {
    for (String piece : new String[] {"a", "a.", "1", "redis://a,", "${A:", "${A:}", "\u202e"}) {
      String value = piece.repeat(100_000 / piece.length());

      assertThat(message("", Map.of(key, value)).length()).isLessThan(500);
      assertThat(message(key + ": '" + value + "'").length()).isLessThan(500);
    }
  }

  @Test
  void an_endless_class_name_is_refused() {
    assertThat(faults("defaults: {retry-on: " + "a.".repeat(50_000) + "B}"))
        .singleElement()
        .asString()
        .contains("expected full class names")
        .hasSizeLessThan(500);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "mode: a: b                 | line 1: no valid YAML: mapping values are not allowed here",
        "mode: 'local               | no valid YAML: found unexpected end of stream",
        "mode: *nothing             | refers to no anchor",
        "mode: [local               | no valid YAML",
      })
  void what_is_no_yaml_is_refused_with_the_line(String yaml, String expected) {
    assertThat(faults(yaml)).singleElement().asString().contains(expected);
  }

  @Test
  void tabs_controls_and_second_documents_are_refused_with_the_line() {
    assertThat(faults("redis:\n\turi: x")).singleElement().asString().contains("line 2: ", "TAB");
    assertThat(faults("a: 1\nb: \u0000"))
        .containsExactly("line 2: the character U+0000 is not allowed in YAML");
    assertThat(faults("mode: local\n---\nmode: hybrid"))
        .singleElement()
        .asString()
        .contains("a second document (---) begins here");
  }

  @Test
  void control_characters_do_not_reach_the_message() {
    assertThat(message("mode: \"a\\e[31m\\nb\\u202e\"")).contains("mode = a?[31m?b?: expected");
    assertThat(message("\"mo\\nde\": x")).contains("line 1: mo?de: unknown key");
  }

  @Test
  void a_byte_order_mark_is_no_fault() {
    assertThat(Loading.load("\uFEFFnamespace: a").config().namespace()).isEqualTo("a");
  }
}
