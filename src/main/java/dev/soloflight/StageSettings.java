package dev.soloflight;

import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Objects;
import java.util.StringJoiner;

/**
 * The rules of one stage, set in code: they take the place of what the configuration file says.
 *
 * <p>Collects only; the builder checks values, and how they fit each other, when it builds the
 * instance, by the same rules as a file, and reports all faults in one {@link
 * FlightConfigException}. Durations count in whole milliseconds, rounded up. Not safe to share
 * between threads.
 */
public final class StageSettings {
  private final Map<String, String> values = new LinkedHashMap<>();

  StageSettings() {}

  /** How often an owner beats; less than half of {@link #takeoverDetect}. */
  public StageSettings heartbeatInterval(Duration interval) {
    return set("heartbeat-interval", interval);
  }

  /** The life of an unfinished record after its last change; more than {@link #takeoverDetect}. */
  public StageSettings runningTtl(Duration ttl) {
    return set("running-ttl", ttl);
  }

  /** How long an owner may be silent before another takes over. */
  public StageSettings takeoverDetect(Duration silence) {
    return set("takeover-detect", silence);
  }

  /** How long a success is replayed; at least {@link #runningTtl}. */
  public StageSettings resultTtl(Duration ttl) {
    return set("result-ttl", ttl);
  }

  /** How long a failure is replayed; more than {@link #retryBackoff}. */
  public StageSettings failedResultTtl(Duration ttl) {
    return set("failed-result-ttl", ttl);
  }

  /** How many owners a flight may have, the first included. */
  public StageSettings maxAttempts(int owners) {
    return set("max-attempts", owners);
  }

  /** Pause between a retryable failure and the next attempt; zero: none. */
  public StageSettings retryBackoff(Duration pause) {
    return set("retry-backoff", pause);
  }

  /** How long a caller waits for an owner's outcome. */
  public StageSettings followerMaxWait(Duration wait) {
    return set("follower-max-wait", wait);
  }

  /** A caller whose wait is over runs the task itself, instead of failing. */
  public StageSettings executeOnWaitTimeout() {
    return set("on-wait-timeout", "execute");
  }

  /** A task whose flight was lost is cancelled, instead of going on for its own callers. */
  public StageSettings cancelOnOwnershipLost() {
    return set("on-ownership-lost", "cancel");
  }

  /** The longest life of an entry in this JVM's L1 cache; zero: none is kept. */
  public StageSettings l1Ttl(Duration ttl) {
    return set("l1-ttl", ttl);
  }

  /** Exceptions that, with their subclasses, count as retryable. Replaces an earlier list. */
  @SafeVarargs
  public final StageSettings retryOn(Class<? extends Throwable>... types) {
    StringJoiner names = new StringJoiner(",");
    for (Class<?> type : types) {
      names.add(type.getName());
    }
    return set("retry-on", names.toString());
  }

  /** How long the task may take; zero: no limit. */
  public StageSettings guardTimeout(Duration timeout) {
    return set("guard.timeout", timeout);
  }

  /** How many tasks of this stage may run at once in this JVM; zero: no limit. */
  public StageSettings maxConcurrent(int tasks) {
    return set("guard.max-concurrent", tasks);
  }

  /**
   * A circuit breaker around the task.
   *
   * @param failureRatePercent share of failed calls that opens it, 1 to 100
   * @param window how many of the last calls are looked at
   * @param openFor how long it stays open
   */
  public StageSettings breaker(int failureRatePercent, int window, Duration openFor) {
    return set("guard.breaker.failure-rate", failureRatePercent)
        .set("guard.breaker.window", window)
        .set("guard.breaker.open-for", openFor);
  }

  /**
   * A rate limit around the task.
   *
   * @param limit how many calls a period may have
   * @param period the period
   */
  public StageSettings rate(int limit, Duration period) {
    return set("guard.rate.limit", limit).set("guard.rate.period", period);
  }

  /** What was set, by the dotted path that a configuration override has. */
  Map<String, String> overrides(String stage) {
    Map<String, String> overrides = new LinkedHashMap<>();
    values.forEach((name, value) -> overrides.put("stages." + stage + "." + name, value));
    return overrides;
  }

  private StageSettings set(String name, Duration value) {
    return set(name, millis(Objects.requireNonNull(value, name)) + "ms");
  }

  /** Rounded up, so that a short time does not become zero, which means off. */
  private static long millis(Duration duration) {
    try {
      long millis = duration.toMillis();
      return Duration.ofMillis(millis).compareTo(duration) < 0 ? millis + 1 : millis;
    } catch (ArithmeticException e) {
      return Long.MAX_VALUE; // refused as too long, with its key, when the builder checks it
    }
  }

  private StageSettings set(String name, int value) {
    return set(name, String.valueOf(value));
  }

  private StageSettings set(String name, String value) {
    values.put(name, value);
    return this;
  }
}
