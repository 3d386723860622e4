package dev.soloflight;

import java.math.BigDecimal;
import java.math.BigInteger;
import java.net.URI;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.time.temporal.Temporal;
import java.time.temporal.TemporalAmount;
import java.util.Collection;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import java.util.UUID;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Identifies one flight: a stage and everything that makes two requests the same request.
 *
 * <p>A value: two keys are equal when stage and parts are equal, in the same order, in any JVM.
 * Only the SHA-256 digest of the parts is kept (DESIGN 3.1), so a key holds no prompt text, in
 * memory or in Redis. Parts are length-prefixed and carry their kind: {@code ("a|b", "c")} and
 * {@code ("a", "b|c")} differ, and so do {@code 1} and {@code "1"}. Immutable and safe to share.
 */
public final class FlightKey {
  private static final Pattern STAGE = Pattern.compile("[A-Za-z0-9][A-Za-z0-9._-]{0,99}");
  private static final Pattern ID = Pattern.compile("(.+):([0-9a-f]{64})");
  private static final int MAX_DEPTH = 32;

  private final String stage;
  private final long d0;
  private final long d1;
  private final long d2;
  private final long d3;

  private FlightKey(String stage, byte[] digest) {
    this.stage = stage;
    ByteBuffer longs = ByteBuffer.wrap(digest);
    this.d0 = longs.getLong();
    this.d1 = longs.getLong();
    this.d2 = longs.getLong();
    this.d3 = longs.getLong();
  }

  /**
   * Builds the key of a flight.
   *
   * @param stage the kind of call, for example {@code interview-evaluation}: letters, digits, dot,
   *     underscore and dash, at most 100 characters
   * @param parts everything that changes the answer; at least one. Strings, numbers, booleans,
   *     characters, enums, UUIDs, {@code java.time} values, URIs and byte arrays, and lists, sets
   *     and maps of these (a map and a set by content, whatever their order)
   * @throws NullPointerException if stage or a part, at any depth, is null
   * @throws IllegalArgumentException if the stage is not a legal name, if there is no part, or if a
   *     part is of a type whose text is not known to be the same in every JVM
   */
  public static FlightKey of(String stage, Object... parts) {
    checkStage(stage);
    Objects.requireNonNull(parts, "parts");
    if (parts.length == 0) {
      throw new IllegalArgumentException(
          "stage "
              + stage
              + ": a flight key needs at least one part that tells its requests apart");
    }
    MessageDigest sha = sha256();
    for (int i = 0; i < parts.length; i++) {
      digest(sha, parts[i], stage, i, 0);
    }
    return new FlightKey(stage, sha.digest());
  }

  /**
   * Reads back what {@link #id()} wrote, as the command line prints it.
   *
   * @throws IllegalArgumentException if it is not {@code stage:digest}
   */
  public static FlightKey parse(String id) {
    var matcher = ID.matcher(id);
    if (!matcher.matches() || !STAGE.matcher(matcher.group(1)).matches()) {
      throw new IllegalArgumentException(
          "'" + id + "' is no flight: expected STAGE:DIGEST, the digest in 64 hex digits");
    }
    return new FlightKey(matcher.group(1), HexFormat.of().parseHex(matcher.group(2)));
  }

  /** The stage this flight belongs to. */
  public String stage() {
    return stage;
  }

  /** SHA-256 over the key's parts, 64 hex digits. */
  public String digest() {
    byte[] bytes = ByteBuffer.allocate(32).putLong(d0).putLong(d1).putLong(d2).putLong(d3).array();
    return HexFormat.of().formatHex(bytes);
  }

  /** {@code stage:digest}: names this flight in logs, errors and on the command line. */
  public String id() {
    return stage + ":" + digest();
  }

  @Override
  public boolean equals(@Nullable Object other) {
    return other instanceof FlightKey key
        && d0 == key.d0
        && d1 == key.d1
        && d2 == key.d2
        && d3 == key.d3
        && stage.equals(key.stage);
  }

  @Override
  public int hashCode() {
    return (int) (d0 ^ (d0 >>> 32)) * 31 + stage.hashCode();
  }

  @Override
  public String toString() {
    return id();
  }

  private static void checkStage(String stage) {
    Objects.requireNonNull(stage, "stage");
    if (!STAGE.matcher(stage).matches()) {
      throw new IllegalArgumentException(
          "'"
              + stage
              + "' is no stage name: expected 1 to 100 letters, digits, dots, underscores or dashes");
    }
  }

  private static void digest(
      MessageDigest sha, @Nullable Object part, String stage, int index, int depth) {
    if (part == null) {
      throw new NullPointerException(
          "stage " + stage + ": key part " + index + " is null; leave it out or name a value");
    }
    if (depth > MAX_DEPTH) {
      throw new IllegalArgumentException(
          "stage " + stage + ": key part " + index + " is nested deeper than " + MAX_DEPTH);
    }
    if (part instanceof byte[] bytes) {
      put(sha, 'b', bytes);
    } else if (part instanceof Map<?, ?> map) {
      TreeMap<String, Object> sorted = new TreeMap<>();
      map.forEach(
          (k, v) -> sorted.put(nestedDigest(k, stage, index, depth), pair(k, v, stage, index)));
      open(sha, 'm', sorted.size());
      sorted.values().forEach(v -> digest(sha, v, stage, index, depth + 1));
    } else if (part instanceof java.util.Set<?> set) {
      List<String> sorted =
          set.stream().map(e -> nestedDigest(e, stage, index, depth)).sorted().toList();
      open(sha, 'u', sorted.size());
      sorted.forEach(e -> put(sha, 'h', utf8(e)));
    } else if (part instanceof Collection<?> list) {
      open(sha, 'l', list.size());
      list.forEach(e -> digest(sha, e, stage, index, depth + 1));
    } else if (part instanceof Object[] array) {
      digest(sha, java.util.Arrays.asList(array), stage, index, depth);
    } else {
      put(sha, kind(part, stage, index), utf8(text(part)));
    }
  }

  private static List<Object> pair(Object key, @Nullable Object value, String stage, int index) {
    if (value == null) {
      throw new NullPointerException(
          "stage " + stage + ": key part " + index + " maps " + key + " to null; leave it out");
    }
    return List.of(key, value);
  }

  private static String nestedDigest(@Nullable Object part, String stage, int index, int depth) {
    MessageDigest sha = sha256();
    digest(sha, part, stage, index, depth + 1);
    return HexFormat.of().formatHex(sha.digest());
  }

  private static char kind(Object part, String stage, int index) {
    if (part instanceof CharSequence || part instanceof Character) {
      return 's';
    }
    if (part instanceof Long
        || part instanceof Integer
        || part instanceof Short
        || part instanceof Byte
        || part instanceof BigInteger) {
      return 'i';
    }
    if (part instanceof Double || part instanceof Float || part instanceof BigDecimal) {
      return 'd';
    }
    if (part instanceof Boolean) {
      return 'z';
    }
    if (part instanceof Enum<?>) {
      return 'e';
    }
    if (part instanceof UUID
        || part instanceof URI
        || part instanceof Temporal
        || part instanceof TemporalAmount) {
      return 't';
    }
    throw new IllegalArgumentException(
        "stage "
            + stage
            + ": key part "
            + index
            + " is a "
            + part.getClass().getName()
            + ", whose text need not be the same in every JVM; pass its identifying fields instead"
            + " (strings, numbers, booleans, enums, UUIDs, java.time values, byte arrays, lists,"
            + " sets, maps)");
  }

  private static String text(Object part) {
    return part instanceof Enum<?> constant ? constant.name() : part.toString();
  }

  private static byte[] utf8(String text) {
    return text.getBytes(StandardCharsets.UTF_8);
  }

  private static void open(MessageDigest sha, char kind, int size) {
    sha.update((byte) kind);
    sha.update(ByteBuffer.allocate(4).putInt(size).array());
  }

  private static void put(MessageDigest sha, char kind, byte[] bytes) {
    open(sha, kind, bytes.length);
    sha.update(bytes);
  }

  private static MessageDigest sha256() {
    try {
      return MessageDigest.getInstance("SHA-256");
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("every Java platform has SHA-256", e);
    }
  }
}
