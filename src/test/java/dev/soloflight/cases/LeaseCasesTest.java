package dev.soloflight.cases;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.soloflight.FlightCancelledException;
import dev.soloflight.FlightFailedException;
import dev.soloflight.FlightKey;
import dev.soloflight.FlightMode;
import dev.soloflight.FlightResult;
import dev.soloflight.Source;
import dev.soloflight.support.CallerNode;
import dev.soloflight.support.NodeProcess;
import dev.soloflight.support.RedisProcess;
import dev.soloflight.support.RedisRecords;
import dev.soloflight.support.SoloNode;
import dev.soloflight.support.TcpProxy;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executors;
import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Leases and heartbeats: what other libraries lost a flight to, or ran it twice for. */
class LeaseCasesTest {
  private static final Duration SOON = Duration.ofSeconds(20);

  private final AtomicInteger runs = new AtomicInteger();
  private final CountDownLatch running = new CountDownLatch(1);
  private final CountDownLatch gate = new CountDownLatch(1);
  private final FlightKey key = FlightKey.of("s", "lease");
  private RedisProcess redis;
  private RedisRecords records;

  @BeforeEach
  void start() {
    redis = RedisProcess.start();
    records = new RedisRecords(redis.sync());
  }

  @AfterEach
  void stop() {
    gate.countDown();
    redis.close();
  }

  private String slow() throws InterruptedException {
    int run = runs.incrementAndGet();
    running.countDown();
    gate.await();
    return "answer " + run;
  }

  private String field(FlightKey flight, String name) {
    return String.valueOf(records.read(flight).get(name));
  }

  private void awaitRunning() throws InterruptedException {
    assertThat(running.await(SOON.toSeconds(), TimeUnit.SECONDS)).isTrue();
  }

  /** Until the owner has beaten so often, one beat after the other. */
  private void awaitBeats(FlightKey flight, int beats) {
    for (int beat = 0; beat < beats; beat++) {
      String before = field(flight, "heartbeatAt");
      await()
          .atMost(SOON)
          .until(
              () ->
                  field(flight, "status").equals("RUNNING")
                      && !field(flight, "heartbeatAt").equals(before));
    }
  }

  private static <T> T get(CompletableFuture<T> call) throws Exception {
    return call.get(SOON.toSeconds(), TimeUnit.SECONDS);
  }

  @Test
  @DisplayName("Case 2: after a restart of Redis the same flight beats again, and so does the next")
  void beats_outlive_a_restart() throws Exception {
    try (SoloNode node = new SoloNode(redis.uri(), FlightMode.DISTRIBUTED)) {
      CompletableFuture<FlightResult<String>> call = node.inThread(key, c -> slow());
      awaitRunning();
      awaitBeats(key, 1);
      redis.restartEmpty();
      awaitBeats(key, 3);
      gate.countDown();
      assertThat(get(call).value()).isEqualTo("answer 1");
      assertThat(field(key, "status")).isEqualTo("SUCCEEDED");

      FlightKey next = FlightKey.of("s", "the next");
      CompletableFuture<String> provider = new CompletableFuture<>();
      var second = node.solo().callAsync(next, String.class, c -> provider);
      await().atMost(SOON).until(() -> field(next, "status").equals("RUNNING"));
      awaitBeats(next, 3);
      provider.complete("next");
      assertThat(get(second).value()).isEqualTo("next");
      assertThat(runs).hasValue(1);
    }
  }

  @Test
  @DisplayName(
      "Case 4: an acquire whose caller went before the reply costs nobody more than a lease")
  void nobody_owns_for_a_caller_that_went() throws Exception {
    Duration lease = Duration.ofSeconds(3);
    try (TcpProxy proxy = TcpProxy.to(redis);
        SoloNode going =
            new SoloNode(
                proxy.uri(),
                FlightMode.DISTRIBUTED,
                builder ->
                    builder
                        .commandTimeout(Duration.ofSeconds(30))
                        .stage("s", stage -> stage.takeoverDetect(lease)));
        SoloNode staying =
            new SoloNode(
                redis.uri(),
                FlightMode.DISTRIBUTED,
                // Whoever waited for two leases would be told so instead of answered.
                builder -> builder.followerMaxWait(lease.multipliedBy(2)))) {
      going.call(FlightKey.of("s", "connects"), c -> "");
      proxy.blackhole(TcpProxy.Direction.TO_CLIENT);
      AtomicReference<Thread> caller = new AtomicReference<>();
      CompletableFuture<FlightResult<String>> call = new CompletableFuture<>();
      Thread thread =
          new Thread(
              () -> {
                caller.set(Thread.currentThread());
                try {
                  call.complete(going.call(key, c -> "never"));
                } catch (RuntimeException e) {
                  call.completeExceptionally(e);
                }
              });
      thread.start();
      await().atMost(SOON).until(() -> field(key, "status").equals("PENDING"));
      caller.get().interrupt();
      assertThatThrownBy(() -> get(call)).hasCauseInstanceOf(FlightCancelledException.class);

      FlightResult<String> answer = staying.call(key, c -> "answer " + runs.incrementAndGet());
      assertThat(answer.source()).isEqualTo(Source.EXECUTED);
      assertThat(answer.value()).isEqualTo("answer 1");
      assertThat(going.gauge("soloflight.flights.owned")).as("beats for nobody").isZero();
      proxy.heal();
    }
  }

  @Test
  @DisplayName("Case 5: a task that dies with an Error ends its flight, beats included")
  void an_error_ends_the_flight() throws Exception {
    try (SoloNode node = new SoloNode(redis.uri(), FlightMode.DISTRIBUTED);
        SoloNode other = new SoloNode(redis.uri(), FlightMode.DISTRIBUTED)) {
      CompletableFuture<FlightResult<String>> call =
          node.inThread(
              key,
              c -> {
                slow();
                throw new LinkageError("the worker is gone");
              });
      awaitRunning();
      awaitBeats(key, 1);
      CompletableFuture<FlightResult<String>> follower = other.inThread(key, c -> "never");
      await().atMost(SOON).until(() -> records.read(key).containsKey("waiters"));
      gate.countDown();
      assertThatThrownBy(() -> get(call)).hasCauseInstanceOf(LinkageError.class);
      assertThatThrownBy(() -> get(follower))
          .cause()
          .isInstanceOfSatisfying(
              FlightFailedException.class,
              e -> assertThat(e.errorType()).isEqualTo(LinkageError.class.getName()));
      assertThat(field(key, "status")).isEqualTo("FAILED");
      assertThat(node.gauge("soloflight.flights.owned")).isZero();
      String last = field(key, "heartbeatAt");
      // Another flight's beats come and go meanwhile, by the same scheduler.
      CompletableFuture<String> provider = new CompletableFuture<>();
      FlightKey beating = FlightKey.of("s", "beating");
      var second = node.solo().callAsync(beating, String.class, c -> provider);
      await().atMost(SOON).until(() -> field(beating, "status").equals("RUNNING"));
      awaitBeats(beating, 3);
      assertThat(field(key, "heartbeatAt")).isEqualTo(last);
      provider.complete("");
      get(second);
    }
  }

  @Test
  @DisplayName("Case 6: beats go on when every pool that a user can hand in is saturated")
  void saturated_pools_starve_no_beat() throws Exception {
    ThreadPoolExecutor handedIn = (ThreadPoolExecutor) Executors.newFixedThreadPool(1);
    CountDownLatch pools = new CountDownLatch(1);
    Runnable occupy =
        () -> {
          try {
            pools.await();
          } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
          }
        };
    try (SoloNode node =
            new SoloNode(
                redis.uri(),
                FlightMode.DISTRIBUTED,
                builder ->
                    builder
                        .asyncExecutor(handedIn)
                        .stage(
                            "s",
                            stage ->
                                stage
                                    .takeoverDetect(Duration.ofSeconds(2))
                                    .guardTimeout(Duration.ofMinutes(1))
                                    .maxConcurrent(10)));
        SoloNode other = new SoloNode(redis.uri(), FlightMode.DISTRIBUTED)) {
      FlightKey async = FlightKey.of("s", "async");
      CompletableFuture<FlightResult<String>> blocking = node.inThread(key, c -> slow());
      CompletableFuture<String> provider = new CompletableFuture<>();
      var asynchronous = node.solo().callAsync(async, String.class, c -> provider);
      awaitRunning();
      await().atMost(SOON).until(() -> field(async, "status").equals("RUNNING"));

      for (int i = 0; i < 100; i++) {
        handedIn.execute(occupy);
        ForkJoinPool.commonPool().execute(occupy);
      }
      List<CompletableFuture<FlightResult<String>>> followers =
          List.of(other.inThread(key, c -> "twice"), other.inThread(async, c -> "twice"));
      awaitBeats(key, 15);
      awaitBeats(async, 5);
      assertThat(field(key, "attempt")).isEqualTo("1");
      assertThat(field(async, "attempt")).isEqualTo("1");
      gate.countDown();
      provider.complete("async answer");
      assertThat(get(blocking).value()).isEqualTo("answer 1");
      assertThat(get(followers.get(0)).value()).isEqualTo("answer 1");
      // What the asynchronous form does with its result is done in the pool handed in for it.
      pools.countDown();
      assertThat(get(asynchronous).value()).isEqualTo("async answer");
      assertThat(get(followers.get(1)).value()).isEqualTo("async answer");
    } finally {
      pools.countDown();
      handedIn.shutdownNow();
    }
  }

  @Test
  @DisplayName("Case 8: a clock ten minutes ahead and one ten minutes behind change nothing")
  void clocks_change_nothing(@TempDir Path dir) throws Exception {
    assumeTrue(
        NodeProcess.faketimeAvailable(),
        "libfaketime is not installed; that no wall clock is read anywhere is held by"
            + " ArchitectureTest");
    Path yaml = dir.resolve("soloflight.yml");
    Files.writeString(
        yaml,
        """
        redis: {uri: "%s"}
        stages:
          s: {heartbeat-interval: 500ms, takeover-detect: 5s, running-ttl: 15s, l1-ttl: 0s}
        """
            .formatted(redis.uri()));
    Duration off = Duration.ofMinutes(10);
    try (NodeProcess ahead =
            NodeProcess.of(CallerNode.class).args(yaml.toString()).clockOffset(off).start();
        NodeProcess behind =
            NodeProcess.of(CallerNode.class)
                .args(yaml.toString())
                .clockOffset(off.negated())
                .start()) {
      List<NodeProcess> both = List.of(ahead, behind);
      for (NodeProcess node : both) {
        node.awaitLine("READY", Duration.ofSeconds(60));
      }
      for (NodeProcess owner : both) {
        NodeProcess follower = owner == ahead ? behind : ahead;
        String name = owner == ahead ? "ahead" : "behind";
        FlightKey flight = FlightKey.of("s", name);

        owner.send(name + " 1 3000");
        owner.awaitLine("RUN " + name + " .*", SOON);
        follower.send(name + " 5 1");
        awaitBeats(flight, 2);
        follower.awaitLine("DONE " + name, SOON);
        owner.awaitLine("DONE " + name, SOON);
        follower.send(name + " 1 1");
        follower.awaitLine("ANSWER " + name + " REPLAYED .*", SOON);
        assertThat(field(flight, "attempt")).isEqualTo("1");
        assertThat(follower.lines()).noneMatch(line -> line.startsWith("RUN " + name));
        assertThat(follower.lines())
            .filteredOn(line -> line.startsWith("ANSWER " + name + " "))
            .hasSize(6)
            .allMatch(line -> line.contains(" " + owner.pid() + "/"));
      }
      // And a dead owner is replaced by whichever clock is left.
      ahead.send("dies 1 60000");
      ahead.awaitLine("RUN dies .*", SOON);
      behind.send("dies 1 1");
      await()
          .atMost(SOON)
          .until(() -> records.read(FlightKey.of("s", "dies")).containsKey("waiters"));
      ahead.kill9();
      behind.awaitLine("ANSWER dies EXECUTED .*", SOON);
    }
  }
}
