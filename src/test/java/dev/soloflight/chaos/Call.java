package dev.soloflight.chaos;

/** One call and its answer. Filled while a history is read. */
final class Call {
  final String id;
  final String key;
  final String node;
  final long askedNanos;
  final long deadlineNanos;
  long answeredNanos = Long.MAX_VALUE;

  /** Where a value came from; empty where the answer is an error. */
  String source = "";

  long token;

  /** The execution whose value or failure this is; empty where none is told. */
  String exec = "";

  String hash = "";

  /** Simple name of the error's class; empty where the answer is a value. */
  String error = "";

  String code = "";

  Call(Event asked) {
    id = asked.get("call");
    key = asked.get("key");
    node = asked.node();
    askedNanos = asked.atNanos();
    deadlineNanos = asked.number("deadline");
  }

  void answered(Event event) {
    answeredNanos = event.atNanos();
    source = event.get("source", "");
    token = Long.parseLong(event.get("token", "0"));
    exec = event.get("exec", "");
    hash = event.get("hash", "");
    error = event.get("error", "");
    code = event.get("code", "");
  }

  boolean answered() {
    return answeredNanos != Long.MAX_VALUE;
  }

  boolean hasValue() {
    return !source.isEmpty();
  }

  /** Straight from the record in Redis. */
  boolean fromRecord() {
    return source.equals("REPLAYED") || source.equals("FOLLOWED");
  }

  /** This call ran the task. */
  boolean ran() {
    return source.equals("EXECUTED") || source.equals("DEGRADED");
  }

  @Override
  public String toString() {
    return "call " + id;
  }
}
