package dev.soloflight.cases;

import static java.util.stream.Collectors.toList;
import static org.assertj.core.api.Assertions.assertThat;

import com.tngtech.archunit.core.domain.JavaMethod;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import java.util.List;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.IntStream;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/**
 * Thirty-five failures of comparable systems, as their users reported them; each is a test here or
 * beside what it is about, with its number in its display name.
 */
class EveryCaseTest {
  private static final Pattern NUMBER = Pattern.compile("^Case (\\d+): .+");

  @Test
  void each_case_is_a_test() {
    List<Integer> numbers =
        new ClassFileImporter()
            .importPackages("dev.soloflight").stream()
                .flatMap(type -> type.getMethods().stream())
                .filter(method -> method.isAnnotatedWith(DisplayName.class))
                .flatMap(EveryCaseTest::numberOf)
                .sorted()
                .collect(toList());
    assertThat(numbers).isEqualTo(IntStream.rangeClosed(1, 35).boxed().toList());
  }

  private static java.util.stream.Stream<Integer> numberOf(JavaMethod method) {
    return NUMBER
        .matcher(method.getAnnotationOfType(DisplayName.class).value())
        .results()
        .map((MatchResult match) -> Integer.valueOf(match.group(1)));
  }
}
