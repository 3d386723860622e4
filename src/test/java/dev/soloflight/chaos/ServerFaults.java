package dev.soloflight.chaos;

import dev.soloflight.support.RedisProcess;
import io.lettuce.core.KillArgs;
import java.util.Random;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** A server that pauses, stands still, is full, forgets its scripts, or hangs up. */
final class ServerFaults {
  private final Topology topology;
  private final FaultLog log;
  private final Random random;

  ServerFaults(Topology topology, FaultLog log, Random random) {
    this.topology = topology;
    this.log = log;
    this.random = random;
  }

  void addTo(FaultMenu menu) {
    menu.add(2, FaultKind.REDIS_PAUSE, this::pause)
        .add(2, FaultKind.REDIS_STOP, this::stop)
        .add(2, FaultKind.REDIS_FULL, this::full)
        .add(2, FaultKind.EVICTION, this::evict)
        .add(2, FaultKind.SCRIPT_FLUSH, this::flushScripts)
        .add(2, FaultKind.CLIENT_KILL, this::killClients);
  }

  private void pause() throws InterruptedException {
    RedisProcess redis = any();
    int millis = silence();
    log.onAll(
        FaultKind.REDIS_PAUSE,
        () -> {
          redis.sync().clientPause(millis);
          Thread.sleep(millis);
        });
  }

  private void stop() throws InterruptedException {
    RedisProcess redis = any();
    int millis = silence();
    log.onAll(
        FaultKind.REDIS_STOP,
        () -> {
          redis.pause();
          try {
            Thread.sleep(millis);
          } finally {
            redis.resume();
          }
        });
  }

  private void full() throws InterruptedException {
    RedisProcess redis = any();
    limit(redis, FaultKind.REDIS_FULL, "noeviction", number(redis, "used_memory") / 2);
  }

  private void evict() throws InterruptedException {
    RedisProcess redis = any();
    long limit =
        number(redis, "used_memory_overhead") + number(redis, "used_memory_dataset") * 6 / 10;
    limit(redis, FaultKind.EVICTION, "allkeys-lru", limit);
  }

  private void limit(RedisProcess redis, FaultKind kind, String policy, long bytes)
      throws InterruptedException {
    int millis = 500 + random.nextInt(1_500);
    log.onAll(
        kind,
        () -> {
          redis.sync().configSet("maxmemory-policy", policy);
          redis.sync().configSet("maxmemory", Long.toString(bytes));
          Thread.sleep(millis);
          redis.sync().configSet("maxmemory", "0");
          redis.sync().configSet("maxmemory-policy", "noeviction");
        });
  }

  private void flushScripts() throws InterruptedException {
    log.onAll(
        FaultKind.SCRIPT_FLUSH,
        () -> topology.primaries().forEach(redis -> redis.sync().scriptFlush()));
  }

  private void killClients() throws InterruptedException {
    log.onAll(
        FaultKind.CLIENT_KILL,
        () ->
            topology
                .primaries()
                .forEach(
                    redis -> redis.sync().clientKill(KillArgs.Builder.typeNormal().skipme(true))));
  }

  private RedisProcess any() {
    var primaries = topology.primaries();
    return primaries.get(random.nextInt(primaries.size()));
  }

  private int silence() {
    return 200 + random.nextInt(topology.maxSilenceMillis() - 200);
  }

  private static long number(RedisProcess redis, String field) {
    Matcher matcher =
        Pattern.compile("(?m)^" + field + ":(\\d+)").matcher(redis.sync().info("memory"));
    if (!matcher.find()) {
      throw new IllegalStateException("INFO memory has no " + field);
    }
    return Long.parseLong(matcher.group(1));
  }
}
