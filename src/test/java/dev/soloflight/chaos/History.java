package dev.soloflight.chaos;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** What all nodes and the driver wrote down, merged and put together. */
final class History {
  private final List<Event> events;
  private final Map<String, NodeLife> nodes = new LinkedHashMap<>();
  private final Map<String, Call> calls = new LinkedHashMap<>();
  private final Map<String, Execution> executions = new LinkedHashMap<>();
  private final Map<String, Forget> forgets = new LinkedHashMap<>();
  private final Map<String, Event> begunFaults = new LinkedHashMap<>();
  private final List<Fault> faults = new ArrayList<>();
  private final List<String> eternalKeys = new ArrayList<>();
  private long keysLeft = -1;

  private History(List<Event> unsorted) {
    events = unsorted.stream().sorted(Comparator.comparingLong(Event::atNanos)).toList();
    events.forEach(this::take);
    begunFaults.values().forEach(begun -> faults.add(fault(begun, Long.MAX_VALUE)));
    for (Fault fault : faults) {
      NodeLife node = nodes.get(fault.node());
      if (fault.kind() == FaultKind.KILL_NODE && node != null) {
        node.killedNanos = fault.fromNanos();
      }
    }
    executions.values().forEach(this::endWithItsNode);
  }

  /** Of files; a last line that a killed node has not finished is left out. */
  static History read(Collection<Path> files) {
    List<String> lines = new ArrayList<>();
    for (Path file : files) {
      try {
        String text = Files.readString(file);
        lines.addAll(text.substring(0, text.lastIndexOf('\n') + 1).lines().toList());
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    }
    return of(lines.stream());
  }

  static History of(Stream<String> lines) {
    return new History(lines.map(Event::parse).toList());
  }

  private void take(Event event) {
    switch (event.kind()) {
      case STARTED -> nodes.put(event.node(), new NodeLife(event));
      case CLOSING -> node(event.node()).closingNanos = event.atNanos();
      case ASKED -> calls.put(event.get("call"), new Call(event));
      case ANSWERED -> calls.get(event.get("call")).answered(event);
      case BEGAN -> executions.put(event.get("exec"), new Execution(event));
      case ENDED -> executions.get(event.get("exec")).ended(event);
      case LOST -> executions.get(event.get("exec")).lostNanos = event.atNanos();
      case FORGET -> forgets.put(event.get("forget"), new Forget(event));
      case FORGOT -> forgets.get(event.get("forget")).ended(event);
      case FAULT -> begunFaults.put(event.get("fault"), event);
      case HEALED -> {
        Event begun = begunFaults.remove(event.get("fault"));
        FaultKind kind = FaultKind.valueOf(begun.get("kind"));
        faults.add(fault(begun, kind.ends() ? Long.MAX_VALUE : event.atNanos()));
      }
      case STALL -> {
        String node = event.node().equals("driver") ? "" : event.node();
        String id = "stall-" + faults.size();
        faults.add(new Fault(id, FaultKind.STALL, node, "", event.number("from"), event.atNanos()));
      }
      case ETERNAL -> eternalKeys.add(event.get("name"));
      case LEFT -> keysLeft = event.number("keys");
    }
  }

  private static Fault fault(Event begun, long toNanos) {
    return new Fault(
        begun.get("fault"),
        FaultKind.valueOf(begun.get("kind")),
        begun.get("node", ""),
        begun.get("key", ""),
        begun.atNanos(),
        toNanos);
  }

  /** What runs in a node that is killed ends there. */
  private void endWithItsNode(Execution execution) {
    NodeLife node = node(execution.node);
    if (execution.outcome == Execution.Outcome.NONE && node.killed()) {
      execution.endedNanos = node.killedNanos;
    }
  }

  List<Event> events() {
    return events;
  }

  NodeLife node(String name) {
    NodeLife node = nodes.get(name);
    if (node == null) {
      throw new IllegalArgumentException("the history knows no start of node " + name);
    }
    return node;
  }

  Collection<NodeLife> nodes() {
    return nodes.values();
  }

  Collection<Call> calls() {
    return calls.values();
  }

  Call call(String id) {
    return calls.get(id);
  }

  Collection<Execution> executions() {
    return executions.values();
  }

  /** Null if there was none. */
  Execution execution(String id) {
    return executions.get(id);
  }

  Collection<Forget> forgets() {
    return forgets.values();
  }

  List<Fault> faults() {
    return faults;
  }

  List<String> eternalKeys() {
    return eternalKeys;
  }

  /** How many keys were in Redis at the end; -1 if nobody looked. */
  long keysLeft() {
    return keysLeft;
  }

  Collection<String> keys() {
    return new TreeSet<>(calls.values().stream().map(call -> call.key).toList());
  }

  Map<String, List<Execution>> executionsByKey() {
    return byKey(executions.values(), execution -> execution.key);
  }

  Map<String, List<Forget>> forgetsByKey() {
    return byKey(forgets.values(), forget -> forget.key);
  }

  Map<String, List<Call>> callsByKey() {
    return byKey(calls.values(), call -> call.key);
  }

  /** In the order in which they began. */
  private static <T> Map<String, List<T>> byKey(Collection<T> all, Function<T, String> key) {
    return all.stream()
        .collect(Collectors.groupingBy(key, LinkedHashMap::new, Collectors.toList()));
  }
}
