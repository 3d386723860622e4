package dev.soloflight.chaos;

import dev.soloflight.support.RedisProcess;
import dev.soloflight.support.SentinelSetup;
import java.util.HashSet;
import java.util.Set;

/**
 * Looks whether the sentinels have deposed a primary that still serves its clients. They do so by
 * themselves when they race for a failover, and then take up to twenty seconds to tell the deposed
 * one, which throws away all that was written to it since. A primary that was killed, and begins
 * anew as one, is none of these: nobody is told to connect to it.
 */
final class SplitWatch implements AutoCloseable {
  private static final long INTERVAL_MILLIS = 50;

  private final SentinelSetup setup;
  private final FaultLog log;
  private final Set<RedisProcess> named = new HashSet<>();
  private final Thread thread = new Thread(this::watch, "chaos-split-watch");
  private volatile boolean closed;

  SplitWatch(SentinelSetup setup, FaultLog log) {
    this.setup = setup;
    this.log = log;
    thread.setDaemon(true);
    thread.start();
  }

  private void watch() {
    try {
      while (!closed) {
        if (split()) {
          log.onAll(
              FaultKind.SPLIT,
              () -> {
                while (split()) {
                  Thread.sleep(INTERVAL_MILLIS);
                }
              });
        }
        Thread.sleep(INTERVAL_MILLIS);
      }
    } catch (InterruptedException e) {
      // Closed: a split that is on is not over.
    }
  }

  private boolean split() {
    try {
      named.addAll(setup.primariesNamed());
    } catch (RuntimeException e) {
      System.err.println("DBG named " + e);
      return false;
    }
    named.removeIf(server -> !server.isAlive() || isReplica(server));
    System.err.println("DBG named " + named.stream().map(RedisProcess::port).toList());
    return named.size() > 1;
  }

  private static boolean isReplica(RedisProcess server) {
    try {
      return !server.sync().info("replication").contains("role:master");
    } catch (RuntimeException e) {
      return false; // It stands still, as what it was.
    }
  }

  @Override
  public void close() {
    closed = true;
    thread.interrupt();
    try {
      thread.join();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
