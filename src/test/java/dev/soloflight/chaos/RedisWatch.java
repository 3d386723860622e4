package dev.soloflight.chaos;

import dev.soloflight.support.RedisProcess;
import io.lettuce.core.RedisException;
import io.lettuce.core.ScriptOutputType;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/**
 * Looks at Redis all the time: whether it answers without delay, and whether every key has a TTL.
 * Key and TTL are read in one script, so that nothing comes between.
 */
final class RedisWatch implements AutoCloseable {
  private static final long INTERVAL_MILLIS = 50;
  private static final int TTL_EVERY = 4;
  private static final String ETERNAL =
      "local eternal = {}"
          + " for _, key in ipairs(redis.call('KEYS', '*')) do"
          + " if redis.call('PTTL', key) == -1 then eternal[#eternal + 1] = key end end"
          + " return eternal";

  private final Topology topology;
  private final HistoryWriter history;
  private final Set<String> known = new HashSet<>();
  private final Thread thread = new Thread(this::watch, "chaos-watch");
  private volatile boolean closed;

  RedisWatch(Topology topology, HistoryWriter history) {
    this.topology = topology;
    this.history = history;
    thread.setDaemon(true);
    thread.start();
  }

  private void watch() {
    for (int round = 0; !closed; round++) {
      long before = System.nanoTime();
      try {
        boolean looksAtKeys = round % TTL_EVERY == 0;
        for (RedisProcess redis : topology.primaries()) {
          redis.sync().ping();
          if (looksAtKeys) {
            look(redis);
          }
        }
      } catch (RedisException | IllegalArgumentException e) {
        // Away, and known to be: a fault is on.
      }
      if (System.nanoTime() - before > Margins.STALL_NANOS) {
        history.write(Event.Kind.STALL, "from", before);
      }
      try {
        Thread.sleep(INTERVAL_MILLIS);
      } catch (InterruptedException e) {
        return;
      }
    }
  }

  private void look(RedisProcess redis) {
    List<String> eternal = redis.sync().eval(ETERNAL, ScriptOutputType.MULTI);
    for (String key : eternal) {
      if (known.add(key)) {
        history.write(Event.Kind.ETERNAL, "name", key);
      }
    }
  }

  @Override
  public void close() throws InterruptedException {
    closed = true;
    thread.join();
  }
}
