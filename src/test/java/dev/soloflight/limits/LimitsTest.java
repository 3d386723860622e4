package dev.soloflight.limits;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.soloflight.FlightKey;
import dev.soloflight.FlightMode;
import dev.soloflight.FlightResult;
import dev.soloflight.Source;
import dev.soloflight.support.CallerNode;
import dev.soloflight.support.NodeProcess;
import dev.soloflight.support.RedisProcess;
import dev.soloflight.support.RedisRecords;
import dev.soloflight.support.SoloNode;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** On a server of its own, which counts. */
class LimitsTest {
  private static final Duration SOON = Duration.ofMinutes(3);
  private static final int FLIGHTS = 10_000;
  private static final int CALLERS = 10;
  private static final int FEW_THREADS = 40;
  private static final long HEAP_NOISE = 8L << 20;

  private RedisProcess redis;

  @BeforeEach
  void start() {
    redis = RedisProcess.start();
  }

  @AfterEach
  void stop() {
    redis.close();
  }

  private NodeProcess node() {
    NodeProcess node =
        NodeProcess.of(LimitsNode.class).args(redis.uri()).jvmArgs("-Xmx512m").start();
    node.awaitLine("READY", SOON);
    return node;
  }

  /** Of the latest line of this kind: threads, then heap. */
  private static long[] threadsAndHeap(NodeProcess node, String word, int times) {
    await()
        .atMost(SOON)
        .until(() -> !node.isAlive() || said(node, word).size() >= times || failed(node));
    assertThat(said(node, "FAILED")).isEmpty();
    String[] words = said(node, word).get(times - 1).split(" ", -1);
    return new long[] {Long.parseLong(words[1]), Long.parseLong(words[2])};
  }

  private static boolean failed(NodeProcess node) {
    return !said(node, "FAILED").isEmpty();
  }

  private static List<String> said(NodeProcess node, String word) {
    return node.lines().stream().filter(line -> line.startsWith(word + " ")).toList();
  }

  @Test
  void a_hundred_thousand_callers_of_own_flights_hold_no_threads_and_leave_no_heap() {
    try (NodeProcess node = node()) {
      List<Long> heaps = new ArrayList<>();
      for (int round = 1; round <= 3; round++) {
        node.send("wait waits " + round + " " + FLIGHTS + " " + CALLERS);
        long[] waiting = threadsAndHeap(node, "WAITING", round);
        node.send("end");
        long[] answered = threadsAndHeap(node, "ANSWERED", round);
        report("own", waiting, answered);
        assertThat(waiting[0]).isLessThan(FEW_THREADS);
        heaps.add(answered[1]);
      }
      assertThat(heaps.get(2)).isLessThan(heaps.get(0) + HEAP_NOISE);
    }
  }

  @Test
  void a_hundred_thousand_callers_of_followed_flights_hold_no_threads_and_leave_no_heap()
      throws Exception {
    try (NodeProcess node = node();
        SoloNode owner =
            new SoloNode(
                redis.uri(),
                FlightMode.HYBRID,
                builder ->
                    builder
                        .commandTimeout(Duration.ofSeconds(10))
                        .stage("waits", LimitsSettings::patient))) {
      List<Long> heaps = new ArrayList<>();
      for (int round = 1; round <= 3; round++) {
        CompletableFuture<String> provider = new CompletableFuture<>();
        AtomicInteger started = new AtomicInteger();
        List<CompletableFuture<?>> own = new ArrayList<>();
        for (int flight = 0; flight < FLIGHTS; flight++) {
          FlightKey key = FlightKey.of("waits", Integer.toString(round), flight);
          own.add(
              owner
                  .solo()
                  .callAsync(
                      key,
                      String.class,
                      c -> {
                        started.incrementAndGet();
                        return provider;
                      }));
        }
        await().atMost(SOON).until(() -> started.get() == FLIGHTS);
        node.send("wait waits " + round + " " + FLIGHTS + " " + CALLERS);
        long[] waiting = threadsAndHeap(node, "WAITING", round);
        provider.complete("an answer");
        long[] answered = threadsAndHeap(node, "ANSWERED", round);
        for (CompletableFuture<?> call : own) {
          call.get(SOON.toSeconds(), TimeUnit.SECONDS);
        }
        assertThat(started).hasValue(FLIGHTS);
        report("followed", waiting, answered);
        assertThat(waiting[0]).isLessThan(FEW_THREADS);
        heaps.add(answered[1]);
      }
      assertThat(heaps.get(2)).isLessThan(heaps.get(0) + HEAP_NOISE);
    }
  }

  @Test
  void a_million_different_keys_leave_nothing_in_the_heap_of_their_node() {
    int part = 200_000;
    try (NodeProcess node = node()) {
      List<Long> heaps = new ArrayList<>();
      for (int i = 1; i <= 5; i++) {
        node.send("keys " + (i - 1) * part + " " + i * part);
        heaps.add(threadsAndHeap(node, "FLOWN", i)[1]);
      }
      System.out.println("a million keys: heap after each fifth " + heaps + " bytes");
      assertThat(heaps.get(4)).isLessThan(heaps.get(0) + HEAP_NOISE);
      List<String> meters =
          said(node, "FLOWN").stream().map(line -> line.split(" ", -1)[3]).distinct().toList();
      assertThat(meters).as("meters, however many keys").hasSize(1);
    }
  }

  /**
   * What the machine does beside it is in every gap too; so rounds are read until one is in time.
   * One who cannot keep up is late in each.
   */
  @Test
  void ten_thousand_owned_flights_beat_in_time() throws Exception {
    double inTime = LimitsSettings.INTERVAL.toMillis() / 1e3 + 0.5;
    try (NodeProcess node = node()) {
      node.send("wait beats 1 " + FLIGHTS + " 1");
      threadsAndHeap(node, "WAITING", 1);
      List<Double> gaps = List.of();
      try (BeatMonitor monitor = new BeatMonitor(redis.port())) {
        for (int rounds = 5; rounds <= 50; rounds++) {
          gaps = monitor.awaitRounds(FLIGHTS, rounds);
          if (gaps.stream().anyMatch(gap -> gap < inTime)) {
            break;
          }
        }
      }
      System.out.println(
          FLIGHTS + " owned flights: longest gap of each round of beats, s: " + gaps);
      assertThat(gaps).anyMatch(gap -> gap < inTime);
      assertThat(said(node, "FAILED")).isEmpty();
    }
  }

  @Test
  void eight_nodes_on_one_key_cost_by_nodes_and_not_by_callers(@TempDir Path directory)
      throws Exception {
    Path yaml = directory.resolve("soloflight.yml");
    Files.writeString(
        yaml,
        """
        redis: {uri: "%s", command-timeout: 10s}
        poll-fallback-interval: 1m
        follower-max-wait: 60s
        stages:
          s: {heartbeat-interval: 20s, takeover-detect: 60s, running-ttl: 90s}
        """
            .formatted(redis.uri()));
    int nodeCount = 8;
    List<NodeProcess> nodes = new ArrayList<>();
    try {
      for (int i = 0; i < nodeCount; i++) {
        nodes.add(NodeProcess.of(CallerNode.class).args(yaml.toString()).start());
      }
      nodes.forEach(node -> node.awaitLine("READY", SOON));
      nodes.forEach(node -> node.send("warm 1 100")); // Loads the scripts, starts the inboxes.
      nodes.forEach(node -> node.awaitLine("DONE warm", SOON));
      for (int callers : List.of(1, 100)) {
        redis.resetStats();
        nodes.forEach(node -> node.send("by" + callers + " " + callers + " 4000"));
        nodes.forEach(node -> node.awaitLine("DONE by" + callers, SOON));
        long scripts = redis.commandCount("evalsha") + redis.commandCount("eval");
        System.out.println(
            nodeCount + " nodes, " + callers + " callers each: " + scripts + " scripts");
        // An acquire each, one more each when it has ended, the owner's confirm and complete; one
        // more each where an inbox had not been read yet.
        assertThat(scripts).as(callers + " callers a node").isLessThanOrEqualTo(nodeCount * 4L);
      }
      assertThat(nodes.stream().flatMap(node -> said(node, "RUN").stream())).hasSize(3);
      assertThat(nodes.stream().flatMap(node -> said(node, "FAILED").stream())).isEmpty();
    } finally {
      nodes.forEach(NodeProcess::close);
    }
  }

  @Test
  void a_result_of_64_megabytes_is_shared_whole() throws Exception {
    byte[] letters = new byte[64 << 20];
    Random random = new Random(1);
    for (int i = 0; i < letters.length; i++) {
      letters[i] = (byte) ('a' + random.nextInt(26));
    }
    String large = new String(letters, StandardCharsets.US_ASCII);
    FlightKey key = FlightKey.of("s", "large");
    try (SoloNode one = largeNode();
        SoloNode two = largeNode()) {
      CompletableFuture<String> provider = new CompletableFuture<>();
      var own = one.solo().callAsync(key, String.class, c -> provider);
      await()
          .atMost(SOON)
          .until(() -> "RUNNING".equals(redis.sync().hget(RedisRecords.redisKey(key), "status")));
      var followed = two.solo().callAsync(key, String.class, c -> new CompletableFuture<>());
      await().atMost(SOON).until(() -> redis.sync().hexists(RedisRecords.redisKey(key), "waiters"));
      provider.complete(large);
      for (var call : List.of(own, followed)) {
        assertThat(large.equals(call.get(SOON.toSeconds(), TimeUnit.SECONDS).value())).isTrue();
      }
      FlightResult<String> replayed = two.call(key, c -> "another");
      assertThat(replayed.source()).isEqualTo(Source.REPLAYED);
      assertThat(large.equals(replayed.value())).isTrue();
    }
  }

  private SoloNode largeNode() {
    return new SoloNode(
        redis.uri(),
        FlightMode.DISTRIBUTED,
        builder -> builder.commandTimeout(Duration.ofSeconds(20)).set("max-result-bytes", "65MB"));
  }

  private static void report(String whose, long[] waiting, long[] answered) {
    System.out.printf(
        "%d callers of %d %s flights: %d threads, %.0f MB heap waiting, %.0f MB after%n",
        FLIGHTS * CALLERS, FLIGHTS, whose, waiting[0], waiting[1] / 1e6, answered[1] / 1e6);
  }
}
