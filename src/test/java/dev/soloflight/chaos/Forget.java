package dev.soloflight.chaos;

/** One forget. Filled while a history is read. */
final class Forget {
  final String id;
  final String key;
  final String node;
  final long beganNanos;
  long endedNanos = Long.MAX_VALUE;

  /** Whether Redis has acknowledged it. */
  boolean done;

  Forget(Event began) {
    id = began.get("forget");
    key = began.get("key");
    node = began.node();
    beganNanos = began.atNanos();
  }

  void ended(Event event) {
    endedNanos = event.atNanos();
    done = event.get("done").equals("true");
  }

  /** Whether it may have taken effect between: one without an answer may do so a while later. */
  boolean mayTouch(long from, long to) {
    long until = done ? endedNanos : beganNanos + Margins.UNANSWERED_FORGET_NANOS;
    return beganNanos <= to && until >= from;
  }
}
