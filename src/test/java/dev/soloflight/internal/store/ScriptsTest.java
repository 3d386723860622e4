package dev.soloflight.internal.store;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.soloflight.FlightKey;
import dev.soloflight.support.RedisClusterOf3;
import dev.soloflight.support.RedisProcess;
import dev.soloflight.support.RedisRecords;
import dev.soloflight.support.StoreNodes;
import dev.soloflight.support.TestRedis;
import dev.soloflight.support.WithRedis;
import io.lettuce.core.api.sync.RedisCommands;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** The scripts keep the rules of DESIGN 3.2: what they say of themselves is what they do. */
@WithRedis
class ScriptsTest {
  private static final Pattern COMMENT = Pattern.compile("--[^\n]*");
  private static final Pattern INDEX = Pattern.compile("(KEYS|ARGV)\\[(\\d+)]");
  private static final Pattern CALL =
      Pattern.compile("redis\\.p?call\\('([A-Z]+)'(?:, *([A-Za-z]+(?:\\[\\d+])?))?");
  private static final Pattern WORD = Pattern.compile("'([A-Z][A-Z_]+)'");
  private static final Pattern REPLY = Pattern.compile("return \\{ *([^,}]+)");
  private static final Pattern EXPONENT = Pattern.compile(".*\\de[+-]?\\d+.*");
  private static final int SLOTS_PER_NODE_TRIED = 400;

  private StoreNodes nodes;
  private RedisCommands<String, String> redis;

  @BeforeEach
  void open(TestRedis server, RedisCommands<String, String> commands) {
    nodes = new StoreNodes(server.uri());
    redis = commands;
  }

  @AfterEach
  void close() {
    nodes.close();
  }

  // ---- what the files say

  private static String read(String name) {
    try (InputStream in = ScriptsTest.class.getResourceAsStream("/lua/" + name + ".lua")) {
      return new String(in.readAllBytes(), StandardCharsets.UTF_8);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static String file(Script script) {
    return read(script.name().toLowerCase(Locale.ROOT));
  }

  /** The comment a file opens with. */
  private static String header(Script script) {
    return file(script).lines().takeWhile(line -> line.startsWith("--")).collect(joining());
  }

  private static java.util.stream.Collector<CharSequence, ?, String> joining() {
    return Collectors.joining("\n", "", "\n");
  }

  private static String code(String text) {
    return COMMENT.matcher(text).replaceAll("");
  }

  private static Set<String> all(Pattern pattern, String text) {
    return pattern
        .matcher(text)
        .results()
        .map(MatchResult::group)
        .collect(Collectors.toCollection(TreeSet::new));
  }

  private static Set<String> words(String text) {
    return WORD.matcher(text)
        .results()
        .map(found -> found.group(1))
        .collect(Collectors.toCollection(TreeSet::new));
  }

  @ParameterizedTest
  @EnumSource
  void each_file_opens_with_purpose_keys_arguments_replies_and_what_makes_it_safe_to_repeat(
      Script script) {
    String name = script.name().toLowerCase(Locale.ROOT);
    assertThat(header(script))
        .startsWith("-- " + name + ": ")
        .containsSubsequence("\n-- KEYS[1]", "\n-- ARGV[1]", "\n-- Replies\n", "\n-- Sent twice: ");
  }

  @Test
  void what_is_shared_says_that_it_is_never_run_alone() {
    assertThat(read("common")).contains("included by").contains("never run alone");
    assertThat(code(read("common"))).doesNotContain("KEYS", "ARGV");
  }

  /** The first element of each reply, where it is a name: what that name can stand for. */
  private static Set<String> repliesOf(Script script) {
    String code = code(file(script));
    Set<String> replies = new TreeSet<>();
    REPLY
        .matcher(code)
        .results()
        .map(found -> found.group(1).strip())
        .forEach(
            first -> {
              Set<String> literals = words(first);
              if (!literals.isEmpty()) {
                replies.addAll(literals);
                return;
              }
              if (first.equals("r[6]")) {
                return; // what forget has stored of its first reply
              }
              String definition =
                  code.lines()
                      .filter(line -> line.matches("local " + first + "\\b.*=.*"))
                      .findFirst()
                      .orElseThrow(() -> new AssertionError(script + " replies " + first));
              if (definition.contains("compare(")) {
                String compare = code(read("common"));
                compare = compare.substring(compare.indexOf("function compare"));
                compare = compare.substring(0, compare.indexOf("\nend"));
                Pattern refusal = Pattern.compile("return '[A-Z]+'\n");
                all(refusal, compare).forEach(line -> replies.addAll(words(line)));
              } else {
                // The value's own literals, not those of its condition.
                replies.addAll(words(definition.substring(definition.indexOf(" and '"))));
              }
            });
    return replies;
  }

  @ParameterizedTest
  @EnumSource
  void the_replies_of_the_body_are_those_that_the_header_names(Script script) {
    Set<String> named =
        Pattern.compile("\\{'([A-Z_]+)'")
            .matcher(header(script))
            .results()
            .map(found -> found.group(1))
            .collect(Collectors.toCollection(TreeSet::new));
    assertThat(repliesOf(script)).isNotEmpty().isEqualTo(named);
  }

  @ParameterizedTest
  @EnumSource
  void the_keys_and_arguments_of_the_body_are_those_that_the_header_documents(Script script) {
    Set<String> documented = new TreeSet<>();
    header(script)
        .lines()
        .filter(line -> line.startsWith("-- KEYS[") || line.startsWith("-- ARGV["))
        .forEach(
            line -> {
              documented.addAll(all(INDEX, line));
              assertThat(line).as("says what it is").matches("-- \\S+ +[a-zA-Z].*");
            });
    assertThat(all(INDEX, code(file(script)))).isEqualTo(documented);
  }

  @ParameterizedTest
  @EnumSource
  void only_the_flights_own_key_is_touched(Script script) {
    String whole = code(script.source());
    assertThat(all(Pattern.compile("KEYS\\[[^]]*]"), whole)).containsExactly("KEYS[1]");
    assertThat(all(Pattern.compile("local key\\b.*"), whole))
        .allSatisfy(line -> assertThat(line).isEqualTo("local key = KEYS[1]"));
    List<MatchResult> calls = CALL.matcher(whole).results().toList();
    assertThat(calls).as("all of them").hasSize(whole.split("redis\\.p?call", -1).length - 1);
    assertThat(calls)
        .allSatisfy(
            call ->
                assertThat(call.group(1).equals("TIME") ? "key" : call.group(2))
                    .isIn("key", "KEYS[1]"));
    assertThat(all(Pattern.compile("\\b(?:compare|fields|expire)\\([^,)]*"), whole))
        .allSatisfy(call -> assertThat(call).matches("\\w+\\((key|KEYS\\[1])"));
  }

  @ParameterizedTest
  @EnumSource
  void time_is_the_servers_alone(Script script) {
    String whole = code(script.source());
    assertThat(whole).doesNotContain("os.", "LASTSAVE");
    // Whoever asks for the time asks TIME, in one place.
    assertThat(code(read("common")).split("redis\\.call\\('TIME'\\)", -1)).hasSize(2);
    assertThat(code(file(script))).doesNotContain("'TIME'");
  }

  @Test
  void a_record_tells_the_time_of_the_server() {
    FlightKey key = FlightKey.of("time", 1);
    long before = serverMillis();
    LettuceFlightStore node = nodes.open("node-a");
    OwnerStamp owner = own(node, key, "A");
    FlightStoreContract.get(node.confirm(key, owner, 60_000));
    FlightStoreContract.get(node.complete(key, owner, FlightStoreContract.success("x")));
    long after = serverMillis();
    Map<String, String> record = new RedisRecords(redis).read(key);
    assertThat(record).containsKeys("startedAt", "heartbeatAt", "finishedAt");
    for (String field : List.of("startedAt", "heartbeatAt", "finishedAt")) {
      assertThat(Long.parseLong(record.get(field))).isBetween(before, after);
    }
    assertThat(owner.ownerToken()).isBetween(before * 1_000, after * 1_000 + 999);
  }

  private long serverMillis() {
    List<String> time = redis.time();
    return Long.parseLong(time.get(0)) * 1_000 + Long.parseLong(time.get(1)) / 1_000;
  }

  // ---- numbers

  @Test
  void no_number_of_any_record_is_written_with_an_exponent() {
    LettuceFlightStore node = nodes.open("node-a");
    List<FlightKey> keys = new ArrayList<>();
    long longest = Duration.ofDays(366).toMillis();
    for (String end : List.of("none", "succeed", "fail", "release", "forget", "takeover", "lost")) {
      FlightKey key = FlightKey.of("numbers", end);
      keys.add(key);
      get(node.forget(key, "F", longest));
      AcquireRequest once =
          new AcquireRequest(
              "A", "idem", longest, longest, end.equals("lost") ? 1 : 2, longest, 0, false);
      OwnerStamp owner = new OwnerStamp("A", get(node.acquire(key, once)).ownerToken());
      get(node.confirm(key, owner, longest));
      get(node.heartbeat(key, owner, longest));
      switch (end) {
        case "succeed" ->
            get(
                node.complete(
                    key,
                    owner,
                    new Commit.Success("raw", Integer.MAX_VALUE, "", new byte[1], longest)));
        case "fail" ->
            get(
                node.complete(
                    key, owner, new Commit.Failure("T", "C", "M", true, longest, longest)));
        case "release" -> get(node.release(key, owner, longest, "r"));
        case "forget" -> get(node.forget(key, "G", longest));
        case "takeover", "lost" -> {
          redis.hset(RedisRecords.redisKey(key), "heartbeatAt", "0");
          get(
              node.acquire(
                  key,
                  new AcquireRequest("B", "idem-B", 1, longest, once.maxAttempts(), 1, 0, false)));
        }
        default -> {}
      }
    }
    RedisRecords records = new RedisRecords(redis);
    assertThat(keys)
        .allSatisfy(
            key -> {
              Map<String, String> record = records.read(key);
              assertThat(record).isNotEmpty();
              record.remove("payload");
              record.remove("stage");
              record.remove("errorMessage");
              record.remove("errorType");
              assertThat(record.values())
                  .allSatisfy(value -> assertThat(value).doesNotMatch(EXPONENT));
              assertThat(record.get("ownerToken")).matches("\\d{16,17}");
            });
    assertThat(records.read(FlightKey.of("numbers", "lost"))).containsEntry("status", "FAILED");
    assertThat(records.read(FlightKey.of("numbers", "takeover"))).containsEntry("attempt", "2");
  }

  // ---- NOSCRIPT

  private static <T> T get(CompletableFuture<T> reply) {
    return FlightStoreContract.get(reply);
  }

  private static OwnerStamp own(FlightStore node, FlightKey key, String ownerId) {
    return new OwnerStamp(
        ownerId, get(node.acquire(key, FlightStoreContract.asking(ownerId))).ownerToken());
  }

  /** Every step of a flight's life, each after {@code before}. */
  private static void everyStep(FlightStore node, FlightKey key, Runnable before) {
    before.run();
    OwnerStamp owner = own(node, key, "A");
    before.run();
    assertThat(get(node.confirm(key, owner, 60_000))).isEqualTo(Answer.OK);
    before.run();
    assertThat(get(node.heartbeat(key, owner, 60_000))).isEqualTo(Answer.OK);
    before.run();
    assertThat(get(node.release(key, owner, 60_000, "x")).answer()).isEqualTo(Answer.OK);
    before.run();
    OwnerStamp next = own(node, key, "B");
    before.run();
    assertThat(get(node.complete(key, next, FlightStoreContract.success("x"))).answer())
        .isEqualTo(Answer.OK);
    before.run();
    assertThat(get(node.forget(key, "F", 60_000)).removed()).isTrue();
  }

  @Test
  void a_script_flush_is_invisible_to_every_step_and_costs_one_round_trip(TestRedis server) {
    LettuceFlightStore node = nodes.open("node-a");
    get(node.ping());
    server.resetStats();
    everyStep(node, FlightKey.of("flushed", 1), redis::scriptFlush);
    assertThat(server.commandCount("evalsha")).isEqualTo(7);
    assertThat(server.commandCount("eval")).as("each once, in full").isEqualTo(7);
    server.resetStats();
    everyStep(node, FlightKey.of("flushed", 2), () -> {});
    assertThat(server.commandCount("evalsha")).isEqualTo(7);
    assertThat(server.commandCount("eval"))
        .as("known since the last flush: forget, then what was sent once")
        .isEqualTo(5);
  }

  @Test
  void a_script_flush_is_invisible_to_the_inbox() {
    redis.scriptFlush();
    LettuceFlightStore node = nodes.open("node-a");
    List<FlightKey> woken = new java.util.concurrent.CopyOnWriteArrayList<>();
    node.listen(
        new FlightStore.WakeListener() {
          @Override
          public void onWake(FlightKey flight) {
            woken.add(flight);
          }

          @Override
          public void onWakeAll() {}
        });
    String inbox = "soloflight:inbox:{default:node-a}";
    await().until(() -> redis.exists(inbox) == 1);
    assertThat(redis.pttl(inbox)).isPositive();
    FlightKey key = FlightKey.of("woken", 1);
    get(node.ping());
    node.wake(key, List.of("node-a"));
    await().untilAsserted(() -> assertThat(woken).containsExactly(key));
  }

  @Test
  void a_script_flush_on_any_node_of_a_cluster_is_invisible() {
    try (RedisClusterOf3 cluster = RedisClusterOf3.start();
        StoreNodes clustered = new StoreNodes(cluster.uri())) {
      LettuceFlightStore node = clustered.open("node-a");
      for (RedisProcess server : cluster.nodes()) {
        FlightKey key = keyOn(cluster, server);
        server.resetStats();
        everyStep(node, key, server.sync()::scriptFlush);
        assertThat(server.commandCount("eval")).as("it was this node's").isEqualTo(7);
      }
    }
  }

  private static FlightKey keyOn(RedisClusterOf3 cluster, RedisProcess server) {
    for (int i = 0; i < SLOTS_PER_NODE_TRIED; i++) {
      FlightKey key = FlightKey.of("flushed", i);
      if (cluster.primaryOf(RedisRecords.redisKey(key)) == server) {
        return key;
      }
    }
    throw new AssertionError("no key of " + server);
  }
}
