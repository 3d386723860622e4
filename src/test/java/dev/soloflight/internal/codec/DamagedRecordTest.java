package dev.soloflight.internal.codec;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.soloflight.FlightConfigException;
import dev.soloflight.FlightFailedException;
import dev.soloflight.FlightKey;
import dev.soloflight.FlightResult;
import dev.soloflight.SoloFlight;
import dev.soloflight.Source;
import dev.soloflight.support.TestRedis;
import dev.soloflight.support.WithRedis;
import io.lettuce.core.SetArgs;
import io.lettuce.core.api.sync.RedisCommands;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** DESIGN 6 and 10.6: a record that was damaged in Redis, and what callers get. */
@WithRedis
class DamagedRecordTest {
  private static final int NODES = 3;
  private static final int CALLERS_A_NODE = 10;
  private static final String ANSWER = "答案 ".repeat(40);

  private final ExecutorService pool = Executors.newCachedThreadPool();
  private final List<SoloFlight> nodes = new ArrayList<>();
  private final List<SimpleMeterRegistry> meters = new ArrayList<>();
  private final AtomicInteger runs = new AtomicInteger();
  private final FlightKey key = FlightKey.of("s", "damaged");
  private final String record = "soloflight:{default:" + key.id() + "}";
  private RedisCommands<String, String> redis;

  @BeforeEach
  void open(TestRedis server, RedisCommands<String, String> commands) {
    redis = commands;
    for (int i = 0; i < NODES; i++) {
      SimpleMeterRegistry registry = new SimpleMeterRegistry();
      meters.add(registry);
      nodes.add(
          SoloFlight.builder()
              .redisUri(server.uri())
              .meterRegistry(registry)
              .stage("s", stage -> stage.l1Ttl(Duration.ZERO))
              .set("stages.s.compression-threshold", "100")
              .set("max-result-bytes", "64KB")
              .build());
    }
  }

  @AfterEach
  void close() {
    nodes.forEach(SoloFlight::close);
    pool.shutdownNow();
  }

  private FlightResult<String> ask(SoloFlight node) {
    return node.call(key, String.class, c -> runs.incrementAndGet() + " " + ANSWER);
  }

  private double damaged(SimpleMeterRegistry registry) {
    return registry.find("soloflight.records.damaged").counters().stream()
        .mapToDouble(counter -> counter.count())
        .sum();
  }

  private double damaged() {
    return meters.stream().mapToDouble(this::damaged).sum();
  }

  private void change(String field, UnaryOperator<String> how) {
    redis.hset(record, field, how.apply(redis.hget(record, field)));
  }

  /** Every node's callers at once. */
  private List<FlightResult<String>> askTogether() throws Exception {
    CyclicBarrier together = new CyclicBarrier(NODES * CALLERS_A_NODE);
    List<CompletableFuture<FlightResult<String>>> calls = new ArrayList<>();
    for (SoloFlight node : nodes) {
      for (int i = 0; i < CALLERS_A_NODE; i++) {
        CompletableFuture<FlightResult<String>> call = new CompletableFuture<>();
        calls.add(call);
        pool.execute(
            () -> {
              try {
                together.await();
                call.complete(ask(node));
              } catch (Throwable e) {
                call.completeExceptionally(e);
              }
            });
      }
    }
    List<FlightResult<String>> results = new ArrayList<>();
    for (var call : calls) {
      results.add(call.get(20, TimeUnit.SECONDS));
    }
    return results;
  }

  @SuppressWarnings("ImmutableEnumChecker") // pure functions
  enum Damage {
    PAYLOAD_FLIPPED("payload", v -> flipped(v, v.length() / 2)),
    PAYLOAD_NO_BASE64("payload", v -> "*" + v.substring(1)),
    PAYLOAD_TRUNCATED("payload", v -> v.substring(0, v.length() / 2)),
    PAYLOAD_EMPTY("payload", v -> ""),
    CHECKSUM_FLIPPED("checksum", v -> flipped(v, 5)),
    SIZE_CHANGED("rawSize", v -> Long.toString(Long.parseLong(v) + 1)),
    SIZE_NO_NUMBER("rawSize", v -> "many"),
    SIZE_ENORMOUS("rawSize", v -> "99999999999999999999"),
    CODEC_UNKNOWN("codec", v -> v.replace("gzip", "zstd")),
    CODEC_EMPTY("codec", v -> ""),
    OTHER_VERSION("v", v -> "2"),
    NO_VERSION("v", v -> ""),
    UNKNOWN_STATUS("status", v -> "LANDED");

    final String field;
    final UnaryOperator<String> how;

    Damage(String field, UnaryOperator<String> how) {
      this.field = field;
      this.how = how;
    }

    private static String flipped(String value, int at) {
      char other = value.charAt(at) == 'A' ? 'B' : 'A';
      return value.substring(0, at) + other + value.substring(at + 1);
    }
  }

  @ParameterizedTest
  @EnumSource
  void a_damaged_record_is_never_served_and_exactly_one_of_all_callers_executes_again(Damage damage)
      throws Exception {
    assertThat(ask(nodes.get(0)).value()).isEqualTo("1 " + ANSWER);
    assertThat(ask(nodes.get(1)).source()).isEqualTo(Source.REPLAYED);
    long token = Long.parseLong(redis.hget(record, "ownerToken"));
    change(damage.field, damage.how);

    List<FlightResult<String>> results = askTogether();

    assertThat(runs).hasValue(2);
    assertThat(results)
        .allSatisfy(
            result -> {
              assertThat(result.value()).isEqualTo("2 " + ANSWER);
              assertThat(result.ownerToken()).isGreaterThan(token);
            });
    assertThat(results.stream().filter(r -> r.source() == Source.EXECUTED)).hasSize(1);
    assertThat(damaged()).isPositive();
    assertThat(meters)
        .as("a node counts a record once")
        .allSatisfy(registry -> assertThat(damaged(registry)).isLessThanOrEqualTo(1));
    assertThat(redis.hget(record, "v")).isEqualTo("1");
    assertThat(ask(nodes.get(2)).source()).as("the new record is sound").isEqualTo(Source.REPLAYED);
    assertThat(runs).hasValue(2);
  }

  @ParameterizedTest
  @ValueSource(strings = {"payload", "checksum", "codec", "rawSize", "v", "status", "ownerToken"})
  void a_record_that_lost_a_field_is_never_served_and_one_caller_executes_again(String field)
      throws Exception {
    ask(nodes.get(0));
    redis.hdel(record, field);

    assertThat(askTogether()).allSatisfy(r -> assertThat(r.value()).isEqualTo("2 " + ANSWER));
    assertThat(runs).hasValue(2);
    assertThat(damaged()).isPositive();
  }

  @Test
  void what_is_no_record_at_all_is_never_served_and_one_caller_executes() throws Exception {
    redis.set(record, "somebody else's", SetArgs.Builder.px(60_000));

    assertThat(askTogether()).allSatisfy(r -> assertThat(r.value()).isEqualTo("1 " + ANSWER));
    assertThat(runs).hasValue(1);
    assertThat(damaged()).isEqualTo(1);
  }

  @ParameterizedTest
  @ValueSource(strings = {"0", "-1", "many", "1e3", "007"})
  void a_damaged_record_whose_token_is_no_number_is_never_served_either(String token)
      throws Exception {
    ask(nodes.get(0));
    redis.hset(record, "ownerToken", token);
    change("payload", v -> Damage.flipped(v, v.length() / 2));

    assertThat(askTogether()).allSatisfy(r -> assertThat(r.value()).isEqualTo("2 " + ANSWER));
    assertThat(runs).hasValue(2);
  }

  @Test
  void an_absent_record_is_not_counted_as_damaged() throws Exception {
    askTogether();
    assertThat(runs).hasValue(1);
    assertThat(damaged()).isZero();
  }

  @Test
  void a_damage_that_comes_back_is_repaired_each_time() throws Exception {
    ask(nodes.get(0));
    for (int i = 2; i <= 6; i++) {
      change("payload", v -> Damage.flipped(v, v.length() / 2));
      String expected = i + " " + ANSWER;
      assertThat(askTogether()).allSatisfy(r -> assertThat(r.value()).isEqualTo(expected));
    }
    assertThat(runs).hasValue(6);
  }

  @Test
  void another_result_type_is_refused_on_every_node_and_leaves_the_record_alone() {
    ask(nodes.get(0));
    Map<String, String> before = redis.hgetall(record);
    for (SoloFlight node : nodes) {
      assertThatThrownBy(() -> node.execute(key, Integer.class, c -> runs.incrementAndGet()))
          .isInstanceOf(FlightConfigException.class)
          .hasMessageContainingAll(
              key.toString(), "java.lang.String", "java.lang.Integer", "ask for the same type");
    }
    assertThat(redis.hgetall(record)).isEqualTo(before);
    assertThat(runs).hasValue(1);
    assertThat(damaged()).isZero();
  }

  @Test
  void a_result_too_large_to_share_reaches_its_own_callers_and_the_others_are_told_why() {
    String large = "x".repeat(64 * 1024 + 1);
    FlightResult<String> own = nodes.get(0).call(key, String.class, c -> large);

    assertThat(own.value()).isEqualTo(large);
    assertThat(own.source()).isEqualTo(Source.EXECUTED);
    assertUnshareable(nodes.get(1), String.class, "RESULT_TOO_LARGE");
    assertThat(redis.hget(record, "payload")).isNull();
  }

  static final class OneWay {
    private final String text;

    OneWay(String text) {
      this.text = text;
    }

    public String getText() {
      return text;
    }
  }

  @Test
  void a_result_that_cannot_be_read_back_reaches_its_own_callers_and_nobody_pays_again() {
    FlightResult<OneWay> own = nodes.get(0).call(key, OneWay.class, c -> new OneWay("paid for"));

    assertThat(own.value().getText()).isEqualTo("paid for");
    for (SoloFlight other : nodes.subList(1, NODES)) {
      assertUnshareable(other, OneWay.class, "RESULT_NOT_ENCODABLE");
    }
    assertThat(damaged()).isZero();
  }

  private void assertUnshareable(SoloFlight node, Class<?> type, String code) {
    assertThatThrownBy(
            () ->
                node.execute(
                    key,
                    type,
                    c -> {
                      runs.incrementAndGet();
                      return null;
                    }))
        .isInstanceOfSatisfying(
            FlightFailedException.class,
            e -> {
              assertThat(e.errorCode()).isEqualTo(code);
              assertThat(e.retryable()).isFalse();
            });
    assertThat(runs).as("executed again").hasValue(0);
  }
}
