package dev.soloflight.internal.policy;

import dev.soloflight.internal.policy.Settings.Scope;
import dev.soloflight.internal.policy.YamlSettings.Entry;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * The settings of AI-Meeting, {@code xunzhi-agent.ai-singleflight}, as they are.
 *
 * <p>Its names, in kebab-case or camelCase, are translated; plain numbers take the unit their name
 * ends with. What the block leaves out has SoloFlight's default, not AI-Meeting's. A {@code
 * soloflight} block in the same file is stronger. A key without a counterpart is warned of.
 */
final class AiMeetingBlock {
  static final String ROOT = "xunzhi-agent";
  private static final String BLOCK = "ai-singleflight";
  private static final String STAGES = "stagepolicies";

  /** Ours, and the unit of a plain number. */
  private record Counterpart(String name, String unit) {}

  private static final Map<String, Counterpart> GLOBAL =
      Map.of(
          "mode", new Counterpart("mode", ""),
          "distributedenabled", new Counterpart("distributed-enabled", ""),
          "streamblocktimeoutmillis", new Counterpart("stream-block-timeout", "ms"),
          "pollfallbackintervalmillis", new Counterpart("poll-fallback-interval", "ms"),
          "followermaxwaitmillis", new Counterpart("follower-max-wait", "ms"),
          "l1cachemaxsize", new Counterpart("l1.max-entries", ""));

  private static final Map<String, Counterpart> STAGE =
      Map.of(
          "heartbeatintervalmillis", new Counterpart("heartbeat-interval", "ms"),
          "runningttlmillis", new Counterpart("running-ttl", "ms"),
          "takeoverdetectmillis", new Counterpart("takeover-detect", "ms"),
          "resultttlmillis", new Counterpart("result-ttl", "ms"),
          "failedresultttlmillis", new Counterpart("failed-result-ttl", "ms"),
          "compressionthresholdbytes", new Counterpart("compression-threshold", ""),
          "l1cachettlmillis", new Counterpart("l1-ttl", "ms"));

  /** Theirs without a counterpart, and the value that says what SoloFlight does anyway. */
  private static final Map<String, String> WITHOUT =
      Map.of(
          "enable", "true",
          "ttlmillis", "",
          "waittimeoutmillis", "",
          "cleanupthreshold", "",
          "heavylockexpireseconds", "",
          "heavylockwaitmillis", "",
          "compressioncodec", "gzip");

  private static final String L1_ENABLED = "l1cacheenabled";

  private final YamlSettings yaml;
  private final Settings settings;
  private final Findings faults;
  private final Findings warnings;

  AiMeetingBlock(YamlSettings yaml, Settings settings, Findings faults, Findings warnings) {
    this.yaml = yaml;
    this.settings = settings;
    this.faults = faults;
    this.warnings = warnings;
  }

  void read(Entry root) {
    for (Entry entry : yaml.mapping(root, ROOT)) {
      String path = ROOT + "." + entry.key();
      if (!plain(entry.key()).equals(plain(BLOCK))) {
        warnings.add(entry.line(), Setting.printable(path) + " is not SoloFlight's and not read");
        continue;
      }
      for (Entry key : yaml.mapping(entry, path)) {
        if (plain(key.key()).equals(STAGES)) {
          yaml.mapping(key, path + "." + key.key()).forEach(stage -> readStage(stage, path));
        } else {
          read(key, path, settings.global(), GLOBAL);
        }
      }
    }
  }

  private void readStage(Entry stage, String blockPath) {
    String path = blockPath + ".stage-policies";
    Scope scope = yaml.scope(stage, path);
    if (scope == null) {
      return;
    }
    for (Entry key : yaml.mapping(stage, path + "." + stage.key())) {
      if (plain(key.key()).equals(L1_ENABLED)) {
        readL1Enabled(key, path + "." + stage.key(), scope);
      } else {
        read(key, path + "." + stage.key(), scope, STAGE);
      }
    }
  }

  private void read(Entry key, String blockPath, Scope scope, Map<String, Counterpart> known) {
    String plain = plain(key.key());
    String path = blockPath + "." + key.key();
    Counterpart counterpart = known.get(plain);
    String expected = WITHOUT.get(plain);
    if (counterpart != null) {
      Setting setting = yaml.setting(key, path, false);
      String text = setting.text();
      if (text != null && text.matches("\\d+")) {
        setting = new Setting(path, text + counterpart.unit(), key.line());
      }
      putUnlessWritten(scope, counterpart.name(), setting);
    } else if (expected != null) {
      Setting setting = yaml.setting(key, path, false);
      if (expected.isEmpty() || !expected.equalsIgnoreCase(setting.text())) {
        warnings.add(setting, "has no counterpart in SoloFlight and is ignored");
      }
    } else {
      Set<String> names =
          Stream.of(known.keySet(), WITHOUT.keySet(), Set.of(STAGES, L1_ENABLED))
              .flatMap(Set::stream)
              .collect(Collectors.toSet());
      // a typing error must not pass as somebody's extension
      if (names.stream().anyMatch(name -> Keys.edits(plain, name) <= 2)) {
        faults.add(
            key.line(),
            Setting.printable(path) + ": unknown key, but close to one of AI-Meeting's");
      } else {
        warnings.add(
            key.line(),
            Setting.printable(path) + " has no counterpart in SoloFlight and is ignored");
      }
    }
  }

  private void readL1Enabled(Entry key, String blockPath, Scope scope) {
    Setting setting = yaml.setting(key, blockPath + "." + key.key(), false);
    String text = setting.text();
    try {
      Setting before = scope.written().get("l1-ttl");
      boolean ours = before != null && !before.path().startsWith(ROOT);
      if (text != null && !Values.bool(text) && !ours) {
        scope.put("l1-ttl", new Setting(setting.path(), Keys.OFF, setting.line()));
      }
    } catch (BadValueException e) {
      faults.add(setting, e.expected());
    }
  }

  private static void putUnlessWritten(Scope scope, String name, Setting setting) {
    if (!scope.written().containsKey(name)) {
      scope.put(name, setting);
    }
  }

  private static String plain(String key) {
    return key.replaceAll("[-_]", "").toLowerCase(Locale.ROOT);
  }
}
