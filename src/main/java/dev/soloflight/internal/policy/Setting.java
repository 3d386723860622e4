package dev.soloflight.internal.policy;

import org.jspecify.annotations.Nullable;

/**
 * One value as it was written, and where.
 *
 * @param path the key as its author spelled it
 * @param text the value; null if it could not be read, which has been reported
 * @param line the line it stands in, or {@link #BUILT_IN} or {@link #IN_CODE}
 */
record Setting(String path, @Nullable String text, int line) {
  static final int BUILT_IN = 0;
  static final int IN_CODE = Integer.MAX_VALUE;

  private static final int SHOWN_CHARS = 80;

  static String where(int line) {
    return switch (line) {
      case BUILT_IN -> "default";
      case IN_CODE -> "set in code";
      default -> "line " + line;
    };
  }

  /** Path, value and place, for a sentence about two settings. */
  String inFull() {
    return path + " = " + shown() + " (" + where(line) + ")";
  }

  /** The value, fit to be printed: short, on one line, without credentials. */
  String shown() {
    if (text == null) {
      return "?";
    }
    if (path.endsWith(Keys.ENCRYPTION_KEYS)) {
      return "***";
    }
    return path.endsWith("redis.uri") ? printable(RedisUris.redact(text)) : printable(text);
  }

  static String printable(String text) {
    String shown = text.length() > SHOWN_CHARS ? text.substring(0, SHOWN_CHARS) + "..." : text;
    return shown.isBlank() ? "'" + shown + "'" : shown.replaceAll("[\\p{Cc}\\p{Cf}]", "?");
  }
}
