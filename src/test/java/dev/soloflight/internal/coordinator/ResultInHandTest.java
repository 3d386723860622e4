package dev.soloflight.internal.coordinator;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.soloflight.CoordinationException;
import dev.soloflight.FlightKey;
import dev.soloflight.FlightResult;
import dev.soloflight.FlightTimeoutException;
import dev.soloflight.Source;
import dev.soloflight.support.FaultyStore.Step;
import dev.soloflight.support.TestNode;
import dev.soloflight.support.TestRedis;
import dev.soloflight.support.WithRedis;
import io.lettuce.core.api.sync.RedisCommands;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/**
 * DESIGN 3.4, on a real Redis that is taken away, loses the record or changes hands at exactly one
 * step: a result in hand is never thrown away, never paid for twice, never served after a forget.
 */
@WithRedis
class ResultInHandTest {
  private static final Duration SOON = Duration.ofSeconds(15);
  private static final Map<String, String> SETTINGS =
      Map.of(
          "stages.s.heartbeat-interval", "100ms",
          "stages.s.takeover-detect", "600ms",
          "stages.s.running-ttl", "5s",
          "stages.s.l1-ttl", "0s",
          "follower-max-wait", "10s");

  private final AtomicInteger runs = new AtomicInteger();
  private final CountDownLatch running = new CountDownLatch(1);
  private final CountDownLatch gate = new CountDownLatch(1);
  private final FlightKey key = FlightKey.of("s", "result in hand");
  private final String record = "soloflight:{default:" + key.id() + "}";
  private TestNode a;
  private TestNode b;
  private RedisCommands<String, String> redis;

  @BeforeEach
  void open(TestRedis server, RedisCommands<String, String> commands) {
    redis = commands;
    a = new TestNode(server.uri(), SETTINGS);
    b = new TestNode(server.uri(), SETTINGS);
  }

  @AfterEach
  void close() {
    gate.countDown();
    a.close();
    b.close();
  }

  private CompletableFuture<FlightResult<String>> startOn(TestNode node) {
    return node.inThread(
        key,
        String.class,
        c -> {
          int run = runs.incrementAndGet();
          running.countDown();
          gate.await();
          return "answer " + run;
        });
  }

  private static FlightResult<String> get(CompletableFuture<FlightResult<String>> call)
      throws Exception {
    return call.get(15, TimeUnit.SECONDS);
  }

  private String status() {
    return String.valueOf(redis.hget(record, "status"));
  }

  private FlightResult<String> ask(TestNode node) {
    return node.call(key, String.class, c -> "answer " + runs.incrementAndGet());
  }

  @Test
  void complete_unreachable_the_caller_gets_it_now_and_it_is_published_later() throws Exception {
    CompletableFuture<FlightResult<String>> call = startOn(a);
    running.await();
    a.store().takeAway();
    gate.countDown();
    assertThat(get(call).value()).isEqualTo("answer 1");
    assertThat(status()).isEqualTo("RUNNING");
    a.store().heal();
    await().atMost(SOON).until(() -> status().equals("SUCCEEDED"));
    FlightResult<String> other = ask(b);
    assertThat(other.value()).isEqualTo("answer 1");
    assertThat(other.source()).isEqualTo(Source.REPLAYED);
    assertThat(runs).hasValue(1);
  }

  @Test
  void complete_committed_but_its_reply_lost_is_committed_once() throws Exception {
    CompletableFuture<FlightResult<String>> call = startOn(a);
    running.await();
    CompletableFuture<FlightResult<String>> follower = startOn(b);
    await().atMost(SOON).until(() -> redis.hget(record, "waiters") != null);
    a.store().loseReply(Step.COMPLETE, 2);
    gate.countDown();
    assertThat(get(call).value()).isEqualTo("answer 1");
    assertThat(get(follower).value()).isEqualTo("answer 1");
    assertThat(get(follower).source()).isEqualTo(Source.FOLLOWED);
    await().atMost(SOON).until(() -> a.store().sent(Step.COMPLETE) == 3);
    assertThat(runs).hasValue(1);
  }

  @Test
  void record_lost_before_complete_is_asserted_again_and_committed() throws Exception {
    CompletableFuture<FlightResult<String>> call = startOn(a);
    running.await();
    a.store().before(Step.COMPLETE, () -> redis.del(record));
    gate.countDown();
    assertThat(get(call).value()).isEqualTo("answer 1");
    assertThat(status()).isEqualTo("SUCCEEDED");
    assertThat(ask(b).value()).isEqualTo("answer 1");
    assertThat(runs).hasValue(1);
  }

  @Test
  @DisplayName("Case 3: a record that disappears is asserted again at the next beat")
  void record_lost_in_mid_flight_is_asserted_again_at_the_next_beat() throws Exception {
    CompletableFuture<FlightResult<String>> call = startOn(a);
    running.await();
    long before = Long.parseLong(redis.hget(record, "ownerToken"));
    redis.del(record);
    await().atMost(SOON).until(() -> status().equals("RUNNING"));
    assertThat(Long.parseLong(redis.hget(record, "ownerToken"))).isGreaterThan(before);
    CompletableFuture<FlightResult<String>> follower = startOn(b);
    await().atMost(SOON).until(() -> redis.hget(record, "waiters") != null);
    gate.countDown();
    assertThat(get(call).value()).isEqualTo("answer 1");
    assertThat(get(call).ownerToken()).isGreaterThan(before);
    assertThat(get(follower).value()).isEqualTo("answer 1");
    assertThat(runs).hasValue(1);
  }

  @Test
  @DisplayName("Case 1: a stalled owner is refused; its caller gets the committed result")
  void taken_over_and_committed_by_another_the_committed_result_is_everybodys() throws Exception {
    CompletableFuture<FlightResult<String>> call = startOn(a);
    running.await();
    a.store().takeAway();
    FlightResult<String> other = ask(b);
    assertThat(other.value()).isEqualTo("answer 2");
    assertThat(other.source()).isEqualTo(Source.EXECUTED);
    a.store().heal();
    gate.countDown();
    assertThat(get(call).value()).as("one answer for the cluster").isEqualTo("answer 2");
    assertThat(redis.hget(record, "attempt")).isEqualTo("2");
    assertThat(a.count("soloflight.commits.refused")).isEqualTo(1);
    assertThat(b.count("soloflight.takeovers")).isEqualTo(1);
  }

  @Test
  void taken_over_by_one_that_died_the_result_in_hand_is_committed_without_another_run()
      throws Exception {
    CompletableFuture<FlightResult<String>> call = startOn(a);
    running.await();
    a.store().takeAway();
    CountDownLatch taken = new CountDownLatch(1);
    CompletableFuture<FlightResult<String>> dying =
        b.inThread(
            key,
            String.class,
            c -> {
              runs.incrementAndGet();
              taken.countDown();
              Thread.sleep(60_000);
              return "never";
            });
    taken.await();
    b.store().takeAway();
    a.store().heal();
    gate.countDown();
    assertThat(get(call).value()).isEqualTo("answer 1");
    assertThat(status()).isEqualTo("SUCCEEDED");
    assertThat(runs).as("answered by A's result, no third run").hasValue(2);
    assertThat(dying).isNotDone();
  }

  @Test
  void taken_over_by_one_at_work_the_callers_deadline_ends_the_wait_for_its_outcome(
      TestRedis server) throws Exception {
    Map<String, String> impatient = new HashMap<>(SETTINGS);
    impatient.put("follower-max-wait", "1s");
    CountDownLatch othersGate = new CountDownLatch(1);
    try (TestNode owner = new TestNode(server.uri(), impatient)) {
      CompletableFuture<FlightResult<String>> call = startOn(owner);
      running.await();
      owner.store().takeAway();
      CountDownLatch taken = new CountDownLatch(1);
      CompletableFuture<FlightResult<String>> other =
          b.inThread(
              key,
              String.class,
              c -> {
                taken.countDown();
                othersGate.await();
                return "other";
              });
      taken.await();
      assertThatThrownBy(() -> ask(owner))
          .as("asked after the owner did, so the owner's deadline has passed, too")
          .isInstanceOf(FlightTimeoutException.class);
      owner.store().heal();
      gate.countDown();
      await().atMost(SOON).until(() -> owner.count("soloflight.commits.refused") == 1);
      othersGate.countDown();
      assertThat(get(call).value()).isEqualTo("answer 1");
      assertThat(get(other).value()).isEqualTo("other");
    }
  }

  @Test
  void forgotten_before_complete_stays_private() throws Exception {
    CompletableFuture<FlightResult<String>> call = startOn(a);
    running.await();
    a.store().before(Step.COMPLETE, () -> b.forget(key));
    gate.countDown();
    assertThat(get(call).value()).isEqualTo("answer 1");
    assertThat(status()).isEqualTo("FORGOTTEN");
    assertThat(ask(b).value()).isEqualTo("answer 2");
    assertThat(ask(a).value()).as("nor from L1, nor from the flight").isEqualTo("answer 2");
  }

  @Test
  void forgotten_between_a_lost_record_and_the_asking_again_stays_private() throws Exception {
    CompletableFuture<FlightResult<String>> call = startOn(a);
    running.await();
    a.store().fail(Step.HEARTBEAT, Integer.MAX_VALUE);
    a.store()
        .before(
            Step.COMPLETE,
            () -> {
              redis.del(record);
              a.store().before(Step.ACQUIRE, () -> b.forget(key));
            });
    gate.countDown();
    assertThat(get(call).value()).isEqualTo("answer 1");
    assertThat(status()).isEqualTo("FORGOTTEN");
    assertThat(ask(b).value()).isEqualTo("answer 2");
  }

  @Test
  void forgotten_and_owned_anew_by_one_that_died_stays_private() throws Exception {
    CompletableFuture<FlightResult<String>> call = startOn(a);
    running.await();
    a.store().fail(Step.HEARTBEAT, Integer.MAX_VALUE);
    b.forget(key);
    b.store().fail(Step.HEARTBEAT, Integer.MAX_VALUE);
    CountDownLatch taken = new CountDownLatch(1);
    CompletableFuture<FlightResult<String>> dying =
        b.inThread(
            key,
            String.class,
            c -> {
              taken.countDown();
              Thread.sleep(60_000);
              return "never";
            });
    taken.await();
    String successor = redis.hget(record, "idempotencyKey");
    redis.hset(record, "heartbeatAt", "0");
    gate.countDown();
    assertThat(get(call).value()).isEqualTo("answer 1");
    assertThat(redis.hget(record, "idempotencyKey")).isEqualTo(successor);
    assertThat(status()).isNotEqualTo("SUCCEEDED");
    assertThat(dying).isNotDone();
  }

  @Test
  void gone_after_a_silence_longer_than_running_ttl_stays_private() throws Exception {
    CompletableFuture<FlightResult<String>> call = startOn(a);
    running.await();
    a.store().fail(Step.HEARTBEAT, Integer.MAX_VALUE);
    // The record and whatever tombstone may have stood there have run out by themselves.
    await().atMost(SOON).until(() -> redis.exists(record) == 0);
    gate.countDown();
    assertThat(get(call).value()).isEqualTo("answer 1");
    assertThat(redis.exists(record)).isZero();
    assertThat(ask(b).value()).isEqualTo("answer 2");
  }

  @Test
  void confirm_refused_the_flight_is_pursued_again_and_runs_once() throws Exception {
    a.store().before(Step.CONFIRM, () -> redis.hset(record, "ownerToken", "1"));
    CompletableFuture<FlightResult<String>> call = startOn(a);
    // The record is a dead owner's now: its lease runs out and the same call takes it over.
    running.await();
    gate.countDown();
    assertThat(get(call).value()).isEqualTo("answer 1");
    assertThat(runs).hasValue(1);
  }

  @Test
  void confirm_unanswered_in_distributed_mode_the_task_does_not_run(TestRedis server) {
    try (TestNode strict =
        new TestNode(server.uri(), Map.of("mode", "distributed", "stages.s.l1-ttl", "0s"))) {
      strict.store().fail(Step.CONFIRM, 1);
      assertThatThrownBy(() -> ask(strict))
          .isInstanceOf(CoordinationException.class)
          .hasMessageContaining("the task did not run");
      assertThat(runs).hasValue(0);
    }
  }

  @Test
  void confirm_unanswered_in_hybrid_mode_goes_on_as_the_owner() {
    a.store().fail(Step.CONFIRM, 1);
    FlightResult<String> result = ask(a);
    assertThat(result.source()).isEqualTo(Source.EXECUTED);
    assertThat(status()).isEqualTo("SUCCEEDED");
  }

  @Test
  void acquired_but_its_reply_lost_the_same_asking_gets_its_ownership_again() throws Exception {
    CompletableFuture<FlightResult<String>> call = startOn(a);
    running.await();
    CompletableFuture<FlightResult<String>> follower = startOn(b);
    await().atMost(SOON).until(() -> redis.hget(record, "waiters") != null);
    a.store().takeAway();
    b.store().loseReply(Step.ACQUIRE, 1);
    redis.hset(record, "heartbeatAt", "0");
    gate.countDown();
    assertThat(get(follower).value()).isIn("answer 2", "answer 1");
    assertThat(get(call).value()).isEqualTo("answer 1");
    assertThat(redis.hget(record, "attempt")).isEqualTo("2");
  }

  @Test
  void one_failed_beat_is_not_the_last_one() throws Exception {
    CompletableFuture<FlightResult<String>> call = startOn(a);
    running.await();
    a.store().fail(Step.HEARTBEAT, 3);
    int before = a.store().sent(Step.HEARTBEAT);
    await().atMost(SOON).until(() -> a.store().sent(Step.HEARTBEAT) >= before + 8);
    gate.countDown();
    assertThat(get(call).value()).isEqualTo("answer 1");
    assertThat(redis.hget(record, "attempt")).isEqualTo("1");
  }

  @Test
  void lost_ownership_is_told_to_the_task() throws Exception {
    CountDownLatch told = new CountDownLatch(1);
    CompletableFuture<FlightResult<String>> call =
        a.inThread(
            key,
            String.class,
            c -> {
              c.onOwnershipLost(told::countDown);
              running.countDown();
              told.await();
              return "still owner: " + c.isOwner();
            });
    running.await();
    b.forget(key);
    assertThat(get(call).value()).isEqualTo("still owner: false");
    assertThat(a.count("soloflight.ownership.lost", "reason", "forgotten")).isEqualTo(1);
  }

  @Test
  void lost_under_on_ownership_lost_cancel_the_task_is_cancelled_and_the_caller_follows(
      TestRedis server) throws Exception {
    Map<String, String> cancelling = new java.util.HashMap<>(SETTINGS);
    cancelling.put("stages.s.on-ownership-lost", "cancel");
    try (TestNode c = new TestNode(server.uri(), cancelling)) {
      CountDownLatch interrupted = new CountDownLatch(1);
      CompletableFuture<FlightResult<String>> call =
          c.inThread(
              key,
              String.class,
              context -> {
                running.countDown();
                try {
                  new CountDownLatch(1).await();
                } catch (InterruptedException e) {
                  interrupted.countDown();
                  throw e;
                }
                return "never";
              });
      running.await();
      c.store().takeAway();
      assertThat(ask(b).value()).isEqualTo("answer 1");
      c.store().heal();
      interrupted.await();
      FlightResult<String> result = get(call);
      assertThat(result.value()).isEqualTo("answer 1");
      assertThat(result.source()).isIn(Source.REPLAYED, Source.FOLLOWED);
    }
  }

  @Test
  void close_releases_and_a_follower_takes_over_without_waiting_for_the_lease() throws Exception {
    CompletableFuture<FlightResult<String>> call = startOn(a);
    running.await();
    CompletableFuture<FlightResult<String>> follower =
        b.inThread(key, String.class, c -> "attempt " + c.attempt());
    await().atMost(SOON).until(() -> redis.hget(record, "waiters") != null);
    redis.hset(record, "leaseMillis", "600000");
    a.close();
    assertThat(get(follower).value()).isEqualTo("attempt 2");
    assertThat(call).isCompletedExceptionally();
  }

  @Test
  void a_damaged_record_is_executed_anew_by_exactly_one_node() throws Exception {
    ask(a);
    redis.hset(record, "payload", "AAAA");
    CompletableFuture<FlightResult<String>> one = startOn(a);
    CompletableFuture<FlightResult<String>> two = startOn(b);
    running.await();
    gate.countDown();
    assertThat(get(one).value()).isEqualTo("answer 2");
    assertThat(get(two).value()).isEqualTo("answer 2");
    assertThat(runs).hasValue(2);
    assertThat(a.count("soloflight.records.damaged") + b.count("soloflight.records.damaged"))
        .isPositive();
  }
}
