package dev.soloflight.internal.policy;

import dev.soloflight.FlightConfigException;
import dev.soloflight.FlightMode;
import dev.soloflight.internal.policy.GuardPolicy.Breaker;
import dev.soloflight.internal.policy.GuardPolicy.Rate;
import dev.soloflight.internal.policy.Settings.Scope;
import dev.soloflight.internal.policy.SoloFlightConfig.RedisSettings;
import dev.soloflight.internal.policy.StagePolicy.OnOwnershipLost;
import dev.soloflight.internal.policy.StagePolicy.OnWaitTimeout;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Configuration text and overrides -> validated records (DESIGN 8).
 *
 * <p>A stage's value is the first one there is of
 *
 * <ol>
 *   <li>the stage's own, {@code stages.<name>.result-ttl};
 *   <li>the {@code defaults} block, {@code defaults.result-ttl};
 *   <li>the global key, where there is one: {@code follower-max-wait}, {@code on-wait-timeout},
 *       {@code on-ownership-lost}, {@code compression-threshold}, {@code l1.ttl};
 *   <li>what is built in for that stage;
 *   <li>what is built in for every stage.
 * </ol>
 *
 * So what somebody wrote always beats what nobody wrote, and the closer beats the wider. An
 * override counts as written at its own path.
 *
 * <p>The keys may stand at the root or under {@code soloflight}. AI-Meeting's {@code
 * xunzhi-agent.ai-singleflight} is read too, see {@link AiMeetingBlock}. In a file that has one of
 * these two roots, other root keys are somebody else's: warned of, not read.
 */
public final class ConfigLoader {
  private static final int MAX_RESULT_BYTES = 256 << 20; // Base64 of it fits a Redis string
  private static final String ANY_STAGE = "*";

  private final Settings settings = new Settings();
  private final Findings faults = new Findings();
  private final Findings warnings = new Findings();

  private ConfigLoader() {}

  /**
   * Loads and checks a configuration.
   *
   * @throws FlightConfigException naming every fault at once, each with key, line, value and what
   *     would be right; credentials are left out
   */
  public static LoadedConfig load(ConfigSource source) {
    return new ConfigLoader().loadFrom(source);
  }

  private LoadedConfig loadFrom(ConfigSource source) {
    if (source.yaml() != null) {
      new YamlSettings(source.environment(), settings, faults, warnings)
          .read(source.yaml(), source.name());
    }
    new TreeMap<>(source.overrides()).forEach(this::override);

    Map<String, StagePolicy> stages = new TreeMap<>();
    TreeSet<String> names = new TreeSet<>(settings.stageNames());
    names.addAll(Keys.BUILT_IN_STAGES.keySet());
    names.forEach(name -> stages.put(name, stage(name)));
    SoloFlightConfig config = config(stages, stage(ANY_STAGE));
    if (!faults.isEmpty()) {
      throw new FlightConfigException(faults.describe(source.name()));
    }
    return new LoadedConfig(
        config, warnings.all().stream().map(text -> source.name() + ", " + text).toList());
  }

  // ---- overrides

  private void override(String path, String text) {
    Setting setting = new Setting(path, text, Setting.IN_CODE);
    if (path.startsWith("defaults.")) {
      override(settings.defaults(), path.substring("defaults.".length()), setting);
    } else if (path.startsWith("stages.")) {
      overrideStage(path.substring("stages.".length()), setting);
    } else {
      override(settings.global(), path, setting);
    }
  }

  /** A stage's name may hold dots, so the key is found from the end. */
  private void overrideStage(String path, Setting setting) {
    int nameLength =
        Keys.STAGE_NAMES.stream()
            .filter(key -> path.endsWith("." + key))
            .mapToInt(key -> path.length() - key.length() - 1)
            .min()
            .orElse(path.indexOf('.'));
    if (nameLength < 0) {
      faults.add(
          setting.line(), Setting.printable(setting.path()) + ": expected stages.<name>.<key>");
      return;
    }
    try {
      String name = path.substring(0, nameLength);
      Scope stage = settings.stage(name);
      Keys.misspelledStage(name).ifPresent(text -> warnings.add(setting.line(), text));
      override(stage, path.substring(nameLength + 1), setting);
    } catch (BadValueException e) {
      faults.add(setting.line(), Setting.printable(setting.path()) + ": " + e.expected());
    }
  }

  private void override(Scope scope, String name, Setting setting) {
    if (scope.names().contains(name)) {
      scope.put(name, setting);
    } else {
      faults.add(setting.line(), Setting.printable(setting.path()) + ": " + scope.unknown(name));
    }
  }

  // ---- from settings to records

  /**
   * A value with where it came from.
   *
   * @param sound false if the setting was at fault; the value is the built-in one then, and no
   *     sentence about it is worth saying
   */
  private record Value<T>(Setting setting, T value, boolean sound) {}

  private <T> Value<T> read(Setting setting, Setting builtIn, Function<String, T> parser) {
    try {
      if (setting.text() != null) {
        return new Value<>(setting, parser.apply(setting.text()), true);
      }
    } catch (BadValueException e) {
      faults.add(setting, e.expected());
    }
    return new Value<>(setting, parser.apply(String.valueOf(builtIn.text())), false);
  }

  private <T> T global(String name, Function<String, T> parser) {
    return read(settings.find(name), Keys.builtIn(name), parser).value();
  }

  private <T> Value<T> of(String stage, String name, Function<String, T> parser) {
    return read(settings.find(stage, name), Keys.builtIn(stage, name), parser);
  }

  private SoloFlightConfig config(Map<String, StagePolicy> stages, StagePolicy defaults) {
    FlightMode mode = global("mode", text -> Values.oneOf(FlightMode.class, text));
    boolean distributed = global("distributed-enabled", Values::bool);
    return new SoloFlightConfig(
        distributed ? mode : FlightMode.LOCAL,
        new RedisSettings(
            global("redis.uri", ConfigLoader::redisUri),
            global("redis.command-timeout", Values::positiveDuration)),
        global("namespace", text -> Values.name(text, false)),
        global("prefix", text -> Values.name(text, true)),
        global("stream-block-timeout", Values::positiveDuration),
        global("poll-fallback-interval", Values::positiveDuration),
        global("l1.max-entries", text -> Values.whole(text, 0, Integer.MAX_VALUE)),
        global("max-result-bytes", text -> Values.size(text, 1, MAX_RESULT_BYTES)),
        global(Keys.ENCRYPTION_KEYS, Values::encryptionKeys),
        stages,
        defaults);
  }

  private static String redisUri(String text) {
    RedisUris.check(text);
    return text.trim();
  }

  private StagePolicy stage(String name) {
    Value<Duration> heartbeat = of(name, "heartbeat-interval", Values::positiveDuration);
    Value<Duration> runningTtl = of(name, "running-ttl", Values::positiveDuration);
    Value<Duration> takeover = of(name, "takeover-detect", Values::positiveDuration);
    Value<Duration> resultTtl = of(name, "result-ttl", Values::positiveDuration);
    Value<Duration> failedTtl = of(name, "failed-result-ttl", Values::positiveDuration);
    Value<Duration> backoff = of(name, "retry-backoff", Values::duration);
    Value<Duration> maxWait = of(name, "follower-max-wait", Values::positiveDuration);
    Value<Duration> timeout = of(name, "guard.timeout", Values::durationOrOff);

    mustBeShorter(
        heartbeat,
        half(takeover.value()),
        takeover,
        heartbeat.value().multipliedBy(2),
        "must be less than half of",
        "an owner that misses one beat is not dead");
    mustBeShorter(
        takeover,
        runningTtl.value(),
        runningTtl,
        takeover.value(),
        "must be less than",
        "a dead owner's record must live until somebody takes over");
    if (both(resultTtl, runningTtl) && resultTtl.value().compareTo(runningTtl.value()) < 0) {
      faults.add(
          lineOf(resultTtl, runningTtl),
          sentence(resultTtl, "must not be less than", runningTtl)
              + ": an owner thought lost may come back for that long; set the first to at least "
              + Values.show(runningTtl.value())
              + " or the second to at most "
              + Values.show(resultTtl.value()));
    }
    mustBeShorter(
        backoff,
        failedTtl.value(),
        failedTtl,
        backoff.value(),
        "must be less than",
        "the failure would be forgotten before it may be retried");
    if (both(maxWait, timeout)
        && !timeout.value().isZero()
        && maxWait.value().compareTo(timeout.value()) < 0) {
      warnings.add(
          lineOf(maxWait, timeout),
          sentence(maxWait, "is less than", timeout)
              + ": a follower gives up while the owner may still answer; set the first to at least "
              + Values.show(timeout.value()));
    }
    return new StagePolicy(
        name,
        heartbeat.value(),
        runningTtl.value(),
        takeover.value(),
        resultTtl.value(),
        failedTtl.value(),
        of(name, "max-attempts", text -> Values.whole(text, 1, 1000)).value(),
        backoff.value(),
        maxWait.value(),
        of(name, "on-wait-timeout", text -> Values.oneOf(OnWaitTimeout.class, text)).value(),
        of(name, "on-ownership-lost", text -> Values.oneOf(OnOwnershipLost.class, text)).value(),
        of(name, "l1-ttl", Values::durationOrOff).value(),
        of(name, "compression-threshold", text -> Values.size(text, 0, Integer.MAX_VALUE)).value(),
        of(name, "retry-on", Values::classNames).value(),
        new GuardPolicy(
            timeout.value().isZero() ? null : timeout.value(),
            of(name, "guard.max-concurrent", text -> Values.wholeOrOff(text, Integer.MAX_VALUE))
                .value(),
            breaker(name),
            rate(name)));
  }

  private @Nullable Breaker breaker(String stage) {
    Map<String, Setting> parts = group(stage, Keys.BREAKER, Keys.BREAKER_PARTS);
    if (parts.isEmpty()) {
      return null;
    }
    return new Breaker(
        part(parts, Keys.BREAKER_PARTS.get(0), "50", Values::percent),
        part(parts, Keys.BREAKER_PARTS.get(1), "1", text -> Values.whole(text, 1, 1_000_000)),
        part(parts, Keys.BREAKER_PARTS.get(2), "1s", Values::positiveDuration));
  }

  private @Nullable Rate rate(String stage) {
    Map<String, Setting> parts = group(stage, Keys.RATE, Keys.RATE_PARTS);
    if (parts.isEmpty()) {
      return null;
    }
    return new Rate(
        part(parts, Keys.RATE_PARTS.get(0), "1", text -> Values.whole(text, 1, 1_000_000_000)),
        part(parts, Keys.RATE_PARTS.get(1), "1s", Values::positiveDuration));
  }

  /** The parts of a group, all of them or none. */
  private Map<String, Setting> group(String stage, String group, List<String> names) {
    Setting whole = settings.find(stage, group);
    if (whole.text() != null && !whole.text().trim().equals(Keys.OFF)) {
      faults.add(whole, "expected off, or a block of " + String.join(", ", names));
    }
    Map<String, Setting> parts = settings.group(stage, group);
    List<String> missing = names.stream().filter(name -> !parts.containsKey(name)).toList();
    if (parts.isEmpty() || missing.isEmpty()) {
      return parts;
    }
    Setting first = parts.values().iterator().next();
    faults.add(first, "needs " + String.join(" and ", missing) + " beside it");
    return Map.of();
  }

  private <T> T part(
      Map<String, Setting> parts, String name, String standIn, Function<String, T> parser) {
    Setting builtIn = new Setting(name, standIn, Setting.BUILT_IN);
    return read(parts.getOrDefault(name, builtIn), builtIn, parser).value();
  }

  // ---- values that must fit each other

  private void mustBeShorter(
      Value<Duration> shorter,
      Duration below,
      Value<Duration> longer,
      Duration above,
      String relation,
      String why) {
    if (both(shorter, longer) && shorter.value().compareTo(below) >= 0) {
      faults.add(
          lineOf(shorter, longer),
          sentence(shorter, relation, longer)
              + ": "
              + why
              + "; set the first below "
              + Values.show(below)
              + " or the second above "
              + Values.show(above));
    }
  }

  private static Duration half(Duration duration) {
    return duration.dividedBy(2);
  }

  private static boolean both(Value<?> a, Value<?> b) {
    return a.sound() && b.sound();
  }

  private static String sentence(Value<?> a, String relation, Value<?> b) {
    return a.setting().inFull() + " " + relation + " " + b.setting().inFull();
  }

  /** The line to look at: where the first stands, unless nobody wrote it. */
  private static int lineOf(Value<?> a, Value<?> b) {
    return a.setting().line() != Setting.BUILT_IN ? a.setting().line() : b.setting().line();
  }
}
