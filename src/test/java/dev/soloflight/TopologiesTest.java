package dev.soloflight;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import dev.soloflight.support.AclUser;
import dev.soloflight.support.Invariants;
import dev.soloflight.support.RedisProcess;
import dev.soloflight.support.RedisRecords;
import dev.soloflight.support.SoloNode;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.slf4j.LoggerFactory;

/** One server, as operators guard it: passwords, users of few rights, TLS that is not there. */
class TopologiesTest {
  private static final Duration SOON = Duration.ofSeconds(20);
  private static final String KEYS = "~soloflight:*";

  /** How a server before 7 and since says so. */
  private static final String NO_RIGHT = "can't run this command|[Nn]o permissions";

  /** Everything the library asks of Redis. Connecting itself needs no right. */
  private static final List<String> LEAST_COMMANDS =
      List.of(
          "evalsha", "eval", "time", "hmget", "hset", "hdel", "del", "pexpire", "pttl", "xadd",
          "xread", "ping");

  private static final AtomicInteger KEY_NUMBERS = new AtomicInteger();
  private static RedisProcess redis;

  private final AtomicInteger runs = new AtomicInteger();
  private FlightKey key;

  @BeforeAll
  static void start() {
    redis = RedisProcess.start();
  }

  @AfterAll
  static void stop() {
    redis.close();
  }

  @BeforeEach
  void newKey() {
    key = FlightKey.of("s", KEY_NUMBERS.incrementAndGet());
  }

  @AfterEach
  void every_key_has_a_ttl_and_every_thread_has_gone() {
    Invariants.everyKeyHasTtl(redis.sync());
    Invariants.noLibraryThreadLeft(Set.of());
  }

  private static String[] rules(List<String> commands) {
    return Stream.concat(Stream.of(KEYS), commands.stream().map(command -> "+" + command))
        .toArray(String[]::new);
  }

  private static List<String> withoutCommand(String command) {
    return LEAST_COMMANDS.stream().filter(other -> !other.equals(command)).toList();
  }

  private String execute(FlightContext context) {
    return "answer " + runs.incrementAndGet();
  }

  private static <T> T get(CompletableFuture<T> call) throws Exception {
    return call.get(SOON.toSeconds(), TimeUnit.SECONDS);
  }

  @Test
  void the_readme_names_exactly_these_rules() throws Exception {
    String rules = String.join(" ", rules(LEAST_COMMANDS));
    assertThat(Files.readString(Path.of("README.md")))
        .contains("ACL SETUSER soloflight on >password " + rules + "\n");
  }

  // ---- a password

  @Test
  void a_server_with_a_password_only_serves_who_has_it_and_refuses_who_has_not() {
    try (RedisProcess guarded = RedisProcess.builder().requirePass("s3cret").start();
        SoloNode a = new SoloNode(guarded.uri(), FlightMode.DISTRIBUTED);
        SoloNode b = new SoloNode(guarded.uri(), FlightMode.DISTRIBUTED);
        SoloNode stranger =
            new SoloNode("redis://127.0.0.1:" + guarded.port(), FlightMode.DISTRIBUTED);
        SoloNode mistaken =
            new SoloNode("redis://:wrong@127.0.0.1:" + guarded.port(), FlightMode.HYBRID)) {
      assertThat(a.call(key, this::execute).source()).isEqualTo(Source.EXECUTED);
      assertThat(b.call(key, this::execute).source()).isEqualTo(Source.REPLAYED);
      assertThatThrownBy(() -> stranger.call(key, this::execute))
          .isInstanceOf(CoordinationException.class)
          .hasMessageContaining("NOAUTH");
      assertThat(mistaken.call(key, this::execute).source()).isEqualTo(Source.DEGRADED);
      assertThat(runs).hasValue(2);
    }
  }

  // ---- a user of least right

  @Test
  void the_least_rights_are_what_the_scripts_use_and_what_is_sent_beside_them() throws Exception {
    Set<String> used = new TreeSet<>(List.of("evalsha", "eval", "xread", "xadd", "ping"));
    for (String script :
        List.of(
            "common",
            "acquire",
            "confirm",
            "heartbeat",
            "complete",
            "release",
            "forget",
            "inbox")) {
      try (InputStream in = TopologiesTest.class.getResourceAsStream("/lua/" + script + ".lua")) {
        Matcher calls =
            Pattern.compile("redis\\.p?call\\('([A-Z]+)'")
                .matcher(new String(in.readAllBytes(), StandardCharsets.UTF_8));
        while (calls.find()) {
          used.add(calls.group(1).toLowerCase(Locale.ROOT));
        }
      }
    }
    assertThat(LEAST_COMMANDS).containsExactlyInAnyOrderElementsOf(used);
  }

  @Test
  void the_least_rights_suffice_for_everything() throws Exception {
    redis.sync().scriptFlush();
    CopyOnWriteArrayList<String> complaints = new CopyOnWriteArrayList<>();
    try (AclUser user = AclUser.create(redis, "least", rules(LEAST_COMMANDS));
        AutoCloseable listening = listenTo("dev.soloflight", complaints);
        SoloNode a = new SoloNode(user.uri(), FlightMode.DISTRIBUTED);
        SoloNode b =
            new SoloNode(user.uri(), FlightMode.DISTRIBUTED, TopologiesTest::pollingRarely)) {
      assertThat(followed(a, b, complaints).source()).isEqualTo(Source.FOLLOWED);
      assertThat(redis.sync().keys("soloflight:inbox:*")).hasSize(1);
      assertThat(b.call(key, this::execute).source()).isEqualTo(Source.REPLAYED);
      assertThat(a.solo().inspect(key)).isPresent();
      assertThat(a.solo().forget(key)).isTrue();
      assertThat(a.call(key, this::execute).value()).isEqualTo("answer 2");
      FlightKey failing = FlightKey.of("s", "failing", KEY_NUMBERS.incrementAndGet());
      failRetryably(a, failing);
      assertThat(b.call(failing, this::execute).source()).isEqualTo(Source.EXECUTED);
      assertThat(b.count("soloflight.takeovers")).isEqualTo(1);
    }
    assertThat(redis.sync().keys("soloflight:inbox:*")).as("deleted at close").isEmpty();
    assertThat(complaints).isEmpty();
  }

  private static SoloFlight.Builder pollingRarely(SoloFlight.Builder builder) {
    return builder.set("poll-fallback-interval", "50s");
  }

  private static SoloFlight.Builder pollingOften(SoloFlight.Builder builder) {
    return builder.set("poll-fallback-interval", "100ms");
  }

  private static void failRetryably(SoloNode node, FlightKey key) {
    assertThatThrownBy(
            () ->
                node.call(
                    key,
                    c -> {
                      throw new IOException("busy");
                    }))
        .isInstanceOf(IOException.class);
  }

  /** What a follower on the one node gets when the other one has executed. */
  private FlightResult<String> followed(SoloNode owner, SoloNode follower, List<String> complaints)
      throws Exception {
    CountDownLatch running = new CountDownLatch(1);
    CountDownLatch gate = new CountDownLatch(1);
    CompletableFuture<FlightResult<String>> owning =
        owner.inThread(
            key,
            c -> {
              running.countDown();
              gate.await();
              return execute(c);
            });
    assertThat(running.await(20, TimeUnit.SECONDS)).isTrue();
    CompletableFuture<FlightResult<String>> following = follower.inThread(key, this::execute);
    String record = RedisRecords.redisKey(key);
    await().atMost(SOON).until(() -> redis.sync().hget(record, "waiters") != null);
    await().atMost(SOON).until(() -> inboxIsRead() || !complaints.isEmpty());
    gate.countDown();
    assertThat(get(owning).source()).isEqualTo(Source.EXECUTED);
    return get(following);
  }

  private static boolean inboxIsRead() {
    return redis.sync().info("clients").contains("blocked_clients:1");
  }

  private static AutoCloseable listenTo(String logger, List<String> complaints) {
    Logger log = (Logger) LoggerFactory.getLogger(logger);
    ListAppender<ILoggingEvent> appender =
        new ListAppender<>() {
          @Override
          protected void append(ILoggingEvent event) {
            if (event.getLevel().isGreaterOrEqual(ch.qos.logback.classic.Level.WARN)) {
              complaints.add(event.getFormattedMessage());
            }
          }
        };
    appender.start();
    log.addAppender(appender);
    return () -> log.detachAppender(appender);
  }

  @ParameterizedTest
  @ValueSource(strings = {"evalsha", "eval", "time", "hmget", "hset", "del", "pexpire"})
  void without_any_of_these_no_flight_is_owned_and_distributed_mode_says_which(String command) {
    redis.sync().scriptFlush();
    try (AclUser user = AclUser.create(redis, "lesser", rules(withoutCommand(command)));
        SoloNode node = new SoloNode(user.uri(), FlightMode.DISTRIBUTED);
        SoloNode hybrid = new SoloNode(user.uri(), FlightMode.HYBRID)) {
      assertThatThrownBy(() -> node.call(key, this::execute))
          .isInstanceOf(CoordinationException.class)
          .hasMessageContaining("the task did not run")
          .hasMessageContaining("Redis refused it")
          .hasMessageFindingMatch(NO_RIGHT);
      assertThat(runs).hasValue(0);
      assertThat(hybrid.call(key, this::execute).source()).isEqualTo(Source.DEGRADED);
    }
  }

  @Test
  void a_redis_that_answers_pings_and_refuses_the_rest_is_one_line_in_the_log() throws Exception {
    CopyOnWriteArrayList<String> complaints = new CopyOnWriteArrayList<>();
    try (AclUser user = AclUser.create(redis, "pinging", rules(withoutCommand("evalsha")));
        AutoCloseable listening =
            listenTo("dev.soloflight.internal.coordinator.RedisHealth", complaints);
        SoloNode node = new SoloNode(user.uri(), FlightMode.HYBRID)) {
      for (int outage = 0; outage < 3; outage++) {
        await().atMost(SOON).until(() -> breakerIsOpen(node));
        await().atMost(SOON).until(() -> node.gauge("soloflight.redis.available") == 1);
      }
      assertThat(complaints)
          .singleElement()
          .asString()
          .contains("Redis refused it")
          .containsPattern(NO_RIGHT)
          .contains("inside this JVM only");
    }
  }

  @Test
  void without_pttl_no_outcome_is_replayed() {
    try (AclUser user = AclUser.create(redis, "no-pttl", rules(withoutCommand("pttl")));
        SoloNode node = new SoloNode(user.uri(), FlightMode.DISTRIBUTED)) {
      assertThat(node.call(key, this::execute).source()).isEqualTo(Source.EXECUTED);
      assertThatThrownBy(() -> node.call(key, this::execute))
          .isInstanceOf(CoordinationException.class);
    }
  }

  @Test
  void without_hdel_no_flight_is_taken_over() {
    try (AclUser user = AclUser.create(redis, "no-hdel", rules(withoutCommand("hdel")));
        SoloNode node = new SoloNode(user.uri(), FlightMode.DISTRIBUTED)) {
      failRetryably(node, key);
      assertThatThrownBy(() -> node.call(key, this::execute))
          .isInstanceOf(CoordinationException.class);
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"xread", "xadd"})
  void without_the_inbox_followers_are_answered_by_polling_and_the_log_says_so(String command)
      throws Exception {
    CopyOnWriteArrayList<String> complaints = new CopyOnWriteArrayList<>();
    redis.resetStats();
    try (AclUser user = AclUser.create(redis, "deaf", rules(withoutCommand(command)));
        AutoCloseable listening = listenTo("dev.soloflight.internal.store.Inbox", complaints);
        SoloNode a = new SoloNode(user.uri(), FlightMode.DISTRIBUTED);
        SoloNode b =
            new SoloNode(user.uri(), FlightMode.DISTRIBUTED, TopologiesTest::pollingOften)) {
      FlightResult<String> result = followed(a, b, complaints);
      assertThat(result.source()).isEqualTo(Source.FOLLOWED);
      assertThat(result.value()).isEqualTo("answer 1");
      assertThat(complaints)
          .singleElement()
          .asString()
          .contains("cannot be read", "poll")
          .containsPattern(NO_RIGHT);
    }
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void hybrid_mode_comes_back_to_a_redis_that_it_may_ping(boolean mayPing) {
    List<String> commands = mayPing ? LEAST_COMMANDS : withoutCommand("ping");
    String user = "returning on >s3cret " + String.join(" ", rules(commands));
    try (RedisProcess server = RedisProcess.builder().users(user).start();
        SoloNode node =
            new SoloNode(
                "redis://returning:s3cret@127.0.0.1:" + server.port(), FlightMode.HYBRID)) {
      assertThat(node.call(key, this::execute).source()).isEqualTo(Source.EXECUTED);
      server.kill9();
      await()
          .atMost(SOON)
          .until(() -> node.call(another(), this::execute).source() == Source.DEGRADED);
      await().atMost(SOON).until(() -> breakerIsOpen(node));
      server.restartEmpty();
      if (mayPing) {
        await()
            .atMost(SOON)
            .until(() -> node.call(another(), this::execute).source() == Source.EXECUTED);
      } else {
        await()
            .atMost(SOON)
            .until(() -> server.sync().info("commandstats").contains("cmdstat_ping"));
        assertThat(node.call(another(), this::execute).source()).isEqualTo(Source.DEGRADED);
        assertThat(server.commandCount("evalsha")).isZero();
      }
    }
  }

  private boolean breakerIsOpen(SoloNode node) {
    node.call(another(), this::execute);
    return node.gauge("soloflight.redis.available") == 0;
  }

  private static FlightKey another() {
    return FlightKey.of("s", "another", KEY_NUMBERS.incrementAndGet());
  }

  // ---- TLS that is not there

  @Test
  void tls_to_a_plain_server_is_a_clear_error_in_time_in_distributed_mode() {
    try (SoloNode node =
        new SoloNode(
            "rediss://127.0.0.1:" + redis.port(),
            FlightMode.DISTRIBUTED,
            builder -> builder.commandTimeout(Duration.ofSeconds(1)))) {
      long before = System.nanoTime();
      assertThatThrownBy(() -> node.call(key, this::execute))
          .isInstanceOf(CoordinationException.class)
          .hasMessageContaining("the task did not run")
          .hasMessageContaining("redis.uri");
      assertThat(Duration.ofNanos(System.nanoTime() - before)).isLessThan(Duration.ofSeconds(10));
      assertThat(runs).hasValue(0);
    }
  }

  @Test
  void tls_to_a_plain_server_falls_back_in_hybrid_mode() {
    try (SoloNode node = new SoloNode("rediss://127.0.0.1:" + redis.port(), FlightMode.HYBRID)) {
      assertThat(node.call(key, this::execute).source()).isEqualTo(Source.DEGRADED);
      assertThat(runs).hasValue(1);
    }
  }

  // ---- another application's key

  /** What another application may keep there. */
  enum Foreign {
    STRING,
    LIST,
    SET,
    STREAM,
    HASH
  }

  @ParameterizedTest
  @EnumSource
  void a_foreign_key_under_the_flights_name_counts_as_absent(Foreign type) {
    String name = RedisRecords.redisKey(key);
    switch (type) {
      case STRING -> redis.sync().set(name, "x");
      case LIST -> redis.sync().lpush(name, "x");
      case SET -> redis.sync().sadd(name, "x");
      case STREAM -> redis.sync().xadd(name, "x", "y");
      case HASH -> redis.sync().hset(name, "status", "SUCCEEDED");
    }
    try (SoloNode node = new SoloNode(redis.uri(), FlightMode.DISTRIBUTED)) {
      if (type != Foreign.HASH) {
        assertThat(node.solo().inspect(key)).isEmpty();
      }
      assertThat(node.call(key, this::execute).source()).isEqualTo(Source.EXECUTED);
      assertThat(node.call(key, this::execute).source()).isEqualTo(Source.REPLAYED);
      assertThat(node.count("soloflight.records.damaged")).isEqualTo(1);
    }
  }

  @Test
  void a_foreign_key_under_the_flights_name_is_forgotten_as_nothing() {
    redis.sync().lpush(RedisRecords.redisKey(key), "x");
    try (SoloNode node = new SoloNode(redis.uri(), FlightMode.DISTRIBUTED)) {
      assertThat(node.solo().forget(key)).isFalse();
      assertThat(node.call(key, this::execute).source()).isEqualTo(Source.EXECUTED);
    }
  }
}
