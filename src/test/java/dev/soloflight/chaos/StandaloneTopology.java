package dev.soloflight.chaos;

import dev.soloflight.support.RedisProcess;
import java.util.List;
import java.util.Random;

/** One server that keeps what it has acknowledged when its process is killed. */
final class StandaloneTopology implements Topology {
  // What is written is with the kernel before it is answered: a killed process loses none of it.
  private final RedisProcess redis =
      RedisProcess.builder()
          .config("appendonly yes", "appendfsync no", "auto-aof-rewrite-percentage 0")
          .start();

  @Override
  public String uri() {
    return redis.uri();
  }

  @Override
  public List<RedisProcess> primaries() {
    return List.of(redis);
  }

  @Override
  public RedisProcess primaryOf(String redisKey) {
    return redis;
  }

  @Override
  public boolean proxied() {
    return true;
  }

  @Override
  public int maxSilenceMillis() {
    return 2_500;
  }

  @Override
  public void addFaults(FaultMenu menu, FaultLog log, Random random) {
    menu.add(2, FaultKind.REDIS_EMPTY, () -> restartEmpty(log, random))
        .add(
            2,
            FaultKind.REDIS_RESTART,
            () ->
                log.onAll(
                    FaultKind.REDIS_RESTART,
                    () -> {
                      redis.kill9();
                      Thread.sleep(random.nextInt(2_000));
                      redis.restartWithData();
                    }));
  }

  @Override
  public void mustHappen(FaultLog log, Random random) throws InterruptedException {
    restartEmpty(log, random);
  }

  private void restartEmpty(FaultLog log, Random random) throws InterruptedException {
    log.onAll(
        FaultKind.REDIS_EMPTY,
        () -> {
          redis.kill9();
          Thread.sleep(random.nextInt(1_500));
          redis.restartEmpty();
        });
  }

  @Override
  public void close() {
    redis.close();
  }
}
