package dev.soloflight.internal.policy;

import java.util.function.Function;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Fills in <code>${NAME}</code> and <code>${NAME:default}</code>; a default may hold another one.
 * What comes from the environment is taken as it is, so a value that itself holds a dollar and a
 * brace belongs there.
 */
final class Placeholders {
  private static final Pattern NAME = Pattern.compile("[A-Za-z_][A-Za-z0-9_.-]{0,99}");
  private static final int MAX_DEPTH = 8;

  private Placeholders() {}

  /**
   * @throws BadValueException saying what would be right, without repeating the text
   */
  static String fill(String text, Function<String, @Nullable String> environment) {
    return fill(text, environment, 0);
  }

  private static String fill(
      String text, Function<String, @Nullable String> environment, int depth) {
    if (depth > MAX_DEPTH) {
      throw new BadValueException("placeholders are nested deeper than " + MAX_DEPTH);
    }
    StringBuilder filled = new StringBuilder();
    int done = 0;
    for (int open; (open = text.indexOf("${", done)) >= 0; ) {
      int close = closing(text, open + 2);
      filled
          .append(text, done, open)
          .append(value(text.substring(open + 2, close), environment, depth));
      done = close + 1;
    }
    return filled.append(text, done, text.length()).toString();
  }

  private static String value(
      String inner, Function<String, @Nullable String> environment, int depth) {
    int colon = inner.indexOf(':');
    String name = colon < 0 ? inner : inner.substring(0, colon);
    if (!NAME.matcher(name).matches()) {
      throw new BadValueException(
          "expected ${NAME} or ${NAME:default}, NAME being an environment variable");
    }
    String value = environment.apply(name);
    if (value != null) {
      return value;
    }
    if (colon < 0) {
      throw new BadValueException(
          "the environment variable %s is not set; set it, or give a default: ${%s:default}"
              .formatted(name, name));
    }
    return fill(inner.substring(colon + 1), environment, depth + 1);
  }

  private static int closing(String text, int from) {
    int nested = 0;
    for (int i = from; i < text.length(); i++) {
      if (text.startsWith("${", i)) {
        nested++;
      } else if (text.charAt(i) == '}' && nested-- == 0) {
        return i;
      }
    }
    throw new BadValueException("'${' is not closed by '}'");
  }
}
