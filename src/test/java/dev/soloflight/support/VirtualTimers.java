package dev.soloflight.support;

import dev.soloflight.internal.time.Timers;
import java.time.Duration;
import java.util.Comparator;
import java.util.PriorityQueue;

/** A clock that a test turns by hand: alarms ring in order, on the test's thread. */
public final class VirtualTimers implements Timers {
  private record Entry(long at, long seq, Runnable action) {}

  private final PriorityQueue<Entry> alarms =
      new PriorityQueue<>(Comparator.comparingLong(Entry::at).thenComparingLong(Entry::seq));
  private long now;
  private long seq;

  @Override
  public synchronized long nanoTime() {
    return now;
  }

  @Override
  public synchronized Alarm after(long delayNanos, Runnable action) {
    Entry entry = new Entry(now + Math.max(0, delayNanos), seq++, action);
    alarms.add(entry);
    return () -> {
      synchronized (this) {
        alarms.remove(entry);
      }
    };
  }

  /** Turns the clock and lets every alarm on the way ring. */
  public void advance(Duration by) {
    long until = nanoTime() + by.toNanos();
    while (true) {
      Entry next;
      synchronized (this) {
        next = alarms.peek();
        if (next == null || next.at() > until) {
          now = until;
          return;
        }
        alarms.poll();
        now = next.at();
      }
      next.action().run();
    }
  }

  /** How many alarms are pending. */
  public synchronized int pending() {
    return alarms.size();
  }

  @Override
  public synchronized void close() {
    alarms.clear();
  }
}
