package dev.soloflight.internal.policy;

import dev.soloflight.FlightKey;
import java.util.HashMap;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Everything that was written, by key. What is found for a stage: its own value, else that of the
 * {@code defaults} block, else that of the global key, else what is built in for that stage, else
 * for all. So what somebody wrote beats what nobody wrote, and the closer beats the wider.
 */
final class Settings {
  private final Scope global = new Scope("", Keys.GLOBAL_NAMES, new HashMap<>());
  private final Scope defaults = new Scope("defaults.", Keys.STAGE_NAMES, new HashMap<>());
  private final Map<String, Scope> stages = new TreeMap<>();

  /**
   * One level of keys.
   *
   * @param prefix what its keys begin with in messages
   * @param names the keys there are
   * @param written the keys that were set
   */
  record Scope(String prefix, Set<String> names, Map<String, Setting> written) {
    boolean isGroup(String name) {
      return names.stream().anyMatch(known -> known.startsWith(name + "."));
    }

    /** A group switched off, and its parts, take each other's place. */
    void put(String name, Setting setting) {
      written
          .keySet()
          .removeIf(other -> other.startsWith(name + ".") || name.startsWith(other + "."));
      written.put(name, setting);
    }

    /** What is wrong with a key that does not exist, and what it may have been meant to be. */
    String unknown(String name) {
      if (name.endsWith("<<")) {
        return "merge keys are not read; what several stages share belongs under defaults";
      }
      Set<String> elsewhere = names == Keys.STAGE_NAMES ? Keys.GLOBAL_NAMES : Keys.STAGE_NAMES;
      if (elsewhere.contains(name)) {
        return "no key of this place; it belongs "
            + (names == Keys.STAGE_NAMES ? "outside any stage" : "under defaults or stages.<name>");
      }
      return "unknown key"
          + Keys.near(name, names)
              .map(near -> "; did you mean " + prefix + near + "?")
              .or(
                  () ->
                      Keys.near(name, elsewhere)
                          .map(
                              near ->
                                  "; did you mean "
                                      + (names == Keys.STAGE_NAMES ? "" : "defaults.")
                                      + near
                                      + "?"))
              .orElseGet(
                  () -> "; known are " + names.stream().sorted().collect(Collectors.joining(", ")));
    }
  }

  Scope global() {
    return global;
  }

  Scope defaults() {
    return defaults;
  }

  /**
   * @throws BadValueException if that is no stage's name, saying what would be right
   */
  Scope stage(String stage) {
    Scope scope = stages.get(stage);
    if (scope == null) {
      try {
        Objects.requireNonNull(FlightKey.of(stage, "checks the name"));
      } catch (IllegalArgumentException e) {
        throw new BadValueException(
            "a stage's name has 1 to 100 letters, digits, dots, underscores or dashes; what all"
                + " stages share belongs under defaults");
      }
      scope = new Scope("stages." + stage + ".", Keys.STAGE_NAMES, new HashMap<>());
      stages.put(stage, scope);
    }
    return scope;
  }

  Set<String> stageNames() {
    return stages.keySet();
  }

  Setting find(String globalName) {
    Setting written = global.written().get(globalName);
    return written != null ? written : Keys.builtIn(globalName);
  }

  Setting find(String stage, String name) {
    Setting own = writtenIn(stages.get(stage), name);
    if (own == null) {
      own = writtenIn(defaults, name);
    }
    String shared = Keys.SHARED.get(name);
    if (own == null && shared != null) {
      own = writtenIn(global, shared);
    }
    return own != null ? own : Keys.builtIn(stage, name);
  }

  /** The parts of a group that can be switched off as a whole; empty: it is off. */
  Map<String, Setting> group(String stage, String name) {
    Map<String, Setting> parts = new TreeMap<>();
    Scope own = stages.get(stage);
    if (own != null && !collect(own, name, parts)) {
      return parts;
    }
    collect(defaults, name, parts);
    return parts;
  }

  /** Whether the search may go on in the next scope. */
  private static boolean collect(Scope scope, String group, Map<String, Setting> parts) {
    scope
        .written()
        .forEach(
            (name, setting) -> {
              if (name.startsWith(group + ".")) {
                parts.putIfAbsent(name, setting);
              }
            });
    return !scope.written().containsKey(group);
  }

  private static @Nullable Setting writtenIn(@Nullable Scope scope, String name) {
    return scope == null ? null : scope.written().get(name);
  }
}
