package dev.soloflight.cases;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.soloflight.FlightCancelledException;
import dev.soloflight.FlightKey;
import dev.soloflight.FlightMode;
import dev.soloflight.FlightResult;
import dev.soloflight.FlightTimeoutException;
import dev.soloflight.Source;
import dev.soloflight.support.RedisProcess;
import dev.soloflight.support.RedisRecords;
import dev.soloflight.support.SoloNode;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/** Duplicates and herds: what makes a second call, or many commands, of one. */
class HerdCasesTest {
  private static final Duration SOON = Duration.ofSeconds(20);

  private final AtomicInteger runs = new AtomicInteger();
  private final FlightKey key = FlightKey.of("s", "herd");
  private final CompletableFuture<String> provider = new CompletableFuture<>();
  private RedisProcess redis;
  private RedisRecords records;

  @BeforeEach
  void start() {
    redis = RedisProcess.start();
    records = new RedisRecords(redis.sync());
  }

  @AfterEach
  void stop() {
    redis.close();
  }

  private CompletableFuture<FlightResult<String>> startOn(SoloNode node, FlightKey flight) {
    return node.solo()
        .callAsync(
            flight,
            String.class,
            c -> {
              runs.incrementAndGet();
              return provider;
            });
  }

  private void awaitRunning(FlightKey flight) {
    await()
        .atMost(SOON)
        .until(() -> "RUNNING".equals(records.read(flight).getOrDefault("status", "")));
  }

  private void awaitFollowed() {
    await().atMost(SOON).until(() -> records.read(key).containsKey("waiters"));
  }

  private static <T> T get(CompletableFuture<T> call) throws Exception {
    return call.get(SOON.toSeconds(), TimeUnit.SECONDS);
  }

  @Test
  @DisplayName("Case 18: a hot key's polls are one a node and interval, not one a caller")
  void callers_do_not_multiply_polls() throws Exception {
    Duration poll = Duration.ofMillis(200);
    try (SoloNode owner = new SoloNode(redis.uri(), FlightMode.DISTRIBUTED);
        SoloNode follower =
            new SoloNode(
                redis.uri(),
                FlightMode.DISTRIBUTED,
                builder -> builder.set("poll-fallback-interval", poll.toMillis() + "ms"))) {
      CompletableFuture<FlightResult<String>> own = startOn(owner, key);
      awaitRunning(key);
      List<CompletableFuture<FlightResult<String>>> followers = new ArrayList<>();
      for (int i = 0; i < 500; i++) {
        followers.add(startOn(follower, key));
      }
      awaitFollowed();
      long beganAt = System.nanoTime();
      long before = redis.commandCount("evalsha");
      await().atMost(SOON).until(() -> redis.commandCount("evalsha") - before >= 30);
      long sent = redis.commandCount("evalsha") - before;
      long millis = TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - beganAt);
      // Beats (200 ms) and polls (200 ms, jitter of a quarter), and the inbox's refreshes.
      assertThat(sent).as("in %d ms", millis).isLessThan(10 + 3 * millis / 150);
      provider.complete("one");
      assertThat(get(own).value()).isEqualTo("one");
      for (CompletableFuture<FlightResult<String>> call : followers) {
        assertThat(get(call).value()).isEqualTo("one");
      }
      assertThat(runs).hasValue(1);
    }
  }

  @Test
  @DisplayName(
      "Case 19: what follows a timeout or an interrupt is said by the policy, never assumed")
  void a_wait_that_ends_runs_nothing_unless_told_to() throws Exception {
    try (SoloNode owner = new SoloNode(redis.uri(), FlightMode.HYBRID);
        SoloNode failing =
            new SoloNode(
                redis.uri(),
                FlightMode.HYBRID,
                builder -> builder.followerMaxWait(Duration.ofMillis(500)));
        SoloNode executing =
            new SoloNode(
                redis.uri(),
                FlightMode.HYBRID,
                builder ->
                    builder
                        .followerMaxWait(Duration.ofMillis(500))
                        .stage("s", stage -> stage.executeOnWaitTimeout()))) {
      CompletableFuture<FlightResult<String>> own = startOn(owner, key);
      awaitRunning(key);

      assertThatThrownBy(() -> failing.call(key, c -> "x" + runs.incrementAndGet()))
          .isInstanceOf(FlightTimeoutException.class)
          .hasMessageContaining("follower-max-wait");
      assertThat(runs).as("fail: nothing ran").hasValue(1);

      AtomicReference<Thread> waiting = new AtomicReference<>();
      CompletableFuture<FlightResult<String>> interrupted =
          CompletableFuture.supplyAsync(
              () -> {
                waiting.set(Thread.currentThread());
                return owner.call(key, c -> "x" + runs.incrementAndGet());
              },
              task -> new Thread(task).start());
      await()
          .atMost(SOON)
          .until(
              () ->
                  waiting.get() != null
                      && waiting.get().getState() == Thread.State.TIMED_WAITING
                      && !interrupted.isDone());
      waiting.get().interrupt();
      assertThatThrownBy(() -> get(interrupted))
          .isInstanceOf(ExecutionException.class)
          .hasCauseInstanceOf(FlightCancelledException.class);
      assertThat(runs).as("an interrupt: nothing ran").hasValue(1);

      FlightResult<String> told = executing.call(key, c -> "private " + runs.incrementAndGet());
      assertThat(told.value()).isEqualTo("private 2");
      assertThat(told.source()).isEqualTo(Source.EXECUTED);

      provider.complete("shared");
      assertThat(get(own).value()).isEqualTo("shared");
      assertThat(failing.call(key, c -> "never").value())
          .as("what ran privately was published to nobody")
          .isEqualTo("shared");
    }
  }

  @Test
  @DisplayName("Case 20: nodes with other TTLs agree on the owner throughout a rolling restart")
  void ttls_that_differ_change_no_owner() throws Exception {
    // The old one's lease is longer than all that the new one would wait for.
    try (SoloNode old = node("20s", "40s", Duration.ofSeconds(6))) {
      SoloNode next = node("600ms", "2s", Duration.ofMillis(100));
      try (next) {
        CompletableFuture<FlightResult<String>> own = startOn(old, key);
        awaitRunning(key);
        CompletableFuture<FlightResult<String>> followed = startOn(next, key);
        awaitFollowed();
        String leaseMillis = records.read(key).get("leaseMillis");
        assertThat(leaseMillis).as("the owner's own").isEqualTo("20000");
        String beat = records.read(key).get("heartbeatAt");
        // The follower looks again and again, far beyond a lease of its own length, between beats.
        records.age(key, Duration.ofSeconds(5));
        long before = redis.commandCount("evalsha");
        await().atMost(SOON).until(() -> redis.commandCount("evalsha") - before >= 5);
        assertThat(records.read(key).get("attempt")).isEqualTo("1");
        assertThat(beat).isNotNull();

        // And the other way: the new one owns, the old one follows and does not give up on it.
        FlightKey other = FlightKey.of("s", "the other way");
        CompletableFuture<FlightResult<String>> ownOfNext = startOn(next, other);
        awaitRunning(other);
        CompletableFuture<FlightResult<String>> followedByOld = startOn(old, other);
        await().atMost(SOON).until(() -> records.read(other).containsKey("waiters"));
        for (int beats = 0; beats < 10; beats++) {
          String last = records.read(other).get("heartbeatAt");
          await().atMost(SOON).until(() -> !last.equals(records.read(other).get("heartbeatAt")));
        }
        provider.complete("agreed");
        for (var call : List.of(own, followed, ownOfNext, followedByOld)) {
          assertThat(get(call).value()).isEqualTo("agreed");
        }
        assertThat(records.read(other).get("attempt")).isEqualTo("1");
      }
      // The restart itself: the next generation replays what this one committed.
      try (SoloNode third = node("3s", "9s", Duration.ofMillis(500))) {
        assertThat(third.call(key, c -> "never").source()).isEqualTo(Source.REPLAYED);
        assertThat(old.call(key, c -> "never").value()).isEqualTo("agreed");
      }
    }
    assertThat(runs).hasValue(2);
  }

  private SoloNode node(String lease, String runningTtl, Duration heartbeat) {
    return new SoloNode(
        redis.uri(),
        FlightMode.DISTRIBUTED,
        builder ->
            builder
                .set("poll-fallback-interval", "300ms")
                .set("stages.s.takeover-detect", lease)
                .set("stages.s.running-ttl", runningTtl)
                .stage("s", stage -> stage.heartbeatInterval(heartbeat)));
  }
}
