package dev.soloflight.internal.policy;

import dev.soloflight.FlightConfigException;
import dev.soloflight.internal.policy.Settings.Scope;
import java.io.StringReader;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.yaml.snakeyaml.DumperOptions;
import org.yaml.snakeyaml.LoaderOptions;
import org.yaml.snakeyaml.Yaml;
import org.yaml.snakeyaml.constructor.SafeConstructor;
import org.yaml.snakeyaml.error.Mark;
import org.yaml.snakeyaml.error.MarkedYAMLException;
import org.yaml.snakeyaml.error.YAMLException;
import org.yaml.snakeyaml.nodes.MappingNode;
import org.yaml.snakeyaml.nodes.Node;
import org.yaml.snakeyaml.nodes.NodeTuple;
import org.yaml.snakeyaml.nodes.ScalarNode;
import org.yaml.snakeyaml.nodes.SequenceNode;
import org.yaml.snakeyaml.nodes.Tag;
import org.yaml.snakeyaml.reader.ReaderException;
import org.yaml.snakeyaml.representer.Representer;

/**
 * YAML -> {@link Settings}.
 *
 * <p>The text is composed into nodes and never constructed into objects, so no tag can create one.
 * Only known keys are gone into, so an alias that refers to its own parent does no harm. No message
 * quotes the text around a fault: a password may stand there.
 */
final class YamlSettings {
  static final int MAX_CHARS = 256 * 1024;
  private static final int MAX_ALIASES = 50;
  private static final int MAX_DEPTH = 50;

  private static final String WRAPPER = "soloflight";
  private static final String STAGES = "stages";
  private static final String DEFAULTS = "defaults";

  private static final String TAG_REFUSED =
      "a tag (! or !! before a value) is not allowed; if the value begins with !, quote it";

  private final Function<String, @Nullable String> environment;
  private final Settings settings;
  private final Findings faults;
  private final Findings warnings;

  YamlSettings(
      Function<String, @Nullable String> environment,
      Settings settings,
      Findings faults,
      Findings warnings) {
    this.environment = environment;
    this.settings = settings;
    this.faults = faults;
    this.warnings = warnings;
  }

  /** One key with its value. */
  record Entry(String key, Node value, int line) {}

  /**
   * Reads the text; faults in it are collected.
   *
   * @throws FlightConfigException if it is no YAML, or too much of it, to go on
   */
  void read(String yaml, String source) {
    Node root = compose(yaml, source);
    if (root == null || isNull(root)) {
      return;
    }
    if (!(root instanceof MappingNode mapping)) {
      faults.add(line(root), "expected keys such as mode: hybrid, found " + kind(root));
      return;
    }
    List<Entry> entries = entries(mapping, "");
    Entry wrapper = find(entries, WRAPPER);
    Entry foreign = find(entries, AiMeetingBlock.ROOT);
    if (wrapper == null && foreign == null) {
      readRoot(entries);
      return;
    }
    if (wrapper != null && !isNull(wrapper.value())) {
      if (wrapper.value() instanceof MappingNode own) {
        readRoot(entries(own, WRAPPER + "."));
      } else {
        faults.add(wrapper.line(), WRAPPER + ": expected keys, found " + kind(wrapper.value()));
      }
    }
    if (foreign != null) {
      new AiMeetingBlock(this, settings, faults, warnings).read(foreign);
    }
    entries.stream()
        .filter(entry -> !entry.equals(wrapper) && !entry.equals(foreign))
        .forEach(this::readNeighbour);
  }

  /** A key beside the one that holds the configuration: somebody else's, unless it is ours. */
  private void readNeighbour(Entry entry) {
    if (entry.key().equals(STAGES)
        || entry.key().equals(DEFAULTS)
        || settings.global().names().contains(entry.key())
        || settings.global().isGroup(entry.key())) {
      faults.add(
          entry.line(),
          Setting.printable(entry.key()) + ": put it under " + WRAPPER + ", or it is lost");
    } else {
      warnings.add(
          entry.line(), Setting.printable(entry.key()) + " is not SoloFlight's and not read");
    }
  }

  private void readRoot(List<Entry> entries) {
    for (Entry entry : entries) {
      switch (entry.key()) {
        case STAGES -> mapping(entry, STAGES).forEach(this::readStage);
        case DEFAULTS ->
            mapping(entry, DEFAULTS).forEach(key -> read(key, key.key(), settings.defaults()));
        default -> read(entry, entry.key(), settings.global());
      }
    }
  }

  private void readStage(Entry stage) {
    Scope scope = scope(stage, STAGES);
    if (scope != null) {
      mapping(stage, STAGES + "." + stage.key()).forEach(key -> read(key, key.key(), scope));
    }
  }

  /** The stage an entry is named after; null if that is no name, which is reported. */
  @Nullable Scope scope(Entry stage, String path) {
    try {
      Scope scope = settings.stage(stage.key());
      Keys.misspelledStage(stage.key()).ifPresent(text -> warnings.add(stage.line(), text));
      return scope;
    } catch (BadValueException e) {
      faults.add(stage.line(), path + "." + Setting.printable(stage.key()) + ": " + e.expected());
      return null;
    }
  }

  private void read(Entry entry, String name, Scope scope) {
    Node value = entry.value();
    String path = scope.prefix() + name;
    if (isNull(value) && scope.isGroup(name)) {
      return;
    }
    if (value instanceof MappingNode mapping && scope.isGroup(name)) {
      entries(mapping, path + ".").forEach(key -> read(key, name + "." + key.key(), scope));
    } else if (scope.names().contains(name)) {
      put(
          scope,
          name,
          setting(entry, path, name.equals(Keys.RETRY_ON) || name.equals(Keys.ENCRYPTION_KEYS)));
    } else if (!scope.isGroup(name)) {
      faults.add(entry.line(), Setting.printable(path) + ": " + unknown(scope, name));
    } else {
      faults.add(entry.line(), path + ": expected a block of keys, found " + kind(value));
    }
  }

  private static String unknown(Scope scope, String name) {
    Set<String> blocks = Set.of(STAGES, DEFAULTS, WRAPPER);
    return scope.prefix().isEmpty()
        ? Keys.near(name, blocks)
            .map(near -> "unknown key; did you mean " + near + "?")
            .orElseGet(() -> scope.unknown(name))
        : scope.unknown(name);
  }

  private void put(Scope scope, String name, Setting setting) {
    Setting before = scope.written().get(name);
    if (before != null) {
      faults.add(
          setting.line(),
          setting.path() + ": stands in " + Setting.where(before.line()) + " already; keep one");
    } else {
      scope.put(name, setting);
    }
  }

  /** The entry's value with its placeholders filled in. */
  Setting setting(Entry entry, String path, boolean list) {
    try {
      return new Setting(path, text(entry.value(), list), entry.line());
    } catch (BadValueException e) {
      faults.add(entry.line(), path + ": " + e.expected());
      return new Setting(path, null, entry.line());
    }
  }

  private String text(Node value, boolean list) {
    if (list && value instanceof SequenceNode sequence) {
      List<String> texts = new ArrayList<>();
      sequence.getValue().forEach(element -> texts.add(text(element, false)));
      return String.join(",", texts);
    }
    if (!(value instanceof ScalarNode scalar)) {
      throw new BadValueException(
          "expected " + (list ? "a list" : "one value") + ", found " + kind(value));
    }
    if (!hasPlainTag(value)) {
      throw new BadValueException(TAG_REFUSED);
    }
    return isNull(value) ? "" : Placeholders.fill(scalar.getValue(), environment);
  }

  /** The entries of a block; none if it is empty or, which is reported, no block. */
  List<Entry> mapping(Entry entry, String path) {
    if (entry.value() instanceof MappingNode mapping) {
      return entries(mapping, path + ".");
    }
    if (!isNull(entry.value())) {
      faults.add(entry.line(), path + ": expected a block of keys, found " + kind(entry.value()));
    }
    return List.of();
  }

  private List<Entry> entries(MappingNode mapping, String prefix) {
    List<Entry> entries = new ArrayList<>();
    Map<String, Integer> lines = new HashMap<>();
    for (NodeTuple tuple : mapping.getValue()) {
      int line = line(tuple.getKeyNode());
      if (!(tuple.getKeyNode() instanceof ScalarNode key)) {
        faults.add(line, prefix + ": a key must be plain text, found " + kind(tuple.getKeyNode()));
        continue;
      }
      Integer before = lines.putIfAbsent(key.getValue(), line);
      if (before != null) {
        faults.add(
            line,
            Setting.printable(prefix + key.getValue())
                + ": stands in line "
                + before
                + " already; keep one");
        continue;
      }
      if (!hasPlainTag(tuple.getValueNode())) {
        faults.add(line, Setting.printable(prefix + key.getValue()) + ": " + TAG_REFUSED);
        continue;
      }
      entries.add(new Entry(key.getValue(), tuple.getValueNode(), line));
    }
    return entries;
  }

  private static @Nullable Entry find(List<Entry> entries, String key) {
    return entries.stream().filter(entry -> entry.key().equals(key)).findFirst().orElse(null);
  }

  private static boolean hasPlainTag(Node node) {
    return node.getTag().getValue().startsWith(Tag.PREFIX);
  }

  private static boolean isNull(Node node) {
    return Tag.NULL.equals(node.getTag());
  }

  private static int line(Node node) {
    return node.getStartMark().getLine() + 1;
  }

  private static String kind(Node node) {
    if (node instanceof MappingNode) {
      return "a block of keys";
    }
    return node instanceof SequenceNode ? "a list" : "a single value";
  }

  private static @Nullable Node compose(String yaml, String source) {
    if (yaml.length() > MAX_CHARS) {
      throw fault(source, "more than " + MAX_CHARS / 1024 + " KB: this is no configuration");
    }
    LoaderOptions options = new LoaderOptions();
    options.setCodePointLimit(MAX_CHARS);
    options.setMaxAliasesForCollections(MAX_ALIASES);
    options.setNestingDepthLimit(MAX_DEPTH);
    options.setAllowDuplicateKeys(false);
    DumperOptions unused = new DumperOptions();
    try {
      return new Yaml(new SafeConstructor(options), new Representer(unused), unused, options)
          .compose(new StringReader(yaml));
    } catch (ReaderException e) {
      throw fault(
          source,
          "line %d: the character U+%04X is not allowed in YAML"
              .formatted(lineAt(yaml, e.getPosition()), e.getCodePoint()));
    } catch (MarkedYAMLException e) {
      Mark mark = e.getProblemMark() != null ? e.getProblemMark() : e.getContextMark();
      throw fault(source, (mark == null ? "" : "line " + (mark.getLine() + 1) + ": ") + problem(e));
    } catch (YAMLException e) {
      throw fault(
          source,
          "expected YAML with at most %d aliases of blocks and %d levels"
              .formatted(MAX_ALIASES, MAX_DEPTH));
    }
  }

  /** SnakeYAML's own words, where they do not repeat what stands in the file. */
  private static String problem(MarkedYAMLException e) {
    String all = e.getContext() + " " + e.getProblem();
    if (all.contains("tag")) {
      return TAG_REFUSED;
    }
    if (all.contains("alias") || all.contains("anchor")) {
      return "* refers to no anchor (&name); if the value begins with *, quote it";
    }
    if (all.contains("single document")) {
      return "a second document (---) begins here; expected one";
    }
    return "no valid YAML: " + e.getProblem();
  }

  private static int lineAt(String text, int codePoints) {
    return 1 + (int) text.codePoints().limit(codePoints).filter(c -> c == '\n').count();
  }

  private static FlightConfigException fault(String source, String what) {
    return new FlightConfigException(source + " has a fault:\n  " + what);
  }
}
