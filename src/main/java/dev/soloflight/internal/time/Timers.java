package dev.soloflight.internal.time;

/**
 * The monotonic clock and the alarm clock of one instance, a seam: tests put a virtual clock here.
 * Never wall-clock time; what the cluster agrees on is the Redis clock alone (DESIGN 3.2).
 */
public interface Timers extends AutoCloseable {
  /** Monotonic nanoseconds; only differences mean something. */
  long nanoTime();

  /**
   * Runs an action once, after a delay, on the timer's own thread. The action must not block; what
   * it throws is logged and otherwise ignored.
   */
  Alarm after(long delayNanos, Runnable action);

  /** Stops; pending alarms are dropped, later ones never ring. */
  @Override
  void close();

  /** A pending action. */
  @FunctionalInterface
  interface Alarm {
    /** Drops the action if it has not begun. */
    void cancel();
  }
}
