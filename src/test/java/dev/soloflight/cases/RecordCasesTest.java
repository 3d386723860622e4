package dev.soloflight.cases;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.soloflight.FlightFailedException;
import dev.soloflight.FlightKey;
import dev.soloflight.FlightMode;
import dev.soloflight.FlightResult;
import dev.soloflight.SoloFlight;
import dev.soloflight.Source;
import dev.soloflight.interview.InterviewAiInvoker;
import dev.soloflight.support.CallerNode;
import dev.soloflight.support.Invariants;
import dev.soloflight.support.NodeProcess;
import dev.soloflight.support.RedisProcess;
import dev.soloflight.support.RedisRecords;
import dev.soloflight.support.SoloNode;
import dev.soloflight.support.TcpProxy;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What is left in Redis, and what comes back from it. */
class RecordCasesTest {
  private static final Duration SOON = Duration.ofSeconds(20);

  private final AtomicInteger runs = new AtomicInteger();
  private final FlightKey key = FlightKey.of("s", "record");
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

  private static <T> T get(CompletableFuture<T> call) throws Exception {
    return call.get(SOON.toSeconds(), TimeUnit.SECONDS);
  }

  @Test
  @DisplayName("Case 31: after the TTLs nothing is left, however many flights there were")
  void nothing_is_left() throws Exception {
    int flights = 20_000;
    try (SoloNode node = shortLived();
        SoloNode follower = shortLived()) {
      List<CompletableFuture<?>> calls = new ArrayList<>();
      CompletableFuture<String> provider = new CompletableFuture<>();
      for (int i = 0; i < flights; i++) {
        int number = i;
        FlightKey one = FlightKey.of("s", "many", i);
        calls.add(
            node.solo()
                .callAsync(
                    one,
                    String.class,
                    c ->
                        number % 3 == 0
                            ? CompletableFuture.failedFuture(new IOException("busy"))
                            : provider)
                .handle((result, e) -> null));
      }
      for (int i = 1; i < flights; i += 100) {
        FlightKey one = FlightKey.of("s", "many", i);
        calls.add(
            follower
                .solo()
                .callAsync(one, String.class, c -> CompletableFuture.completedFuture("late"))
                .handle((result, e) -> null));
      }
      await().atMost(SOON).until(() -> redis.sync().dbsize() > flights / 2);
      Invariants.everyKeyHasTtl(redis.sync());
      provider.complete("short-lived");
      for (CompletableFuture<?> call : calls) {
        get(call);
      }
      for (int i = 0; i < 100; i++) {
        node.solo().forget(FlightKey.of("s", "many", i));
      }
      assertThat(redis.sync().keys("soloflight:inbox:*")).isNotEmpty();
      Invariants.everyKeyHasTtl(redis.sync());
    }
    await().atMost(SOON).until(() -> redis.sync().dbsize() == 0);
  }

  private SoloNode shortLived() {
    return new SoloNode(
        redis.uri(),
        FlightMode.HYBRID,
        builder ->
            builder
                .commandTimeout(Duration.ofSeconds(10))
                .set("stages.s.takeover-detect", "2s")
                .set("stages.s.running-ttl", "4s")
                .set("stages.s.result-ttl", "4s")
                .set("stages.s.failed-result-ttl", "4s"));
  }

  @Test
  @DisplayName("Case 32: a kill -9 right after acquire leaves nothing that outlives running-ttl")
  void a_kill_after_acquire_leaves_nothing_for_long(@TempDir Path dir) throws Exception {
    try (TcpProxy proxy = TcpProxy.to(redis)) {
      Path yaml = dir.resolve("soloflight.yml");
      Files.writeString(
          yaml,
          """
          redis: {uri: "%s", command-timeout: 30s}
          stages:
            s: {heartbeat-interval: 500ms, takeover-detect: 2s, running-ttl: 5s}
          """
              .formatted(proxy.uri()));
      try (NodeProcess node = NodeProcess.of(CallerNode.class).args(yaml.toString()).start()) {
        node.awaitLine("READY", Duration.ofSeconds(60));
        node.send("connects 1 1");
        node.awaitLine("DONE connects", SOON);
        proxy.blackhole(TcpProxy.Direction.TO_CLIENT);
        node.send("killed 1 1");
        FlightKey killed = FlightKey.of("s", "killed");
        await().atMost(SOON).until(() -> records.read(killed).containsKey("status"));
        assertThat(records.ttlMillis(killed)).isBetween(0L, 5_000L);
        node.kill9();
        Invariants.everyKeyHasTtl(redis.sync());
        await().atMost(SOON).until(() -> records.read(killed).isEmpty());
      }
    }
  }

  @Test
  @DisplayName("Case 33: a record of another version is no hit; one node executes again")
  void another_version_is_no_hit() throws Exception {
    try (SoloNode a = new SoloNode(redis.uri(), FlightMode.DISTRIBUTED);
        SoloNode b = new SoloNode(redis.uri(), FlightMode.DISTRIBUTED)) {
      for (String field : List.of("v", "codec")) {
        FlightKey one = FlightKey.of("s", field);
        assertThat(a.call(one, c -> "old").value()).isEqualTo("old");
        records.put(one, field, "2");
        CompletableFuture<String> provider = new CompletableFuture<>();
        List<CompletableFuture<FlightResult<String>>> calls = new ArrayList<>();
        for (SoloNode node : List.of(a, b)) {
          for (int i = 0; i < 5; i++) {
            calls.add(
                node.solo()
                    .callAsync(
                        one,
                        String.class,
                        c -> {
                          runs.incrementAndGet();
                          return provider;
                        }));
          }
        }
        await().atMost(SOON).until(() -> records.read(one).containsKey("waiters"));
        provider.complete("new");
        for (CompletableFuture<FlightResult<String>> call : calls) {
          assertThat(get(call).value()).isEqualTo("new");
        }
        assertThat(b.call(one, c -> "never").source()).isEqualTo(Source.REPLAYED);
      }
      assertThat(runs).as("one execution each").hasValue(2);
      assertThat(a.count("soloflight.records.damaged") + b.count("soloflight.records.damaged"))
          .isGreaterThanOrEqualTo(2);
    }
  }

  @Test
  @DisplayName("Case 34: a result too large to share reaches its callers; others are told, in time")
  void an_oversized_result_reaches_its_callers() throws Exception {
    try (SoloNode a = new SoloNode(redis.uri(), FlightMode.HYBRID, RecordCasesTest::small);
        SoloNode b = new SoloNode(redis.uri(), FlightMode.HYBRID, RecordCasesTest::small)) {
      String large = "x".repeat(100_000);
      CompletableFuture<String> provider = new CompletableFuture<>();
      List<CompletableFuture<FlightResult<String>>> own = new ArrayList<>();
      for (int i = 0; i < 5; i++) {
        own.add(
            a.solo()
                .callAsync(
                    key,
                    String.class,
                    c -> {
                      runs.incrementAndGet();
                      return provider;
                    }));
      }
      await().atMost(SOON).until(() -> "RUNNING".equals(records.read(key).get("status")));
      CompletableFuture<FlightResult<String>> follower = b.inThread(key, c -> "never");
      await().atMost(SOON).until(() -> records.read(key).containsKey("waiters"));
      provider.complete(large);
      for (CompletableFuture<FlightResult<String>> call : own) {
        assertThat(get(call).value()).isEqualTo(large);
      }
      assertThatThrownBy(() -> get(follower))
          .cause()
          .isInstanceOfSatisfying(
              FlightFailedException.class,
              e -> assertThat(e.errorCode()).isEqualTo("RESULT_TOO_LARGE"))
          .hasMessageContaining("max-result-bytes");
      assertThat(runs).hasValue(1);
    }
  }

  private static SoloFlight.Builder small(SoloFlight.Builder builder) {
    return builder.set("max-result-bytes", "16KB");
  }

  @Test
  @DisplayName("Case 35: no tenant is served another's answer")
  void no_tenant_gets_anothers_answer() {
    try (SoloFlight one = SoloFlight.builder().redisUri(redis.uri()).namespace("one").build();
        SoloFlight two = SoloFlight.builder().redisUri(redis.uri()).namespace("two").build()) {
      List<String> answers = new ArrayList<>();
      for (SoloFlight solo : List.of(one, two)) {
        InterviewAiInvoker invoker =
            new InterviewAiInvoker(solo, request -> "answer " + runs.incrementAndGet());
        for (String session : List.of("alice", "bob", "alice ", "Alice")) {
          answers.add(invoker.callAiSync("score me", session, "interviewer"));
          assertThat(invoker.callAiSync("score me", session, "interviewer"))
              .as("asked again")
              .isEqualTo(answers.get(answers.size() - 1));
        }
        assertThatThrownBy(() -> invoker.callAiSync("score me", " ", "interviewer"))
            .isInstanceOf(IllegalArgumentException.class);
      }
      assertThat(answers).hasSize(8).doesNotHaveDuplicates();
      assertThat(one.forget(key)).isFalse();
    }
  }
}
