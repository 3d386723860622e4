package dev.soloflight.chaos;

import java.util.LinkedHashMap;
import java.util.Map;

/**
 * One line of a history: {@code nanos KIND node name=value ...}. Time is {@link System#nanoTime},
 * which all processes of one machine share; names and values hold no blanks.
 */
record Event(long atNanos, Kind kind, String node, Map<String, String> fields) {
  /** What a line tells. */
  enum Kind {
    /** A node began; its settings. */
    STARTED,
    /** A node begins to close its instance. */
    CLOSING,
    /** A call was made: call, key, deadline. */
    ASKED,
    /** A task began: exec, call, key, token, attempt, idem. */
    BEGAN,
    /** A task ended: exec, outcome, hash, token. */
    ENDED,
    /** A task was told that its ownership is lost: exec. */
    LOST,
    /** A call came back: call, source, token, exec, hash; or error, code, exec. */
    ANSWERED,
    /** A forget began: forget, key. */
    FORGET,
    /** A forget came back: forget, done. */
    FORGOT,
    /** The writing process was not scheduled, or Redis did not answer, since: from. */
    STALL,
    /** The driver began a fault: fault, kind, and node or key. */
    FAULT,
    /** The driver ended a fault: fault. */
    HEALED,
    /** A key without a TTL was seen: name. */
    ETERNAL,
    /** Keys in Redis at the very end: keys. */
    LEFT
  }

  static Event of(long atNanos, Kind kind, String node, Object... namesAndValues) {
    Map<String, String> fields = new LinkedHashMap<>();
    for (int i = 0; i < namesAndValues.length; i += 2) {
      fields.put(
          String.valueOf(namesAndValues[i]),
          String.valueOf(namesAndValues[i + 1]).replaceAll("\\s+", "_"));
    }
    return new Event(atNanos, kind, node, fields);
  }

  static Event parse(String line) {
    String[] words = line.split(" ", -1);
    Map<String, String> fields = new LinkedHashMap<>();
    for (int i = 3; i < words.length; i++) {
      int equals = words[i].indexOf('=');
      fields.put(words[i].substring(0, equals), words[i].substring(equals + 1));
    }
    return new Event(Long.parseLong(words[0]), Kind.valueOf(words[1]), words[2], fields);
  }

  String get(String name) {
    String value = fields.get(name);
    if (value == null) {
      throw new IllegalArgumentException("no " + name + " in: " + this);
    }
    return value;
  }

  String get(String name, String otherwise) {
    return fields.getOrDefault(name, otherwise);
  }

  long number(String name) {
    return Long.parseLong(get(name));
  }

  @Override
  public String toString() {
    StringBuilder line = new StringBuilder(120);
    line.append(atNanos).append(' ').append(kind).append(' ').append(node);
    fields.forEach((name, value) -> line.append(' ').append(name).append('=').append(value));
    return line.toString();
  }
}
