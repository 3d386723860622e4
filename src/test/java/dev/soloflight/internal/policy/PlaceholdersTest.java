package dev.soloflight.internal.policy;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class PlaceholdersTest {
  private static final Map<String, String> ENVIRONMENT =
      Map.of("HOST", "cache", "EMPTY", "", "ODD", "a${HOST}b}");

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      emptyValue = "",
      value = {
        "plain                        | plain",
        "$HOST {HOST}                 | $HOST {HOST}",
        "${HOST}                      | cache",
        "redis://${HOST}:${PORT:6379} | redis://cache:6379",
        "${URI:redis://h:1/0}         | redis://h:1/0",
        "${A:${B:${HOST}}}            | cache",
        "${HOST:${NOT_SET}}           | cache",
        "a${A:}b                      | ab",
        "a${EMPTY:x}b                 | ab",
        "${ODD}                       | a${HOST}b}",
      })
  void are_filled_in(String text, String expected) {
    assertThat(Placeholders.fill(text, ENVIRONMENT::get)).isEqualTo(expected);
  }

  @ParameterizedTest
  @ValueSource(strings = {"${", "a${HOST", "${A:${HOST}", "${}", "${:x}", "${A B}", "${1}", "${A}"})
  void what_cannot_be_filled_in_is_refused(String text) {
    assertThatThrownBy(() -> Placeholders.fill(text, ENVIRONMENT::get))
        .isInstanceOf(BadValueException.class);
  }

  @Test
  void nesting_has_an_end() {
    String deep = "${A:".repeat(1000) + "x" + "}".repeat(1000);

    assertThatThrownBy(() -> Placeholders.fill(deep, ENVIRONMENT::get))
        .hasMessageContaining("nested deeper than 8");
  }
}
