package dev.soloflight.internal.time;

import java.util.concurrent.Future;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The real clock, with one daemon thread for all alarms. */
public final class SystemTimers implements Timers {
  private static final Logger log = LoggerFactory.getLogger(SystemTimers.class);

  private final ScheduledThreadPoolExecutor executor;

  /** Starts the thread lazily, under the given name. */
  public SystemTimers(String threadName) {
    executor =
        new ScheduledThreadPoolExecutor(
            1,
            action -> {
              Thread thread = new Thread(action, threadName);
              thread.setDaemon(true);
              return thread;
            },
            new ThreadPoolExecutor.DiscardPolicy());
    executor.setRemoveOnCancelPolicy(true);
    executor.setExecuteExistingDelayedTasksAfterShutdownPolicy(false);
  }

  @Override
  public long nanoTime() {
    return System.nanoTime();
  }

  @Override
  public Alarm after(long delayNanos, Runnable action) {
    Future<?> future =
        executor.schedule(() -> runAndLog(action), Math.max(0, delayNanos), TimeUnit.NANOSECONDS);
    return () -> future.cancel(false);
  }

  @Override
  public void close() {
    executor.shutdownNow();
  }

  private static void runAndLog(Runnable action) {
    try {
      action.run();
    } catch (Throwable e) {
      log.error("a timer action failed; timers go on", e);
    }
  }
}
