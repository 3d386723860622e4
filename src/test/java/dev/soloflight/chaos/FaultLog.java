package dev.soloflight.chaos;

import java.util.concurrent.atomic.AtomicInteger;

/** Writes down each fault's begin and end. */
final class FaultLog {
  /** What a fault does while it is on. */
  interface Body {
    void run() throws InterruptedException;
  }

  private final HistoryWriter history;
  private final AtomicInteger numbers = new AtomicInteger();

  FaultLog(HistoryWriter history) {
    this.history = history;
  }

  void onAll(FaultKind kind, Body body) throws InterruptedException {
    during(body, "kind", kind);
  }

  void onNode(FaultKind kind, String node, Body body) throws InterruptedException {
    during(body, "kind", kind, "node", node);
  }

  void onKey(FaultKind kind, String key, String how, Body body) throws InterruptedException {
    during(body, "kind", kind, "key", key, "how", how);
  }

  private void during(Body body, Object... what) throws InterruptedException {
    int number = numbers.incrementAndGet();
    Object[] fields = new Object[what.length + 2];
    fields[0] = "fault";
    fields[1] = number;
    System.arraycopy(what, 0, fields, 2, what.length);
    history.write(Event.Kind.FAULT, fields);
    body.run();
    // Not in a finally: a fault that could not be ended is not over.
    history.write(Event.Kind.HEALED, "fault", number);
  }
}
