package dev.soloflight.internal.policy;

import static java.util.Map.entry;

import java.util.Collection;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** Every key there is, with its built-in value (DESIGN 8), and what a misspelled one was to be. */
final class Keys {
  static final String OFF = "off";
  static final String ENCRYPTION_KEYS = "encryption.keys";
  static final String RETRY_ON = "retry-on";
  static final String BREAKER = "guard.breaker";
  static final String RATE = "guard.rate";
  static final List<String> BREAKER_PARTS =
      List.of(BREAKER + ".failure-rate", BREAKER + ".window", BREAKER + ".open-for");
  static final List<String> RATE_PARTS = List.of(RATE + ".limit", RATE + ".period");

  /** Outside any stage. */
  static final Map<String, String> GLOBAL =
      Map.ofEntries(
          entry("mode", "hybrid"),
          entry("distributed-enabled", "true"),
          entry("redis.uri", "redis://127.0.0.1:6379"),
          entry("redis.command-timeout", "1s"),
          entry("namespace", "default"),
          entry("prefix", "soloflight"),
          entry("stream-block-timeout", "3s"),
          entry("poll-fallback-interval", "2s"),
          entry("l1.max-entries", "1000"),
          entry("l1.ttl", "30s"),
          entry("compression-threshold", "4096 B"),
          entry("max-result-bytes", "8MB"),
          entry(ENCRYPTION_KEYS, ""),
          entry("follower-max-wait", "20s"),
          entry("on-wait-timeout", "fail"),
          entry("on-ownership-lost", "continue"));

  /** What a stage takes from a global key if it has no value of its own. */
  static final Map<String, String> SHARED =
      Map.of(
          "follower-max-wait", "follower-max-wait",
          "on-wait-timeout", "on-wait-timeout",
          "on-ownership-lost", "on-ownership-lost",
          "compression-threshold", "compression-threshold",
          "l1-ttl", "l1.ttl");

  /** Of a stage, besides the shared ones. */
  private static final Map<String, String> STAGE =
      Map.ofEntries(
          entry("heartbeat-interval", "3s"),
          entry("running-ttl", "15s"),
          entry("takeover-detect", "10s"),
          entry("result-ttl", "10m"),
          entry("failed-result-ttl", "60s"),
          entry("max-attempts", "3"),
          entry("retry-backoff", "0s"),
          entry(RETRY_ON, ""),
          entry("guard.timeout", OFF),
          entry("guard.max-concurrent", OFF),
          entry(BREAKER, OFF),
          entry(RATE, OFF));

  /** The stages known by name, and where they differ. */
  static final Map<String, Map<String, String>> BUILT_IN_STAGES =
      Map.of(
          "interview-evaluation",
          Map.of(),
          "interview-followup",
          Map.of(
              "heartbeat-interval", "2500ms",
              "running-ttl", "12s",
              "takeover-detect", "8s",
              "result-ttl", "3m",
              "failed-result-ttl", "30s",
              "compression-threshold", "2048 B",
              "l1-ttl", "15s"),
          "interview-extraction",
          Map.of(
              "heartbeat-interval", "4s",
              "running-ttl", "20s",
              "takeover-detect", "12s",
              "result-ttl", "30m",
              "failed-result-ttl", "60s",
              "compression-threshold", "1024 B",
              "l1-ttl", "60s"),
          "interview-demeanor",
          Map.of(
              "heartbeat-interval", "5s",
              "running-ttl", "30s",
              "takeover-detect", "15s",
              "result-ttl", "15m",
              "failed-result-ttl", "60s",
              "compression-threshold", "2048 B",
              "l1-ttl", OFF));

  static final Set<String> GLOBAL_NAMES = GLOBAL.keySet();
  static final Set<String> STAGE_NAMES =
      Stream.of(STAGE.keySet(), SHARED.keySet(), BREAKER_PARTS, RATE_PARTS)
          .flatMap(Collection::stream)
          .collect(Collectors.toUnmodifiableSet());

  private static final int MOST_EDITS = 3;

  private Keys() {}

  /** The built-in value; the parts of breaker and rate have none. */
  static Setting builtIn(String stage, String name) {
    String differing = BUILT_IN_STAGES.getOrDefault(stage, Map.of()).get(name);
    String shared = SHARED.get(name);
    return differing == null && shared != null
        ? builtIn(shared)
        : new Setting(
            "stages." + stage + "." + name,
            differing != null ? differing : STAGE.getOrDefault(name, ""),
            Setting.BUILT_IN);
  }

  static Setting builtIn(String globalName) {
    return new Setting(globalName, GLOBAL.getOrDefault(globalName, ""), Setting.BUILT_IN);
  }

  /**
   * What is known by a similar name, another spelling ({@code resultTtl}) or a part of its name.
   */
  static Optional<String> near(String name, Collection<String> known) {
    String plain = plain(name);
    return known.stream()
        .filter(candidate -> distance(plain, candidate) <= Math.min(MOST_EDITS, plain.length() / 3))
        .min(
            Comparator.<String>comparingInt(candidate -> distance(plain, candidate))
                .thenComparing(Comparator.naturalOrder()));
  }

  /** What to warn of if a stage's name is nearly one of the built-in ones. */
  static Optional<String> misspelledStage(String name) {
    return BUILT_IN_STAGES.keySet().stream()
        .filter(known -> !name.startsWith(known) && edits(name, known) <= 2)
        .findFirst()
        .map(known -> "stages." + name + " is a stage of its own; was " + known + " meant?");
  }

  /** Lower case, without separators and without the unit that other configurations put in. */
  static String plain(String name) {
    return name.replaceAll("[-_.]", "")
        .toLowerCase(Locale.ROOT)
        .replaceAll("(?<=.)(millis|seconds|bytes)$", "");
  }

  private static int distance(String plain, String candidate) {
    String last = plain(candidate.substring(candidate.lastIndexOf('.') + 1));
    return Math.min(edits(plain, plain(candidate)), plain.equals(last) ? 0 : Integer.MAX_VALUE);
  }

  /**
   * How many letters were left out, put in, replaced or swapped with their neighbour; for lengths
   * too far apart to be a typing error, {@link Integer#MAX_VALUE}.
   */
  static int edits(String a, String b) {
    if (Math.abs(a.length() - b.length()) > MOST_EDITS) {
      return Integer.MAX_VALUE;
    }
    int[][] edits = new int[a.length() + 1][b.length() + 1];
    for (int i = 0; i <= a.length(); i++) {
      for (int j = 0; j <= b.length(); j++) {
        if (i == 0 || j == 0) {
          edits[i][j] = i + j;
          continue;
        }
        boolean same = a.charAt(i - 1) == b.charAt(j - 1);
        int fewest = edits[i - 1][j - 1] + (same ? 0 : 1);
        fewest = Math.min(fewest, 1 + Math.min(edits[i - 1][j], edits[i][j - 1]));
        boolean swapped =
            i > 1
                && j > 1
                && a.charAt(i - 1) == b.charAt(j - 2)
                && a.charAt(i - 2) == b.charAt(j - 1);
        edits[i][j] = swapped ? Math.min(fewest, 1 + edits[i - 2][j - 2]) : fewest;
      }
    }
    return edits[a.length()][b.length()];
  }
}
