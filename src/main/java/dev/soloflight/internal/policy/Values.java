package dev.soloflight.internal.policy;

import java.math.BigInteger;
import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.util.Arrays;
import java.util.Base64;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/**
 * Text -> value. Each method throws {@link BadValueException} saying what would be right, and never
 * repeats the text.
 */
final class Values {
  /** Longer than any use; keeps sums of milliseconds and nanoseconds far from overflow. */
  private static final Duration LONGEST = Duration.ofDays(365);

  private static final Pattern DURATION = Pattern.compile("(-?)(\\d{1,19}) ?(ms|s|m|h|d|)");
  private static final Pattern SIZE =
      Pattern.compile("(\\d{1,12}) ?([KMG]?B|)", Pattern.CASE_INSENSITIVE);
  private static final Pattern WHOLE = Pattern.compile("-?\\d{1,18}");
  private static final Pattern CLASS_NAME =
      Pattern.compile(
          "(\\p{javaJavaIdentifierStart}\\p{javaJavaIdentifierPart}*\\.)+"
              + "\\p{javaJavaIdentifierStart}\\p{javaJavaIdentifierPart}*");
  private static final Pattern ENCRYPTION_KEY =
      Pattern.compile("([A-Za-z0-9._-]{1,40}):([A-Za-z0-9+/=]{1,100})");
  private static final Map<String, ChronoUnit> UNITS =
      Map.of(
          "ms", ChronoUnit.MILLIS,
          "s", ChronoUnit.SECONDS,
          "m", ChronoUnit.MINUTES,
          "h", ChronoUnit.HOURS,
          "d", ChronoUnit.DAYS);

  private Values() {}

  /** Zero or more. */
  static Duration duration(String text) {
    Matcher matcher = DURATION.matcher(text.trim());
    if (!matcher.matches()) {
      throw bad("expected a duration such as 600ms, 10s, 5m, 1h or 1d");
    }
    long amount =
        new BigInteger(matcher.group(2)).min(BigInteger.valueOf(Long.MAX_VALUE)).longValue();
    ChronoUnit unit = UNITS.get(matcher.group(3));
    if (amount == 0) {
      return Duration.ZERO;
    }
    if (!matcher.group(1).isEmpty()) {
      throw bad("a duration cannot be negative");
    }
    if (unit == null) {
      throw bad("the unit is missing: write " + amount + "ms or " + amount + "s");
    }
    // compared as a count of the unit: turning a huge amount into a Duration would overflow
    if (amount > LONGEST.dividedBy(unit.getDuration())) {
      throw bad("expected at most " + show(LONGEST));
    }
    return Duration.of(amount, unit);
  }

  static Duration positiveDuration(String text) {
    Duration duration = duration(text);
    if (duration.isZero()) {
      throw bad("expected more than 0, for example 10s");
    }
    return duration;
  }

  static Duration durationOrOff(String text) {
    if (text.trim().equals(Keys.OFF)) {
      return Duration.ZERO;
    }
    try {
      return duration(text);
    } catch (BadValueException e) {
      throw bad(e.expected() + ", or off");
    }
  }

  /** The same in the notation that {@link #duration} reads, in the largest unit that fits. */
  static String show(Duration duration) {
    long millis = duration.toMillis();
    for (String unit : new String[] {"d", "h", "m", "s"}) {
      long unitMillis = Duration.of(1, unitOf(unit)).toMillis();
      if (millis >= unitMillis && millis % unitMillis == 0) {
        return millis / unitMillis + unit;
      }
    }
    return millis == 0 ? "0s" : millis + "ms";
  }

  static int size(String text, int min, int max) {
    Matcher matcher = SIZE.matcher(text.trim());
    if (!matcher.matches()) {
      throw bad("expected a size such as 4096, 4KB or 8MB");
    }
    int shift =
        switch (matcher.group(2).toUpperCase(Locale.ROOT)) {
          case "KB" -> 10;
          case "MB" -> 20;
          case "GB" -> 30;
          default -> 0;
        };
    return inRange(Long.parseLong(matcher.group(1)) << shift, min, max);
  }

  static int whole(String text, int min, int max) {
    String trimmed = text.trim();
    if (!WHOLE.matcher(trimmed).matches()) {
      throw bad("expected a whole number");
    }
    return inRange(Long.parseLong(trimmed), min, max);
  }

  static int wholeOrOff(String text, int max) {
    if (text.trim().equals(Keys.OFF)) {
      return 0;
    }
    try {
      return whole(text, 0, max);
    } catch (BadValueException e) {
      throw bad(e.expected() + ", or off");
    }
  }

  static int percent(String text) {
    String trimmed = text.trim();
    try {
      return whole(
          trimmed.endsWith("%") ? trimmed.substring(0, trimmed.length() - 1) : trimmed, 1, 100);
    } catch (BadValueException e) {
      throw bad("expected a percentage from 1 to 100");
    }
  }

  static boolean bool(String text) {
    return switch (text.trim().toLowerCase(Locale.ROOT)) {
      case "true" -> true;
      case "false" -> false;
      default -> throw bad("expected true or false");
    };
  }

  static <E extends Enum<E>> E oneOf(Class<E> type, String text) {
    E[] constants = type.getEnumConstants();
    return Arrays.stream(constants)
        .filter(constant -> constant.name().equalsIgnoreCase(text.trim()))
        .findFirst()
        .orElseThrow(
            () ->
                bad(
                    Arrays.stream(constants)
                        .map(constant -> constant.name().toLowerCase(Locale.ROOT))
                        .collect(Collectors.joining(", ", "expected one of ", ""))));
  }

  /** Characters that neither end the braces of a Cluster hash tag nor separate parts of a key. */
  static String name(String text, boolean colons) {
    String trimmed = text.trim();
    if (!trimmed.matches(colons ? "[A-Za-z0-9._:-]{1,100}" : "[A-Za-z0-9._-]{1,100}")) {
      throw bad(
          "expected 1 to 100 letters, digits, dots, underscores"
              + (colons ? ", dashes or colons" : " or dashes"));
    }
    return trimmed;
  }

  /** Comma-separated names of classes. */
  static Set<String> classNames(String text) {
    Set<String> names = new LinkedHashSet<>();
    for (String part : text.split(",", -1)) {
      String name = part.trim();
      if (name.isEmpty()) {
        continue;
      }
      if (name.length() > 500 || !CLASS_NAME.matcher(name).matches()) {
        throw bad("expected full class names such as java.io.IOException");
      }
      names.add(name);
    }
    return names;
  }

  /** Comma-separated {@code id:secret}, the secret 32 bytes in Base64. */
  static List<EncryptionKey> encryptionKeys(String text) {
    Map<String, EncryptionKey> keys = new LinkedHashMap<>();
    for (String part : text.split(",", -1)) {
      if (part.isBlank()) {
        continue;
      }
      Matcher matcher = ENCRYPTION_KEY.matcher(part.trim());
      if (!matcher.matches()) {
        throw bad(
            "expected id:secret, newest first; the id 1 to 40 letters, digits, dots, underscores or"
                + " dashes, the secret 32 bytes in Base64 (openssl rand -base64 32)");
      }
      byte[] secret = secret(matcher.group(2));
      if (keys.put(matcher.group(1), new EncryptionKey(matcher.group(1), secret)) != null) {
        throw bad("expected another id for each key; " + matcher.group(1) + " stands there twice");
      }
    }
    return List.copyOf(keys.values());
  }

  private static byte[] secret(String base64) {
    byte[] secret;
    try {
      secret = Base64.getDecoder().decode(base64);
    } catch (IllegalArgumentException e) {
      throw bad("a secret is no Base64; expected 32 bytes (openssl rand -base64 32)");
    }
    if (secret.length != 32) {
      throw bad("a secret has " + secret.length + " bytes; expected 32 (openssl rand -base64 32)");
    }
    return secret;
  }

  private static ChronoUnit unitOf(String unit) {
    return UNITS.getOrDefault(unit, ChronoUnit.MILLIS);
  }

  private static int inRange(long value, int min, int max) {
    if (value < min || value > max) {
      throw bad("expected " + min + " to " + max);
    }
    return (int) value;
  }

  private static BadValueException bad(String expected) {
    return new BadValueException(expected);
  }
}
