package dev.soloflight.chaos;

import static org.awaitility.Awaitility.await;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.Stream;
import org.awaitility.core.ConditionTimeoutException;

/** One run: nodes and Redis started, faults by the seed, everything ended, the history read. */
final class ChaosDriver {
  /** A killed node's inbox lives for a minute. */
  private static final Duration KEYS_MAY_TAKE = Duration.ofSeconds(90);

  private final ChaosSetting setting;
  private final AtomicReference<Throwable> failure = new AtomicReference<>();

  private ChaosDriver(ChaosSetting setting) {
    this.setting = setting;
  }

  static History run(ChaosSetting setting) throws Exception {
    return new ChaosDriver(setting).run();
  }

  private History run() throws Exception {
    prepareDirectory();
    Random forNodes = new Random(setting.seed());
    Random forRedis = new Random(setting.seed() + 1);
    try (HistoryWriter history = new HistoryWriter(file("driver.history"), "driver");
        Topology topology = Topology.start(setting.topology())) {
      FaultLog log = new FaultLog(history);
      try (ChaosNodes nodes = new ChaosNodes(setting, topology, log, forNodes);
          RedisWatch watch = new RedisWatch(topology, history)) {
        nodes.startAll();
        injectFaults(topology, nodes, log, forNodes, forRedis);
        nodes.finish();
      }
      history.write(Event.Kind.LEFT, "keys", awaitNoKeys(topology));
    }
    try (Stream<Path> files = Files.list(setting.directory())) {
      return History.read(
          files.filter(file -> file.toString().endsWith(".history")).sorted().toList());
    }
  }

  private void injectFaults(
      Topology topology, ChaosNodes nodes, FaultLog log, Random forNodes, Random forRedis)
      throws InterruptedException {
    FaultMenu nodeFaults = new FaultMenu(setting);
    new NodeFaults(topology, nodes, log, forNodes).addTo(nodeFaults);
    FaultMenu redisFaults = new FaultMenu(setting);
    new ServerFaults(topology, log, forRedis).addTo(redisFaults);
    new RecordFaults(topology, log, forRedis).addTo(redisFaults);
    topology.addFaults(redisFaults, log, forRedis);
    FaultLog.Body sure =
        setting.only().isEmpty() ? () -> topology.mustHappen(log, forRedis) : () -> {};

    long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(setting.seconds());
    Thread first = inject("chaos-nodes", nodeFaults, () -> {}, forNodes, 4_000, end);
    Thread second = inject("chaos-redis", redisFaults, sure, forRedis, 4_000, end);
    first.join();
    second.join();
    if (failure.get() != null) {
      throw new AssertionError("the bench failed", failure.get());
    }
  }

  /** One fault after the other, with time between in which nothing is excused. */
  private Thread inject(
      String name, FaultMenu menu, FaultLog.Body sure, Random random, int restMillis, long end) {
    Thread thread =
        new Thread(
            () -> {
              try {
                sleepUntil(end, 2_000);
                sure.run();
                while (System.nanoTime() < end && failure.get() == null) {
                  sleepUntil(end, 300 + random.nextInt(restMillis));
                  if (!menu.isEmpty() && System.nanoTime() < end) {
                    menu.choose(random).run();
                  }
                }
              } catch (Throwable e) {
                failure.compareAndSet(null, e);
              }
            },
            name);
    thread.start();
    return thread;
  }

  private static void sleepUntil(long end, long millis) throws InterruptedException {
    long left = TimeUnit.NANOSECONDS.toMillis(end - System.nanoTime());
    Thread.sleep(Math.max(0, Math.min(left, millis)));
  }

  private static long awaitNoKeys(Topology topology) {
    try {
      await()
          .atMost(KEYS_MAY_TAKE)
          .pollInterval(Duration.ofMillis(200))
          .ignoreExceptions()
          .until(() -> keys(topology) == 0);
      return 0;
    } catch (ConditionTimeoutException e) {
      topology.primaries().forEach(redis -> System.out.println("left: " + redis.sync().keys("*")));
      return keys(topology);
    }
  }

  private static long keys(Topology topology) {
    return topology.primaries().stream().mapToLong(redis -> redis.sync().dbsize()).sum();
  }

  private void prepareDirectory() throws IOException {
    Files.createDirectories(setting.directory());
    List<Path> old;
    try (Stream<Path> files = Files.list(setting.directory())) {
      old = files.toList();
    }
    for (Path file : old) {
      Files.delete(file);
    }
  }

  private Path file(String name) {
    return setting.directory().resolve(name);
  }
}
