package dev.soloflight.cases;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.soloflight.FlightKey;
import dev.soloflight.FlightMode;
import dev.soloflight.FlightResult;
import dev.soloflight.Source;
import dev.soloflight.support.CallerNode;
import dev.soloflight.support.FaultyStore;
import dev.soloflight.support.NodeProcess;
import dev.soloflight.support.RedisProcess;
import dev.soloflight.support.RedisRecords;
import dev.soloflight.support.SoloNode;
import dev.soloflight.support.TestNode;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Lost wake-ups. Nobody polls here: an answer that comes at all was announced. */
class WakeUpCasesTest {
  private static final Duration SOON = Duration.ofSeconds(20);
  private static final Duration JVMS_START = Duration.ofSeconds(60);
  private static final String NEVER = "10m";

  @TempDir Path dir;
  private final List<NodeProcess> nodes = new ArrayList<>();
  private RedisProcess redis;
  private RedisRecords records;

  @BeforeEach
  void start() {
    redis = RedisProcess.start();
    records = new RedisRecords(redis.sync());
  }

  @AfterEach
  void stop() {
    nodes.forEach(NodeProcess::close);
    redis.close();
  }

  private void startJvms(int count, String takeoverDetect) throws IOException {
    Path yaml = dir.resolve("soloflight.yml");
    Files.writeString(
        yaml,
        """
        redis: {uri: "%s"}
        follower-max-wait: 60s
        poll-fallback-interval: %s
        stages:
          s: {heartbeat-interval: 500ms, takeover-detect: %s, running-ttl: 90s}
        """
            .formatted(redis.uri(), NEVER, takeoverDetect));
    for (int i = 0; i < count; i++) {
      nodes.add(NodeProcess.of(CallerNode.class).args(yaml.toString()).start());
    }
    nodes.forEach(node -> node.awaitLine("READY", JVMS_START));
  }

  private int waitingNodes(FlightKey key) {
    String waiters = records.read(key).getOrDefault("waiters", "");
    return waiters.isEmpty() ? 0 : waiters.split(" ", -1).length;
  }

  private static <T> T get(CompletableFuture<T> call) throws Exception {
    return call.get(SOON.toSeconds(), TimeUnit.SECONDS);
  }

  @Test
  @DisplayName("Case 9: an end announced before the follower listens is not missed")
  void an_end_before_the_first_read_is_not_missed() throws Exception {
    Map<String, String> settings =
        Map.of(
            "poll-fallback-interval", NEVER,
            "follower-max-wait", "60s",
            "stages.s.takeover-detect", "45s",
            "stages.s.running-ttl", "90s");
    FlightKey key = FlightKey.of("s", "ends early");
    try (SoloNode owner = new SoloNode(redis.uri(), FlightMode.DISTRIBUTED);
        TestNode follower = new TestNode(redis.uri(), settings)) {
      CountDownLatch running = new CountDownLatch(1);
      CountDownLatch gate = new CountDownLatch(1);
      CompletableFuture<FlightResult<String>> own =
          owner.inThread(
              key,
              c -> {
                running.countDown();
                gate.await();
                return "early";
              });
      assertThat(running.await(20, TimeUnit.SECONDS)).isTrue();
      // It has been told to wait and does not know it yet: there the flight ends.
      follower
          .store()
          .after(
              FaultyStore.Step.ACQUIRE,
              () -> {
                gate.countDown();
                own.join();
              });
      FlightResult<String> followed = get(follower.inThread(key, String.class, c -> "twice"));
      assertThat(followed.value()).isEqualTo("early");
      assertThat(followed.source()).isEqualTo(Source.FOLLOWED);
    }
  }

  @Test
  @DisplayName("Case 10: an owner killed -9 announces nothing and is taken over all the same")
  void a_killed_owner_needs_no_announcement() throws Exception {
    startJvms(2, "3s");
    FlightKey key = FlightKey.of("s", "dies");
    nodes.get(0).send("dies 1 600000");
    nodes.get(0).awaitLine("RUN dies .*", SOON);
    nodes.get(1).send("dies 1 1");
    await().atMost(SOON).until(() -> waitingNodes(key) == 1);
    nodes.get(0).kill9();
    nodes.get(1).awaitLine("ANSWER dies EXECUTED .*", SOON);
    assertThat(nodes.get(1).lines()).anyMatch(line -> line.matches("RUN dies \\d+ \\d+ 2"));
  }

  @Test
  @DisplayName("Case 11: followers that died waiting do not delay the one that lives")
  void dead_followers_delay_nobody() throws Exception {
    startJvms(4, "45s");
    FlightKey key = FlightKey.of("s", "queue");
    nodes.get(0).send("queue 1 600000");
    nodes.get(0).awaitLine("RUN queue .*", SOON);
    for (int i = 1; i < 4; i++) {
      int waiting = i;
      nodes.get(i).send("queue 3 1");
      await().atMost(SOON).until(() -> waitingNodes(key) == waiting);
    }
    nodes.get(1).kill9();
    nodes.get(2).kill9();
    // The owner hands over: the living one is the last of three that are woken, and the only one
    // that can take it.
    nodes.get(0).send("CLOSE");
    nodes.get(3).awaitLine("DONE queue", SOON);
    assertThat(nodes.get(3).lines())
        .filteredOn(line -> line.startsWith("RUN queue "))
        .singleElement()
        .asString()
        .endsWith(" 2");
    assertThat(nodes.get(3).lines()).filteredOn(line -> line.startsWith("ANSWER queue")).hasSize(3);
  }

  @Test
  @DisplayName("Case 13: after two restarts of Redis wake-ups still arrive by event")
  void events_outlive_restarts() throws Exception {
    try (SoloNode owner = new SoloNode(redis.uri(), FlightMode.DISTRIBUTED);
        SoloNode follower =
            new SoloNode(
                redis.uri(),
                FlightMode.DISTRIBUTED,
                builder -> builder.set("poll-fallback-interval", NEVER))) {
      for (int round = 0; round < 3; round++) {
        if (round > 0) {
          redis.restartEmpty();
          int again = round;
          await()
              .atMost(SOON)
              .ignoreExceptions()
              .until(() -> owner.call(FlightKey.of("s", "up", again), c -> "up") != null);
        }
        FlightKey key = FlightKey.of("s", "round", round);
        CompletableFuture<String> provider = new CompletableFuture<>();
        var own = owner.solo().callAsync(key, String.class, c -> provider);
        await()
            .atMost(SOON)
            .until(() -> "RUNNING".equals(records.read(key).getOrDefault("status", "")));
        CompletableFuture<FlightResult<String>> followed = follower.inThread(key, c -> "twice");
        await().atMost(SOON).until(() -> waitingNodes(key) == 1);
        await()
            .atMost(SOON)
            .until(() -> redis.sync().info("clients").contains("blocked_clients:1"));
        provider.complete("round " + round);
        assertThat(get(own).value()).isEqualTo("round " + round);
        assertThat(get(followed).value()).isEqualTo("round " + round);
        assertThat(get(followed).source()).isEqualTo(Source.FOLLOWED);
      }
    }
  }
}
