package dev.soloflight;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.soloflight.support.Invariants;
import dev.soloflight.support.RedisProcess;
import dev.soloflight.support.RedisRecords;
import dev.soloflight.support.SentinelSetup;
import dev.soloflight.support.SoloNode;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The primary dies under a flight in the air; Sentinel names another. */
class SentinelTopologyTest {
  private final AtomicInteger runs = new AtomicInteger();

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  @DisplayName("Case 27: after a failover every node acquires, flights in the air included")
  void a_flight_outlives_the_primary_with_one_answer(boolean replicated) throws Exception {
    FlightKey key = FlightKey.of("s", "in the air");
    CountDownLatch running = new CountDownLatch(1);
    CountDownLatch gate = new CountDownLatch(1);
    try (SentinelSetup setup = SentinelSetup.start(1);
        SoloNode a = new SoloNode(setup.uri(), FlightMode.DISTRIBUTED);
        SoloNode b = new SoloNode(setup.uri(), FlightMode.DISTRIBUTED)) {
      FlightTask<String> task =
          c -> {
            int run = runs.incrementAndGet();
            running.countDown();
            gate.await();
            return "answer " + run;
          };
      CompletableFuture<FlightResult<String>> owner = a.inThread(key, task);
      assertThat(running.await(20, TimeUnit.SECONDS)).isTrue();
      CompletableFuture<FlightResult<String>> follower = b.inThread(key, task);
      RedisProcess first = setup.primary();
      String record = RedisRecords.redisKey(key);
      await().until(() -> first.sync().hget(record, "waiters") != null);
      assertThat(first.sync().waitForReplication(1, 5_000)).isEqualTo(1);

      AtomicBoolean over = new AtomicBoolean();
      List<CompletableFuture<Integer>> acquiring =
          List.of(acquireUntil(over, a), acquireUntil(over, b));
      RedisProcess second = setup.failover();
      over.set(true);
      for (CompletableFuture<Integer> calls : acquiring) {
        assertThat(calls.get(40, TimeUnit.SECONDS)).as("acquired meanwhile").isPositive();
      }
      assertThat(second).isNotSameAs(first);
      if (!replicated) {
        second.sync().del(record);
      }
      gate.countDown();

      String answer = get(owner).value();
      assertThat(get(follower).value()).as("one answer").isEqualTo(answer);
      await()
          .atMost(Duration.ofSeconds(20))
          .until(() -> "SUCCEEDED".equals(second.sync().hget(record, "status")));
      assertThat(b.call(key, task).value()).isEqualTo(answer);
      for (SoloNode node : List.of(a, b)) {
        FlightKey next = FlightKey.of("s", "the next", node.solo().hashCode());
        assertThat(node.call(next, c -> "owned").source()).isEqualTo(Source.EXECUTED);
      }
      // Where the failover lost the record, the follower may have been quicker than a beat.
      assertThat(runs.get()).isBetween(1, replicated ? 1 : 2);
      Invariants.everyKeyHasTtl(second.sync());
    }
  }

  /** Calls, each answered or refused for Redis's sake; how many there were. */
  private static CompletableFuture<Integer> acquireUntil(AtomicBoolean over, SoloNode node) {
    return CompletableFuture.supplyAsync(
        () -> {
          int calls = 0;
          while (!over.get()) {
            FlightKey key = FlightKey.of("s", "meanwhile", node.solo().hashCode(), ++calls);
            try {
              assertThat(node.call(key, c -> "acquired").value()).isEqualTo("acquired");
            } catch (CoordinationException e) {
              assertThat(e).hasMessageContaining("the task did not run");
            }
          }
          return calls;
        },
        task -> new Thread(task).start());
  }

  private static FlightResult<String> get(CompletableFuture<FlightResult<String>> call)
      throws Exception {
    return call.get(40, TimeUnit.SECONDS);
  }
}
