package dev.soloflight.chaos;

import java.util.ArrayList;
import java.util.List;

/** A history written by hand: nodes a, b and c, the flight k, times in ms. */
final class Story {
  static final long WAIT_MILLIS = 5_000;

  private final List<String> lines = new ArrayList<>();
  private long keysLeft;

  Story() {
    for (String node : List.of("a", "b", "c")) {
      line(
          0,
          "STARTED "
              + node
              + " mode=hybrid heartbeat=150 lease=500 running=1500 result=3000"
              + " failed=1000 l1=800 wait="
              + WAIT_MILLIS
              + " command=400 attempts=3");
    }
  }

  Story line(long millis, String text) {
    lines.add(millis * 1_000_000 + " " + text);
    return this;
  }

  Story asked(long millis, String node, String call) {
    long deadline = (millis + WAIT_MILLIS) * 1_000_000;
    return line(millis, "ASKED " + node + " call=" + call + " key=k deadline=" + deadline);
  }

  Story began(long millis, String node, String exec, String call, long token) {
    return line(
        millis,
        "BEGAN "
            + node
            + " exec="
            + exec
            + " call="
            + call
            + " key=k token="
            + token
            + " attempt=1 idem=i");
  }

  Story ended(long millis, String node, String exec, String outcome, long token) {
    return line(
        millis,
        "ENDED "
            + node
            + " exec="
            + exec
            + " outcome="
            + outcome
            + " hash=h-"
            + exec
            + " token="
            + token);
  }

  Story answered(long millis, String node, String call, String source, long token, String exec) {
    return line(
        millis,
        "ANSWERED "
            + node
            + " call="
            + call
            + " source="
            + source
            + " token="
            + token
            + " exec="
            + exec
            + " hash=h-"
            + exec);
  }

  Story failed(long millis, String node, String call, String error) {
    return line(millis, "ANSWERED " + node + " call=" + call + " error=" + error);
  }

  /** A call that runs the task and gets its value. */
  Story executed(long from, long to, String node, String exec, long token) {
    String call = "run-" + exec;
    asked(from - 2, node, call);
    began(from, node, exec, call, token);
    ended(to, node, exec, "OK", token);
    return answered(to + 2, node, call, token == 0 ? "DEGRADED" : "EXECUTED", token, exec);
  }

  /** A call that is served what an execution came to. */
  Story served(long at, String node, String call, String source, long token, String exec) {
    return asked(at, node, call).answered(at + 5, node, call, source, token, exec);
  }

  Story forgotten(long from, long to, String node) {
    String forget = "forget-" + from;
    return line(from, "FORGET " + node + " forget=" + forget + " key=k")
        .line(to, "FORGOT " + node + " forget=" + forget + " done=true");
  }

  Story fault(long from, long to, FaultKind kind, String where) {
    String id = kind + "-" + from;
    return line(
            from,
            "FAULT driver fault=" + id + " kind=" + kind + (where.isEmpty() ? "" : " " + where))
        .line(to, "HEALED driver fault=" + id);
  }

  Story keysLeft(long keys) {
    keysLeft = keys;
    return this;
  }

  HistoryChecker check() {
    List<String> all = new ArrayList<>(lines);
    all.add(100_000_000_000L + " LEFT driver keys=" + keysLeft);
    return HistoryChecker.check(History.of(all.stream()));
  }
}
