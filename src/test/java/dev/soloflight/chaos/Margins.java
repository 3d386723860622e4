package dev.soloflight.chaos;

import java.util.concurrent.TimeUnit;

/** How much the checker forgives, and why. */
final class Margins {
  /**
   * From the moment something is due to the moment its line is in the history: threads of five JVMs
   * and Redis share two cores. Whatever stands still for longer than {@link #STALL_NANOS} is
   * written down and counted on its own, so this covers what lies below that, several times over.
   */
  static final long SCHEDULING_NANOS = TimeUnit.MILLISECONDS.toNanos(1_000);

  /** A shorter standstill cannot cost an owner its lease: lease - heartbeat is 400 ms at least. */
  static final long STALL_NANOS = TimeUnit.MILLISECONDS.toNanos(150);

  /**
   * How long a node may be without Redis after a fault has ended: up to 1 s until the next attempt
   * to connect, up to 0.75 s until the next ping of a node that had given up.
   */
  static final long AFTERMATH_NANOS = TimeUnit.MILLISECONDS.toNanos(2_000);

  /**
   * After a mere standstill connections are as they were, and after a mere hang-up they are back at
   * once: one command timeout and a retry.
   */
  static final long STALL_AFTERMATH_NANOS = TimeUnit.MILLISECONDS.toNanos(1_000);

  /** From a task's end to the commit on its record: one round trip, or a timeout and another. */
  static final long COMMIT_NANOS = TimeUnit.MILLISECONDS.toNanos(1_000);

  /** A forget without an answer may wait in a stopped Redis for as long as any fault lasts. */
  static final long UNANSWERED_FORGET_NANOS = TimeUnit.SECONDS.toNanos(15);

  /** Redis expires by the millisecond of its own clock. */
  static final long EXPIRY_NANOS = TimeUnit.MILLISECONDS.toNanos(3);

  private Margins() {}
}
