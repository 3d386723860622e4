package dev.soloflight.internal.policy;

import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Collectors;

/** Faults or warnings with their lines: in the order of the file, each said once. */
final class Findings {
  private static final int SHOWN = 50;

  private final TreeMap<Integer, Set<String>> byLine = new TreeMap<>();

  void add(int line, String text) {
    byLine
        .computeIfAbsent(line, any -> new LinkedHashSet<>())
        .add(Setting.where(line) + ": " + text);
  }

  void add(Setting setting, String text) {
    add(setting.line(), setting.path() + " = " + setting.shown() + ": " + text);
  }

  List<String> all() {
    return byLine.values().stream().flatMap(Set::stream).toList();
  }

  boolean isEmpty() {
    return byLine.isEmpty();
  }

  /** The faults as the text of one exception. */
  String describe(String source) {
    List<String> all = all();
    String shown = all.stream().limit(SHOWN).collect(Collectors.joining("\n  "));
    int more = all.size() - SHOWN;
    return source
        + (all.size() == 1 ? " has a fault:\n  " : " has " + all.size() + " faults:\n  ")
        + shown
        + (more > 0 ? "\n  and " + more + " more" : "");
  }
}
