package dev.soloflight.chaos;

import java.util.concurrent.TimeUnit;

/** One JVM's life and its settings. Filled while a history is read. */
final class NodeLife {
  final String name;
  final String mode;
  final long heartbeatNanos;
  final long leaseNanos;
  final long runningTtlNanos;
  final long resultTtlNanos;
  final long failedTtlNanos;
  final long l1TtlNanos;
  final long maxWaitNanos;
  final long commandTimeoutNanos;
  final int maxAttempts;
  long closingNanos = Long.MAX_VALUE;
  long killedNanos = Long.MAX_VALUE;

  NodeLife(Event started) {
    name = started.node();
    mode = started.get("mode");
    heartbeatNanos = millis(started, "heartbeat");
    leaseNanos = millis(started, "lease");
    runningTtlNanos = millis(started, "running");
    resultTtlNanos = millis(started, "result");
    failedTtlNanos = millis(started, "failed");
    l1TtlNanos = millis(started, "l1");
    maxWaitNanos = millis(started, "wait");
    commandTimeoutNanos = millis(started, "command");
    maxAttempts = (int) started.number("attempts");
  }

  private static long millis(Event event, String name) {
    return TimeUnit.MILLISECONDS.toNanos(event.number(name));
  }

  boolean killed() {
    return killedNanos != Long.MAX_VALUE;
  }
}
