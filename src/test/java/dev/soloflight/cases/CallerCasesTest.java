package dev.soloflight.cases;

import static java.util.stream.Collectors.joining;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.soloflight.FlightFailedException;
import dev.soloflight.FlightKey;
import dev.soloflight.FlightMode;
import dev.soloflight.FlightResult;
import dev.soloflight.support.Jdks;
import dev.soloflight.support.NodeProcess;
import dev.soloflight.support.RedisRecords;
import dev.soloflight.support.SoloNode;
import dev.soloflight.support.TestRedis;
import dev.soloflight.support.TestSuite;
import dev.soloflight.support.WithRedis;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

/** Errors, retries and threads: what strands the callers of other libraries. */
@WithRedis
class CallerCasesTest {
  private static final Duration SOON = Duration.ofSeconds(20);

  private final AtomicInteger runs = new AtomicInteger();

  private static <T> T get(CompletableFuture<T> call) throws Exception {
    return call.get(SOON.toSeconds(), TimeUnit.SECONDS);
  }

  static Stream<Throwing> errors() {
    return Stream.of(
        new Throwing("an Error", () -> new Error("plain")),
        new Throwing("a stack overflow", CallerCasesTest::overflow),
        new Throwing("no memory", () -> new OutOfMemoryError("heap")),
        new Throwing("the thread's death", ThreadDeath::new));
  }

  record Throwing(String name, Make make) {
    interface Make {
      Throwable make();
    }

    @Override
    public String toString() {
      return name;
    }
  }

  private static Throwable overflow() {
    try {
      return deeper(0);
    } catch (StackOverflowError e) {
      return e;
    }
  }

  @SuppressWarnings("InfiniteRecursion") // Is meant.
  private static Throwable deeper(int depth) {
    return new IllegalStateException("not reached", deeper(depth + 1));
  }

  @SuppressWarnings({"unchecked", "TypeParameterUnusedInFormals"})
  private static <E extends Throwable> E sneak(Throwable e) throws E {
    throw (E) e;
  }

  @ParameterizedTest(name = "{0}")
  @MethodSource("errors")
  @DisplayName("Case 22: an Error in the task strands no waiter, here or on another node")
  void an_error_strands_nobody(Throwing throwing, TestRedis redis) throws Exception {
    FlightKey key = FlightKey.of("s", throwing.name());
    RedisRecords records = new RedisRecords(redis.sync());
    Throwable thrown = throwing.make().make();
    CountDownLatch running = new CountDownLatch(1);
    CountDownLatch gate = new CountDownLatch(1);
    try (SoloNode a = new SoloNode(redis.uri(), FlightMode.DISTRIBUTED);
        SoloNode b = new SoloNode(redis.uri(), FlightMode.DISTRIBUTED)) {
      CompletableFuture<FlightResult<String>> leader =
          a.inThread(
              key,
              c -> {
                runs.incrementAndGet();
                running.countDown();
                gate.await();
                throw CallerCasesTest.<RuntimeException>sneak(thrown);
              });
      assertThat(running.await(20, TimeUnit.SECONDS)).isTrue();
      var waiting =
          a.solo().callAsync(key, String.class, c -> CompletableFuture.completedFuture("waiter's"));
      var following = b.inThread(key, c -> "follower's");
      await().atMost(SOON).until(() -> records.read(key).containsKey("waiters"));
      gate.countDown();

      assertThatThrownBy(() -> get(leader)).cause().isSameAs(thrown);
      for (var call : List.of(waiting, following)) {
        assertThatThrownBy(() -> get(call))
            .cause()
            .isInstanceOfSatisfying(
                FlightFailedException.class,
                e -> assertThat(e.errorType()).isEqualTo(thrown.getClass().getName()));
      }
      assertThat(runs).hasValue(1);
      a.solo().forget(key);
      assertThat(b.call(key, c -> "well").value()).isEqualTo("well");
    }
  }

  @ParameterizedTest
  @EnumSource(FlightMode.class)
  @DisplayName("Case 24: a callback that retries a failed call is not answered by the failed one")
  void a_retry_in_the_callback_executes(FlightMode mode, TestRedis redis) throws Exception {
    try (SoloNode node = new SoloNode(redis.uri(), mode)) {
      FlightKey retryable = FlightKey.of("s", mode, "retryable");
      FlightKey forgotten = FlightKey.of("s", mode, "forgotten");
      assertThat(get(retrying(node, retryable, new IOException("busy"), false)).value())
          .isEqualTo("attempt 2");
      assertThat(get(retrying(node, forgotten, new IllegalStateException("no"), true)).value())
          .isEqualTo("attempt 4");
    }
  }

  private CompletableFuture<FlightResult<String>> retrying(
      SoloNode node, FlightKey key, Exception failure, boolean forget) {
    CompletableFuture<String> provider = new CompletableFuture<>();
    CompletableFuture<FlightResult<String>> first =
        node.solo()
            .callAsync(
                key,
                String.class,
                c -> {
                  runs.incrementAndGet();
                  return provider;
                });
    CompletableFuture<FlightResult<String>> retried =
        first
            .handle(
                (result, e) -> {
                  assertThat(e).isNotNull();
                  if (forget) {
                    node.solo().forget(key);
                  }
                  return node.solo()
                      .callAsync(
                          key,
                          String.class,
                          c ->
                              CompletableFuture.completedFuture(
                                  "attempt " + runs.incrementAndGet()));
                })
            .thenCompose(again -> again);
    provider.completeExceptionally(failure);
    return retried;
  }

  @Test
  @DisplayName("Case 26: virtual threads are not pinned while they wait (on a JDK that has them)")
  void virtual_threads_are_not_pinned(TestRedis redis) {
    Optional<Path> jdk = Jdks.atLeast(21);
    assumeTrue(jdk.isPresent(), "no JDK 21 or later is installed beside this one");
    try (NodeProcess node =
        NodeProcess.of(TestSuite.class)
            .args("dev.soloflight.VirtualThreadsTest")
            .env("SOLOFLIGHT_REDIS_URI", redis.uri())
            .jvmArgs("-Xmx1g")
            .javaHome(jdk.get())
            .start()) {
      int exit = node.awaitExit(Duration.ofSeconds(110));
      String output = node.lines().stream().collect(joining("\n"));
      assertThat(exit).as(output).isZero();
      assertThat(output).containsPattern("tests: [1-9]\\d* run, 0 failed, 0 skipped");
    }
  }
}
