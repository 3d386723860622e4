package dev.soloflight.internal.metrics;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.soloflight.FlightCancelledException;
import dev.soloflight.FlightConfigException;
import dev.soloflight.FlightContext;
import dev.soloflight.FlightFailedException;
import dev.soloflight.FlightKey;
import dev.soloflight.FlightMode;
import dev.soloflight.FlightResult;
import dev.soloflight.FlightTimeoutException;
import dev.soloflight.SoloFlight;
import dev.soloflight.Source;
import dev.soloflight.StageSettings;
import dev.soloflight.support.FaultyStore.Step;
import dev.soloflight.support.RedisProcess;
import dev.soloflight.support.TcpProxy;
import dev.soloflight.support.TestNode;
import dev.soloflight.support.TestRedis;
import dev.soloflight.support.WithRedis;
import io.lettuce.core.api.sync.RedisCommands;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.Meter;
import io.micrometer.core.instrument.Tag;
import io.micrometer.core.instrument.Timer;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** What is counted adds up to what happened. */
@WithRedis
class MetricsTest {
  private static final Duration SOON = Duration.ofSeconds(15);

  private final ExecutorService pool = Executors.newCachedThreadPool();
  private final List<AutoCloseable> nodes = new ArrayList<>();
  private final SimpleMeterRegistry meters = new SimpleMeterRegistry();
  private final SimpleMeterRegistry othersMeters = new SimpleMeterRegistry();
  private final CountDownLatch running = new CountDownLatch(1);
  private final CountDownLatch gate = new CountDownLatch(1);
  private final FlightKey key = FlightKey.of("s", "metrics");
  private final String record = "soloflight:{default:" + key.id() + "}";
  private TestRedis server;
  private RedisCommands<String, String> redis;

  @BeforeEach
  void remember(TestRedis server, RedisCommands<String, String> commands) {
    this.server = server;
    redis = commands;
  }

  @AfterEach
  void close() throws Exception {
    gate.countDown();
    for (AutoCloseable node : nodes) {
      node.close();
    }
    pool.shutdownNow();
  }

  private SoloFlight node(SimpleMeterRegistry registry, Consumer<StageSettings> rules) {
    return open(
        SoloFlight.builder().redisUri(server.uri()).meterRegistry(registry).stage("s", rules));
  }

  private SoloFlight open(SoloFlight.Builder builder) {
    SoloFlight node = builder.build();
    nodes.add(node);
    return node;
  }

  private String slow(FlightContext context) throws InterruptedException {
    running.countDown();
    gate.await();
    return "slow";
  }

  private static String failing(FlightContext context) throws IOException {
    throw new IOException("down");
  }

  private <T> CompletableFuture<T> inThread(Callable<T> call) {
    CompletableFuture<T> result = new CompletableFuture<>();
    pool.execute(
        () -> {
          try {
            result.complete(call.call());
          } catch (Throwable e) {
            result.completeExceptionally(e);
          }
        });
    return result;
  }

  private static double calls(SimpleMeterRegistry registry, String... tags) {
    return registry.find("soloflight.calls").tags(tags).counters().stream()
        .mapToDouble(Counter::count)
        .sum();
  }

  private static void assertCalls(
      SimpleMeterRegistry registry, String source, String outcome, int calls) {
    await()
        .atMost(SOON)
        .untilAsserted(
            () ->
                assertThat(calls(registry, "source", source, "outcome", outcome))
                    .as("%s %s", source, outcome)
                    .isEqualTo(calls));
  }

  private static double count(SimpleMeterRegistry registry, String name, String... tags) {
    return registry.find(name).tags(tags).counters().stream().mapToDouble(Counter::count).sum();
  }

  private static long timed(SimpleMeterRegistry registry, String name, String... tags) {
    return registry.find(name).tags(tags).timers().stream().mapToLong(Timer::count).sum();
  }

  private static double gauge(SimpleMeterRegistry registry, String name) {
    Gauge gauge = registry.find(name).gauge();
    assertThat(gauge).as(name).isNotNull();
    return gauge.value();
  }

  @Test
  void every_source_is_counted_as_what_the_result_says() throws Exception {
    SoloFlight one = node(meters, stage -> {});
    SoloFlight two = node(othersMeters, stage -> {});
    var owner = inThread(() -> one.call(key, String.class, this::slow));
    running.await();
    List<CompletableFuture<FlightResult<String>>> waiting = new ArrayList<>();
    for (int i = 0; i < 3; i++) {
      waiting.add(
          one.callAsync(key, String.class, c -> CompletableFuture.failedFuture(new Error())));
    }
    var follower = inThread(() -> two.call(key, String.class, this::slow));
    await().atMost(SOON).until(() -> redis.hget(record, "waiters") != null);
    gate.countDown();

    assertThat(owner.get(10, TimeUnit.SECONDS).source()).isEqualTo(Source.EXECUTED);
    for (var waiter : waiting) {
      assertThat(waiter.get(10, TimeUnit.SECONDS).source()).isEqualTo(Source.SHARED);
    }
    assertThat(follower.get(10, TimeUnit.SECONDS).source()).isEqualTo(Source.FOLLOWED);
    assertThat(one.call(key, String.class, this::slow).source()).isEqualTo(Source.REPLAYED_L1);
    SimpleMeterRegistry thirds = new SimpleMeterRegistry();
    SoloFlight three = node(thirds, stage -> {});
    assertThat(three.call(key, String.class, this::slow).source()).isEqualTo(Source.REPLAYED);

    assertCalls(meters, "executed", "success", 1);
    assertCalls(meters, "shared", "success", 3);
    assertCalls(meters, "replayed-l1", "success", 1);
    assertThat(calls(meters, "stage", "s")).isEqualTo(5);
    assertCalls(othersMeters, "followed", "success", 1);
    assertThat(calls(othersMeters)).isEqualTo(1);
    assertCalls(thirds, "replayed", "success", 1);
    assertThat(calls(thirds)).isEqualTo(1);
    assertThat(timed(meters, "soloflight.execution", "outcome", "success")).isEqualTo(1);
    assertThat(timed(othersMeters, "soloflight.execution")).isZero();
    assertThat(timed(meters, "soloflight.wait")).as("waiters, no replay from L1").isEqualTo(3);
    assertThat(timed(othersMeters, "soloflight.wait")).isEqualTo(1);
    assertThat(timed(thirds, "soloflight.wait")).isEqualTo(1);
  }

  @Test
  void failures_are_counted_by_source_too() throws Exception {
    SoloFlight one = node(meters, stage -> {});
    SoloFlight two = node(othersMeters, stage -> stage.l1Ttl(Duration.ZERO));
    assertThatThrownBy(() -> one.execute(key, String.class, MetricsTest::failing))
        .isExactlyInstanceOf(IOException.class);
    assertThatThrownBy(() -> one.execute(key, String.class, MetricsTest::failing))
        .isInstanceOf(FlightFailedException.class);
    assertThatThrownBy(
            () ->
                one.callAsync(key, String.class, c -> new CompletableFuture<>())
                    .get(10, TimeUnit.SECONDS))
        .hasCauseInstanceOf(FlightFailedException.class);
    assertThatThrownBy(() -> two.execute(key, String.class, MetricsTest::failing))
        .isInstanceOf(FlightFailedException.class);

    assertCalls(meters, "executed", "failure", 1);
    assertCalls(meters, "replayed-l1", "failure", 2);
    assertThat(calls(meters)).isEqualTo(3);
    assertCalls(othersMeters, "replayed", "failure", 1);
    assertThat(calls(othersMeters)).isEqualTo(1);
    assertThat(timed(meters, "soloflight.execution", "outcome", "failure")).isEqualTo(1);
    assertThat(timed(meters, "soloflight.execution")).isEqualTo(1);
  }

  @Test
  void degraded_calls_are_counted_and_the_gauge_says_that_redis_is_away_and_back()
      throws Exception {
    try (RedisProcess own = RedisProcess.start();
        TcpProxy proxy = TcpProxy.to(own)) {
      SoloFlight node =
          open(
              SoloFlight.builder()
                  .redisUri(proxy.uri())
                  .commandTimeout(Duration.ofMillis(500))
                  .meterRegistry(meters)
                  .stage("s", stage -> stage.l1Ttl(Duration.ZERO)));
      node.execute(FlightKey.of("s", "coordinated"), String.class, c -> "v");
      assertThat(gauge(meters, "soloflight.redis.available")).isEqualTo(1);
      proxy.refuse(true);
      proxy.cut();
      AtomicInteger calls = new AtomicInteger();
      await()
          .atMost(SOON)
          .until(
              () -> {
                int call = calls.incrementAndGet();
                assertThat(
                        node.call(FlightKey.of("s", "away", call), String.class, c -> "v").source())
                    .isEqualTo(Source.DEGRADED);
                return gauge(meters, "soloflight.redis.available") == 0;
              });
      assertCalls(meters, "degraded", "success", calls.get());
      assertThatThrownBy(
              () -> node.execute(FlightKey.of("s", "bad"), String.class, MetricsTest::failing))
          .isExactlyInstanceOf(IOException.class);
      assertCalls(meters, "degraded", "failure", 1);
      assertThat(calls(meters)).isEqualTo(1 + calls.get() + 1);
      proxy.refuse(false);
      proxy.heal();
      await().atMost(SOON).until(() -> gauge(meters, "soloflight.redis.available") == 1);
      node.close();
    }
  }

  @ParameterizedTest
  @EnumSource(FlightMode.class)
  void calls_that_end_without_an_outcome_are_counted_too(FlightMode mode) throws Exception {
    SoloFlight node =
        open(
            SoloFlight.builder()
                .mode(mode)
                .redisUri(server.uri())
                .meterRegistry(meters)
                .followerMaxWait(Duration.ofMillis(300)));
    var owner = inThread(() -> node.call(key, String.class, this::slow));
    running.await();

    assertThatThrownBy(() -> node.execute(key, String.class, this::slow))
        .isInstanceOf(FlightTimeoutException.class);
    assertCalls(meters, "none", "failure", 1);
    assertThatThrownBy(
            () ->
                node.callAsync(key, String.class, c -> new CompletableFuture<>())
                    .get(10, TimeUnit.SECONDS))
        .hasCauseInstanceOf(FlightTimeoutException.class);
    assertCalls(meters, "none", "failure", 2);
    node.callAsync(key, String.class, c -> new CompletableFuture<>()).cancel(true);
    assertCalls(meters, "none", "failure", 3);
    Thread.currentThread().interrupt();
    assertThatThrownBy(() -> node.execute(key, String.class, this::slow))
        .isInstanceOf(FlightCancelledException.class);
    assertThat(Thread.interrupted()).isTrue();
    assertCalls(meters, "none", "failure", 4);
    assertThatThrownBy(() -> node.execute(key, Integer.class, c -> 1))
        .as("another type than the flight in the air")
        .isInstanceOf(FlightConfigException.class);
    assertCalls(meters, "none", "failure", 5);
    assertThatThrownBy(
            () ->
                node.callAsync(key, Integer.class, c -> new CompletableFuture<>())
                    .get(10, TimeUnit.SECONDS))
        .hasCauseInstanceOf(FlightConfigException.class);
    assertCalls(meters, "none", "failure", 6);
    gate.countDown();
    owner.get(10, TimeUnit.SECONDS);
    assertThatThrownBy(() -> node.execute(key, Integer.class, c -> 1))
        .as("another type than the one in L1")
        .isInstanceOf(FlightConfigException.class);
    assertCalls(meters, "none", "failure", 7);
    FlightKey itself = FlightKey.of("s", "itself");
    assertThatThrownBy(
            () ->
                node.execute(
                    itself, String.class, c -> node.execute(itself, String.class, d -> "never")))
        .isInstanceOf(FlightConfigException.class);
    assertCalls(meters, "none", "failure", 8);
    assertCalls(meters, "executed", "failure", 1);
    node.close();
    assertThatThrownBy(() -> node.execute(FlightKey.of("s", "late"), String.class, c -> "v"))
        .isInstanceOf(FlightCancelledException.class);
    assertCalls(meters, "none", "failure", 9);
    assertThat(calls(meters)).isEqualTo(1 + 9 + 1);
  }

  @ParameterizedTest
  @EnumSource(FlightMode.class)
  void an_asynchronous_call_that_ends_before_it_has_its_future_is_counted_once(FlightMode mode) {
    SoloFlight node =
        open(
            SoloFlight.builder()
                .redisUri(server.uri())
                .mode(mode)
                .meterRegistry(meters)
                .asyncExecutor(Runnable::run)
                .stage("s", stage -> stage.l1Ttl(Duration.ofMillis(1))));
    int calls = 50;
    for (int n = 0; n < calls; n++) {
      boolean fails = n % 2 == 0;
      CompletableFuture<FlightResult<String>> call =
          node.callAsync(
              FlightKey.of("s", "at-once", n),
              String.class,
              c ->
                  fails
                      ? CompletableFuture.failedFuture(new IOException("down"))
                      : CompletableFuture.completedFuture("v"));
      call.handle((value, e) -> value).join();
    }
    assertCalls(meters, "executed", "success", calls / 2);
    assertCalls(meters, "executed", "failure", calls / 2);
    assertCalls(meters, "none", "failure", 0);
  }

  @Test
  void under_load_every_call_is_counted_once_and_as_its_result_says() throws Exception {
    List<SimpleMeterRegistry> registries = List.of(meters, othersMeters);
    List<SoloFlight> both =
        registries.stream().map(r -> node(r, stage -> stage.l1Ttl(Duration.ofMillis(20)))).toList();
    List<Map<String, AtomicInteger>> seen =
        List.of(new ConcurrentHashMap<>(), new ConcurrentHashMap<>());
    AtomicInteger runs = new AtomicInteger();
    int callers = 16;
    int callsEach = 100;
    CountDownLatch done = new CountDownLatch(callers);
    AtomicReference<Throwable> unexpected = new AtomicReference<>();
    for (int i = 0; i < callers; i++) {
      int which = i % 2;
      pool.execute(
          () -> {
            try {
              for (int n = 0; n < callsEach; n++) {
                FlightKey any = FlightKey.of("s", "load", ThreadLocalRandom.current().nextInt(40));
                String source;
                if (ThreadLocalRandom.current().nextBoolean()) {
                  source =
                      both.get(which)
                          .call(any, String.class, c -> "v" + runs.incrementAndGet())
                          .source()
                          .name();
                } else {
                  source =
                      both.get(which)
                          .callAsync(
                              any,
                              String.class,
                              c ->
                                  CompletableFuture.supplyAsync(
                                      () -> "v" + runs.incrementAndGet(), pool))
                          .get(20, TimeUnit.SECONDS)
                          .source()
                          .name();
                }
                seen.get(which).computeIfAbsent(source, s -> new AtomicInteger()).incrementAndGet();
              }
            } catch (Throwable e) {
              unexpected.set(e);
            } finally {
              done.countDown();
            }
          });
    }
    done.await();
    assertThat(unexpected).hasNullValue();
    for (int which = 0; which < 2; which++) {
      SimpleMeterRegistry registry = registries.get(which);
      for (Source source : Source.values()) {
        AtomicInteger calls = seen.get(which).getOrDefault(source.name(), new AtomicInteger());
        String tag = source.name().toLowerCase(Locale.ROOT).replace('_', '-');
        assertCalls(registry, tag, "success", calls.get());
        assertCalls(registry, tag, "failure", 0);
      }
      assertThat(calls(registry)).isEqualTo(callers / 2.0 * callsEach);
    }
    assertThat(runs).as("one execution a key").hasValueLessThanOrEqualTo(40);
    assertThat(timed(meters, "soloflight.execution") + timed(othersMeters, "soloflight.execution"))
        .isEqualTo(runs.get());
  }

  @Test
  void a_takeover_a_lost_ownership_and_a_refused_commit_are_counted_where_they_happen()
      throws Exception {
    Map<String, String> settings =
        Map.of(
            "stages.s.heartbeat-interval", "100ms",
            "stages.s.takeover-detect", "600ms",
            "stages.s.running-ttl", "5s",
            "stages.s.l1-ttl", "0s");
    TestNode one = new TestNode(server.uri(), settings);
    TestNode two = new TestNode(server.uri(), settings);
    nodes.add(one);
    nodes.add(two);
    var owner = one.inThread(key, String.class, this::slow);
    running.await();
    one.store().fail(Step.HEARTBEAT, Integer.MAX_VALUE);
    FlightResult<String> successor = two.call(key, String.class, c -> "the successor's");
    assertThat(successor.value()).isEqualTo("the successor's");
    assertThat(two.count("soloflight.takeovers", "stage", "s")).isEqualTo(1);
    assertThat(two.count("soloflight.ownership.lost")).isZero();
    assertThat(one.count("soloflight.takeovers")).isZero();

    gate.countDown();
    assertThat(owner.get(10, TimeUnit.SECONDS).value()).isEqualTo("the successor's");
    assertThat(one.count("soloflight.commits.refused", "stage", "s", "answer", "taken"))
        .isEqualTo(1);
    assertThat(two.count("soloflight.commits.refused")).isZero();
  }

  @Test
  void an_ownership_lost_to_a_forget_is_counted_with_its_reason() throws Exception {
    SoloFlight one =
        node(
            meters,
            stage ->
                stage
                    .heartbeatInterval(Duration.ofMillis(100))
                    .takeoverDetect(Duration.ofSeconds(5)));
    SoloFlight two = node(othersMeters, stage -> {});
    var owner = inThread(() -> one.call(key, String.class, this::slow));
    running.await();
    assertThat(two.forget(key)).isTrue();
    await()
        .atMost(SOON)
        .until(
            () ->
                count(meters, "soloflight.ownership.lost", "stage", "s", "reason", "forgotten")
                    == 1);
    gate.countDown();
    assertThat(owner.get(10, TimeUnit.SECONDS).value()).isEqualTo("slow");
    assertThat(count(meters, "soloflight.commits.refused", "answer", "forgotten")).isEqualTo(1);
    assertThat(count(meters, "soloflight.ownership.lost")).isEqualTo(1);
  }

  @Test
  void a_damaged_record_is_counted_under_its_stage() {
    SoloFlight one = node(meters, stage -> stage.l1Ttl(Duration.ZERO));
    one.execute(key, String.class, c -> "v");
    assertThat(count(meters, "soloflight.records.damaged")).isZero();
    redis.hset(record, "checksum", "0");
    one.execute(key, String.class, c -> "v");
    redis.hset(record, "v", "2");
    one.execute(key, String.class, c -> "v");
    assertThat(count(meters, "soloflight.records.damaged", "stage", "s")).isEqualTo(2);
    assertThat(count(meters, "soloflight.records.damaged")).isEqualTo(2);
  }

  @Test
  void timers_measure_the_task_and_the_wait() throws Exception {
    SoloFlight one = node(meters, stage -> {});
    SoloFlight two = node(othersMeters, stage -> {});
    var owner = inThread(() -> one.call(key, String.class, this::slow));
    running.await();
    long began = System.nanoTime();
    var follower = inThread(() -> two.call(key, String.class, this::slow));
    await().atMost(SOON).until(() -> redis.hget(record, "waiters") != null);
    await().atLeast(Duration.ofMillis(50)).until(() -> System.nanoTime() - began > 50_000_000);
    gate.countDown();
    FlightResult<String> executed = owner.get(10, TimeUnit.SECONDS);
    FlightResult<String> followed = follower.get(10, TimeUnit.SECONDS);

    Timer execution = meters.find("soloflight.execution").tag("outcome", "success").timer();
    assertThat(execution.totalTime(TimeUnit.NANOSECONDS))
        .isBetween(50e6, (double) executed.elapsed().toNanos());
    Timer wait = othersMeters.find("soloflight.wait").timer();
    assertThat(wait.totalTime(TimeUnit.NANOSECONDS))
        .isBetween(followed.elapsed().toNanos() * 0.99, followed.elapsed().toNanos() * 1.01);
  }

  @Test
  void flights_in_the_air_go_up_and_back_to_zero() throws Exception {
    SoloFlight one = node(meters, stage -> {});
    SoloFlight two = node(othersMeters, stage -> {});
    CompletableFuture<String> provider = new CompletableFuture<>();
    List<CompletableFuture<FlightResult<String>>> calls = new ArrayList<>();
    for (int i = 0; i < 7; i++) {
      FlightKey each = FlightKey.of("s", "air", i);
      calls.add(one.callAsync(each, String.class, c -> provider));
      calls.add(one.callAsync(each, String.class, c -> provider));
    }
    await().atMost(SOON).until(() -> gauge(meters, "soloflight.flights.owned") == 7);
    assertThat(gauge(meters, "soloflight.flights.local")).isEqualTo(7);
    for (int i = 0; i < 7; i++) {
      calls.add(
          two.callAsync(FlightKey.of("s", "air", i), String.class, c -> new CompletableFuture<>()));
    }
    await().atMost(SOON).until(() -> gauge(othersMeters, "soloflight.flights.followed") == 7);
    assertThat(gauge(othersMeters, "soloflight.flights.owned")).isZero();
    assertThat(gauge(othersMeters, "soloflight.flights.local")).isEqualTo(7);
    provider.completeExceptionally(new IOException("down"));
    for (var call : calls) {
      assertThatThrownBy(() -> call.get(10, TimeUnit.SECONDS)).hasCauseInstanceOf(Exception.class);
    }
    for (SimpleMeterRegistry registry : List.of(meters, othersMeters)) {
      for (String gauge :
          List.of(
              "soloflight.flights.local",
              "soloflight.flights.owned",
              "soloflight.flights.followed")) {
        await().atMost(SOON).until(() -> gauge(registry, gauge) == 0);
      }
    }
  }

  @Test
  void tags_are_few_whatever_is_asked_and_hold_nothing_of_it() {
    String secret = "the candidate's secret answer";
    SoloFlight node = node(meters, stage -> stage.l1Ttl(Duration.ZERO));
    askAndFail(node, secret, 0);
    int before = meters.getMeters().size();
    for (int i = 1; i < 50; i++) {
      askAndFail(node, secret, i);
    }
    assertThat(meters.getMeters()).as("no meter more for any key").hasSize(before);
    Set<String> words =
        Set.of(
            "s",
            "executed",
            "shared",
            "replayed-l1",
            "replayed",
            "followed",
            "degraded",
            "none",
            "success",
            "failure");
    for (Meter meter : meters.getMeters()) {
      assertThat(meter.getId().getName()).startsWith("soloflight.");
      assertThat(meter.getId().getDescription()).isNotBlank();
      for (Tag tag : meter.getId().getTags()) {
        assertThat(tag.getKey()).isIn("stage", "source", "outcome");
        assertThat(tag.getValue()).isIn(words);
      }
    }
  }

  private static void askAndFail(SoloFlight node, String secret, int i) {
    node.execute(FlightKey.of("s", secret, i), String.class, c -> secret);
    assertThatThrownBy(
            () ->
                node.execute(
                    FlightKey.of("s", secret, i, "fails"),
                    String.class,
                    c -> {
                      throw new IOException(secret);
                    }))
        .isInstanceOf(IOException.class);
  }

  @Test
  void stages_are_counted_apart() {
    SoloFlight node = node(meters, stage -> {});
    node.execute(FlightKey.of("s", 1), String.class, c -> "v");
    node.execute(FlightKey.of("t", 1), String.class, c -> "v");
    node.execute(FlightKey.of("t", 2), String.class, c -> "v");
    assertThat(calls(meters, "stage", "s")).isEqualTo(1);
    assertThat(calls(meters, "stage", "t")).isEqualTo(2);
  }

  @Test
  void an_instance_without_a_registry_works() {
    SoloFlight node = open(SoloFlight.builder().redisUri(server.uri()));
    assertThat(node.execute(key, String.class, c -> "v")).isEqualTo("v");
    assertThat(node.call(key, String.class, c -> "w").source()).isEqualTo(Source.REPLAYED_L1);
  }

  @Test
  void a_closed_instance_leaves_its_gauges_to_the_next_one_on_the_same_registry() throws Exception {
    SoloFlight first = node(meters, stage -> {});
    first.execute(key, String.class, c -> "v");
    first.close();
    SoloFlight next = node(meters, stage -> {});
    var call = inThread(() -> next.call(FlightKey.of("s", "next"), String.class, this::slow));
    running.await();
    assertThat(gauge(meters, "soloflight.flights.local")).isEqualTo(1);
    assertThat(gauge(meters, "soloflight.flights.owned")).isEqualTo(1);
    gate.countDown();
    call.get(10, TimeUnit.SECONDS);
    assertThat(calls(meters)).as("counters go on").isEqualTo(2);
  }

  @Test
  void two_instances_on_one_registry_count_together_and_closing_one_leaves_the_others_gauges()
      throws Exception {
    SoloFlight one = node(meters, stage -> {});
    SoloFlight two = node(meters, stage -> {});
    one.execute(key, String.class, c -> "v");
    two.execute(key, String.class, c -> "w");
    assertThat(calls(meters)).isEqualTo(2);
    two.close();
    var call = inThread(() -> one.call(FlightKey.of("s", "one"), String.class, this::slow));
    running.await();
    assertThat(gauge(meters, "soloflight.flights.local")).isEqualTo(1);
    gate.countDown();
    call.get(10, TimeUnit.SECONDS);
  }
}
