package dev.soloflight.chaos;

import dev.soloflight.support.NodeProcess;
import dev.soloflight.support.RedisProcess;
import dev.soloflight.support.TcpProxy;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.jspecify.annotations.Nullable;

/** The nodes of a run: started, replaced, and stopped at the end. Used by one thread. */
final class ChaosNodes implements AutoCloseable {
  private static final Duration SOON = Duration.ofSeconds(40);
  private static final Duration CLOCK_OFFSET = Duration.ofMinutes(10);
  private static final int WAIT_MILLIS = 4_000;

  /** One place in the cluster: a JVM, the next one, and their way to Redis. */
  static final class Place {
    private final int number;
    private final @Nullable TcpProxy proxy;
    private int life;
    private String name = "";
    private NodeProcess process;

    private Place(int number, @Nullable TcpProxy proxy) {
      this.number = number;
      this.proxy = proxy;
    }

    String name() {
      return name;
    }

    NodeProcess process() {
      return process;
    }

    TcpProxy proxy() {
      if (proxy == null) {
        throw new IllegalStateException("no proxy in this topology");
      }
      return proxy;
    }
  }

  private final ChaosSetting setting;
  private final Topology topology;
  private final FaultLog log;
  private final Random random;
  private final List<Place> places = new ArrayList<>();

  ChaosNodes(ChaosSetting setting, Topology topology, FaultLog log, Random random) {
    this.setting = setting;
    this.topology = topology;
    this.log = log;
    this.random = random;
  }

  void startAll() throws InterruptedException {
    int size = 3 + random.nextInt(2);
    for (int i = 1; i <= size; i++) {
      RedisProcess redis = topology.primaries().get(0);
      Place place = new Place(i, topology.proxied() ? TcpProxy.to(redis) : null);
      places.add(place);
      start(place);
    }
    places.forEach(ChaosNodes::awaitReady);
  }

  Place any() {
    return places.get(random.nextInt(places.size()));
  }

  List<Place> others(Place than) {
    return places.stream().filter(place -> place != than).toList();
  }

  /** The next JVM at this place, with other TTLs. Does not wait for it. */
  void start(Place place) throws InterruptedException {
    place.life++;
    place.name = "n" + place.number + "." + place.life;
    int heartbeat = 120 + random.nextInt(60);
    int lease = 600 + random.nextInt(200);
    int running = 1_500 + random.nextInt(500);
    int result = 2_500 + random.nextInt(1_000);
    int failed = 800 + random.nextInt(400);
    Path yaml = setting.directory().resolve(place.name + ".yml");
    write(
        yaml,
        """
        mode: %s
        redis: {uri: "%s", command-timeout: 300ms}
        follower-max-wait: %dms
        stream-block-timeout: 500ms
        poll-fallback-interval: 500ms
        l1: {ttl: 800ms}
        defaults:
          heartbeat-interval: %dms
          takeover-detect: %dms
          running-ttl: %dms
          result-ttl: %dms
          failed-result-ttl: %dms
        stages:
          quick:
          slow:
          frail: {retry-backoff: 100ms}
          careful: {on-ownership-lost: cancel}
        """
            .formatted(
                setting.mode(),
                place.proxy == null ? topology.uri() : place.proxy.uri(),
                WAIT_MILLIS,
                heartbeat,
                lease,
                running,
                result,
                failed));
    String settings =
        "mode=%s,heartbeat=%d,lease=%d,running=%d,result=%d,failed=%d,l1=800,wait=%d,command=300,attempts=3"
            .formatted(setting.mode(), heartbeat, lease, running, result, failed, WAIT_MILLIS);
    NodeProcess.Builder node =
        NodeProcess.of(ChaosNode.class)
            .args(
                yaml.toString(),
                setting.directory().resolve(place.name + ".history").toString(),
                place.name,
                Long.toString(random.nextLong()),
                settings);
    // Every other node: one ahead, one behind, two right.
    int clock = random.nextInt(4);
    if (clock < 2 && setting.has(FaultKind.CLOCK) && NodeProcess.faketimeAvailable()) {
      node.clockOffset(clock == 0 ? CLOCK_OFFSET : CLOCK_OFFSET.negated());
      log.onNode(FaultKind.CLOCK, place.name, () -> {});
    }
    place.process = node.start();
  }

  static void awaitReady(Place place) {
    place.process.awaitLine("READY", SOON);
  }

  /** Makes no more calls and waits until all are answered; then closes. */
  void finish() {
    places.forEach(place -> place.process.send("STOP"));
    places.forEach(place -> says(place, "QUIET"));
    places.forEach(ChaosNodes::closeOrderly);
  }

  static void closeOrderly(Place place) {
    place.process.send("CLOSE");
    if (says(place, "CLOSED") && place.process.awaitExit(SOON) != 0) {
      throw new AssertionError(place.name + " ended with code " + place.process.exitCode());
    }
  }

  /** False if it does not: some call has no answer, and the history tells which. */
  private static boolean says(Place place, String word) {
    try {
      place.process.awaitLine(word, SOON);
      return true;
    } catch (AssertionError e) {
      System.out.println(place.name + ": " + e.getMessage());
      return false;
    }
  }

  /** What a node had to say beside its history. */
  void keepLog(Place place) {
    write(
        setting.directory().resolve(place.name + ".log"),
        String.join("\n", place.process.errorLines()) + "\n");
  }

  private static void write(Path file, String text) {
    try {
      Files.writeString(file, text);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  @Override
  public void close() {
    for (Place place : places) {
      if (place.process != null) {
        keepLog(place);
        place.process.close();
      }
      if (place.proxy != null) {
        place.proxy.close();
      }
    }
  }
}
