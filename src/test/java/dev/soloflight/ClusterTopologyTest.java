package dev.soloflight;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.soloflight.support.Invariants;
import dev.soloflight.support.RedisClusterOf3;
import dev.soloflight.support.RedisProcess;
import dev.soloflight.support.RedisRecords;
import dev.soloflight.support.SoloNode;
import io.lettuce.core.cluster.SlotHash;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/** A Redis Cluster whose slots and primaries move while flights are in the air. */
class ClusterTopologyTest {
  private static final Duration SOON = Duration.ofSeconds(30);
  private static final AtomicInteger KEYS = new AtomicInteger();

  private static RedisClusterOf3 cluster;

  private final AtomicInteger runs = new AtomicInteger();
  private final CountDownLatch running = new CountDownLatch(1);
  private final CountDownLatch gate = new CountDownLatch(1);
  private FlightKey key;
  private String record;
  private SoloNode a;
  private SoloNode b;

  @BeforeAll
  static void start() {
    cluster = RedisClusterOf3.replicas(1);
  }

  @AfterAll
  static void stop() {
    cluster.close();
  }

  @BeforeEach
  void open() {
    key = FlightKey.of("s", KEYS.incrementAndGet());
    record = RedisRecords.redisKey(key);
    a = new SoloNode(cluster.uri(), FlightMode.DISTRIBUTED);
    // An answer that comes sooner than a poll came by event.
    b =
        new SoloNode(
            cluster.uri(),
            FlightMode.DISTRIBUTED,
            builder -> builder.set("poll-fallback-interval", "40s"));
  }

  @AfterEach
  void close() {
    gate.countDown();
    a.close();
    b.close();
    Invariants.noLibraryThreadLeft(Set.of());
    cluster.nodes().stream()
        .filter(node -> node.sync().role().get(0).equals("master"))
        .forEach(node -> Invariants.everyKeyHasTtl(node.sync()));
  }

  private CompletableFuture<FlightResult<String>> startOn(SoloNode node) {
    return node.inThread(
        key,
        c -> {
          int run = runs.incrementAndGet();
          running.countDown();
          gate.await();
          return "answer " + run;
        });
  }

  private static FlightResult<String> get(CompletableFuture<FlightResult<String>> call)
      throws Exception {
    return call.get(SOON.toSeconds(), TimeUnit.SECONDS);
  }

  private String field(String name) {
    return cluster.primaryOf(record).sync().hget(record, name);
  }

  /** Until the owner has beaten, here and now. */
  private void awaitBeat() {
    String before = field("heartbeatAt");
    await().atMost(SOON).until(() -> !String.valueOf(field("heartbeatAt")).equals(before));
  }

  private void awaitFollowerThatListens() {
    await().atMost(SOON).until(() -> field("waiters") != null);
    await()
        .atMost(SOON)
        .until(
            () ->
                cluster.nodes().stream()
                    .filter(RedisProcess::isAlive)
                    .anyMatch(node -> node.sync().info("clients").contains("blocked_clients:1")));
  }

  @Test
  @DisplayName("Case 29: every script and the inbox work on each node of a cluster")
  void flights_on_every_node_go_through_all_their_steps_and_followers_are_woken() throws Exception {
    Set<RedisProcess> primaries = new HashSet<>();
    List<FlightKey> keys = new ArrayList<>();
    while (primaries.size() < 3) {
      FlightKey one = FlightKey.of("s", KEYS.incrementAndGet());
      if (primaries.add(cluster.primaryOf(RedisRecords.redisKey(one)))) {
        keys.add(one);
      }
    }
    for (FlightKey one : keys) {
      key = one;
      record = RedisRecords.redisKey(key);
      CountDownLatch owned = new CountDownLatch(1);
      CountDownLatch go = new CountDownLatch(1);
      CompletableFuture<FlightResult<String>> owner =
          a.inThread(
              key,
              c -> {
                owned.countDown();
                go.await();
                return c.key().id();
              });
      assertThat(owned.await(20, TimeUnit.SECONDS)).isTrue();
      CompletableFuture<FlightResult<String>> follower = b.inThread(key, c -> "never");
      awaitFollowerThatListens();
      awaitBeat();
      go.countDown();
      assertThat(get(owner).source()).isEqualTo(Source.EXECUTED);
      assertThat(get(follower).value()).isEqualTo(key.id());
      assertThat(get(follower).source()).isEqualTo(Source.FOLLOWED);
      assertThat(a.call(key, c -> "never").source()).isEqualTo(Source.REPLAYED);
      assertThat(b.solo().inspect(key).orElseThrow().status()).isEqualTo("SUCCEEDED");
      assertThat(b.solo().forget(key)).isTrue();
      assertThat(a.call(key, c -> "anew").value()).isEqualTo("anew");
    }
  }

  @Test
  void a_slot_moves_under_a_flight_that_is_in_the_air() throws Exception {
    CompletableFuture<FlightResult<String>> owner = startOn(a);
    assertThat(running.await(20, TimeUnit.SECONDS)).isTrue();
    CompletableFuture<FlightResult<String>> follower = startOn(b);
    awaitFollowerThatListens();

    RedisProcess from = cluster.primaryOf(record);
    RedisProcess to = cluster.otherPrimaryThan(from);
    RedisClusterOf3.SlotMigration migration = cluster.beginMigration(SlotHash.getSlot(record), to);
    awaitBeat();
    to.sync().scriptFlush();
    migration.moveKeys();
    // Between the two: the source sends every step on to the target (ASK).
    FlightResult<String> other =
        a.call(keyOfSameSlot(), c -> "a flight born between two primaries");
    assertThat(other.source()).isEqualTo(Source.EXECUTED);
    migration.finish();
    awaitBeat();
    gate.countDown();

    assertThat(get(owner).value()).isEqualTo("answer 1");
    assertThat(get(follower).value()).isEqualTo("answer 1");
    assertThat(cluster.primaryOf(record)).isSameAs(to);
    assertThat(field("status")).isEqualTo("SUCCEEDED");
    assertThat(field("attempt")).isEqualTo("1");
    assertThat(runs).hasValue(1);
  }

  private FlightKey keyOfSameSlot() {
    int slot = SlotHash.getSlot(record);
    for (int i = 0; i < 1_000_000; i++) {
      FlightKey other = FlightKey.of("s", "same slot", i);
      if (SlotHash.getSlot(RedisRecords.redisKey(other)) == slot) {
        return other;
      }
    }
    throw new AssertionError("no key of slot " + slot);
  }

  @Test
  void the_roles_change_under_a_flight_that_is_in_the_air() throws Exception {
    CompletableFuture<FlightResult<String>> owner = startOn(a);
    assertThat(running.await(20, TimeUnit.SECONDS)).isTrue();
    CompletableFuture<FlightResult<String>> follower = startOn(b);
    awaitFollowerThatListens();

    cluster.failOver(cluster.primaryOf(record));
    awaitBeat();
    gate.countDown();

    assertThat(get(owner).value()).isEqualTo("answer 1");
    assertThat(get(follower).value()).isEqualTo("answer 1");
    assertThat(field("attempt")).isEqualTo("1");
    assertThat(runs).hasValue(1);
  }

  @Test
  void a_primary_dies_under_a_flight_that_is_in_the_air() throws Exception {
    CompletableFuture<FlightResult<String>> owner = startOn(a);
    assertThat(running.await(20, TimeUnit.SECONDS)).isTrue();
    SoloNode polling = new SoloNode(cluster.uri(), FlightMode.DISTRIBUTED);
    CompletableFuture<FlightResult<String>> follower = startOn(polling);
    awaitFollowerThatListens();

    RedisProcess primary = cluster.primaryOf(record);
    primary.sync().waitForReplication(1, 5_000);
    cluster.killAndFailOver(primary);
    try {
      // Sooner than a lease of the default length, or the flight would be taken over.
      String before = field("heartbeatAt");
      await()
          .atMost(Duration.ofSeconds(8))
          .until(() -> !String.valueOf(field("heartbeatAt")).equals(before));
      gate.countDown();
      assertThat(get(owner).value()).isEqualTo("answer 1");
      assertThat(get(follower).value()).isEqualTo("answer 1");
      assertThat(field("status")).isEqualTo("SUCCEEDED");
      assertThat(runs).hasValue(1);
    } finally {
      gate.countDown();
      polling.close();
      primary.restartEmpty();
    }
  }
}
