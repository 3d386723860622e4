package dev.soloflight.chaos;

/** One run of a task. Filled while a history is read. */
final class Execution {
  /** How a run ended. */
  enum Outcome {
    /** A value. */
    OK,
    /** A failure that the next caller may try again. */
    RETRYABLE,
    /** A failure for good. */
    FAILED,
    /** Cancelled by the library. */
    CANCELLED,
    /** It did not end, or died with its node. */
    NONE
  }

  final String id;
  final String key;
  final String node;
  final String call;
  final long beganNanos;
  final long token;
  final int attempt;
  long endedNanos = Long.MAX_VALUE;
  long lostNanos = Long.MAX_VALUE;
  long endToken;
  Outcome outcome = Outcome.NONE;
  String hash = "";

  Execution(Event began) {
    id = began.get("exec");
    key = began.get("key");
    node = began.node();
    call = began.get("call");
    beganNanos = began.atNanos();
    token = began.number("token");
    attempt = (int) began.number("attempt");
    endToken = token;
  }

  void ended(Event event) {
    endedNanos = event.atNanos();
    outcome = Outcome.valueOf(event.get("outcome"));
    hash = event.get("hash", "");
    endToken = event.number("token");
  }

  /** Run without Redis, so without a record. */
  boolean degraded() {
    return token == 0;
  }

  @Override
  public String toString() {
    return "execution " + id + " (token " + token + ", attempt " + attempt + ", " + outcome + ")";
  }
}
