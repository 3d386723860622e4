package dev.soloflight.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.databind.JsonNode;
import dev.soloflight.FlightKey;
import dev.soloflight.SoloFlight;
import dev.soloflight.support.AclUser;
import dev.soloflight.support.RedisClusterOf3;
import dev.soloflight.support.RedisProcess;
import dev.soloflight.support.TestRedis;
import dev.soloflight.support.WithRedis;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The commands as a person at a terminal meets them. */
@WithRedis
class MainTest {
  private static final FlightKey KEY = FlightKey.of("s", "a question", 1);

  private record Ran(int code, String out, String err) {
    JsonNode json() throws Exception {
      assertThat(out.strip().lines()).as("one line of JSON").hasSize(1);
      return Json.MAPPER.readTree(out);
    }
  }

  private static Ran run(String... args) {
    StringWriter out = new StringWriter();
    StringWriter err = new StringWriter();
    int code = Main.run(args, new PrintWriter(out), new PrintWriter(err));
    assertThat(err + "" + out).as("no stack trace").doesNotContain("\tat ");
    return new Ran(code, out.toString(), err.toString());
  }

  private static Ran onRedis(TestRedis redis, String... args) {
    List<String> all = new ArrayList<>(List.of(args));
    all.addAll(List.of("--redis", redis.uri()));
    return run(all.toArray(String[]::new));
  }

  private static SoloFlight node(TestRedis redis) {
    return SoloFlight.builder().redisUri(redis.uri()).build();
  }

  @ParameterizedTest
  @ValueSource(strings = {"demo", "flights", "inspect", "forget", "doctor"})
  void every_command_has_help_and_json(String command) {
    Ran ran = run(command, "--help");
    assertThat(ran.code()).isZero();
    assertThat(ran.out()).contains("Usage: soloflight " + command, "--json", "--help");
  }

  @Test
  void without_a_command_it_says_what_there_is() {
    Ran ran = run();
    assertThat(ran.code()).isZero();
    assertThat(ran.out()).contains("demo", "flights", "inspect", "forget", "doctor");
  }

  @Test
  void a_wrong_argument_is_told_in_two_lines() {
    for (String[] wrong :
        List.of(
            new String[] {"fly"},
            new String[] {"inspect", "nonsense"},
            new String[] {"inspect"},
            new String[] {"flights", "--limit", "many"},
            new String[] {"demo", "--nodes", "x"})) {
      Ran ran = run(wrong);
      assertThat(ran.code()).as(String.join(" ", wrong)).isEqualTo(2);
      assertThat(ran.out()).isEmpty();
      assertThat(ran.err().lines()).hasSize(2).last().asString().startsWith("Try: soloflight");
    }
  }

  @Test
  void a_value_that_cannot_be_is_refused_before_anything_starts() {
    assertThat(run("demo", "--nodes", "0").code()).isEqualTo(2);
    assertThat(run("demo", "--nodes", "1", "--kill-owner").err()).contains("--nodes 2 or more");
    assertThat(run("demo", "--model-url", "nowhere").err()).contains("https://host/v1");
    assertThat(run("demo", "--requests", "/no/such/file").err()).contains("cannot be read");
    assertThat(run("flights", "--limit", "0").err()).contains("expected 1 or more");
  }

  @Test
  void every_fault_of_a_yaml_file_is_in_one_message(@TempDir Path folder) throws Exception {
    Path yaml = folder.resolve("bad.yml");
    Files.writeString(yaml, "mode: sometimes\nnamespce: x\nstages:\n  s:\n    result-ttl: -1s\n");
    for (String command : List.of("flights", "demo")) {
      Ran ran = run(command, "--config", yaml.toString());
      assertThat(ran.code()).isEqualTo(2);
      assertThat(ran.err()).contains("3 faults", "line 1", "line 2", "line 5", "did you mean");
    }
    Ran doctor = run("doctor", "--config", yaml.toString());
    assertThat(doctor.code()).isEqualTo(2);
    assertThat(doctor.out()).contains("3 faults");
  }

  @Test
  void a_flight_is_listed_inspected_and_forgotten(TestRedis redis) throws Exception {
    assertThat(onRedis(redis, "flights").out()).startsWith("No flight in namespace default");
    try (SoloFlight node = node(redis)) {
      node.execute(KEY, String.class, flight -> "secret answer");
    }
    assertThat(onRedis(redis, "flights").out()).contains(KEY.id(), "succeeded");
    JsonNode listed = onRedis(redis, "flights", "--json").json();
    assertThat(listed).hasSize(1);
    assertThat(listed.get(0).get("flight").asText()).isEqualTo(KEY.id());

    Ran inspected = onRedis(redis, "inspect", KEY.id());
    assertThat(inspected.code()).isZero();
    assertThat(inspected.out()).contains("SUCCEEDED", "ttlMillis").doesNotContain("secret");
    String redisKey = "soloflight:{default:" + KEY.id() + "}";
    JsonNode view = onRedis(redis, "inspect", redisKey, "--json").json();
    assertThat(view.get("status").asText()).isEqualTo("SUCCEEDED");
    assertThat(view.get("attempt").asInt()).isOne();

    assertThat(onRedis(redis, "forget", KEY.id(), "--json").json().get("forgotten").asBoolean())
        .isTrue();
    assertThat(onRedis(redis, "forget", KEY.id()).out()).contains("nothing to forget");
    try (SoloFlight node = node(redis)) {
      assertThat(node.execute(KEY, String.class, flight -> "new")).isEqualTo("new");
    }
  }

  @Test
  void what_has_no_record_is_said_to_have_none(TestRedis redis) {
    Ran ran = onRedis(redis, "inspect", KEY.id());
    assertThat(ran.code()).isOne();
    assertThat(ran.out()).contains("has no record");
    assertThat(onRedis(redis, "inspect", KEY.id(), "--json").out()).isEqualTo("null\n");
  }

  @Test
  void the_list_is_bounded_and_leaves_out_what_is_not_ours(TestRedis redis) {
    redis
        .sync()
        .set("soloflight:{default:not a flight}", "x", io.lettuce.core.SetArgs.Builder.ex(60));
    try (SoloFlight node = node(redis)) {
      for (int i = 0; i < 5; i++) {
        node.execute(FlightKey.of("s", i), String.class, flight -> "v");
      }
    }
    assertThat(onRedis(redis, "flights").out().lines()).hasSize(6);
    assertThat(onRedis(redis, "flights", "--limit", "3").out()).contains("There may be more");
    assertThat(onRedis(redis, "flights", "--namespace", "other").out()).startsWith("No flight");
  }

  @Test
  void a_flight_in_the_air_shows_its_owner_and_who_waits(TestRedis redis) {
    CompletableFuture<String> provider = new CompletableFuture<>();
    try (SoloFlight owner = node(redis);
        SoloFlight follower = node(redis)) {
      owner.callAsync(KEY, String.class, flight -> provider);
      await().until(() -> onRedis(redis, "inspect", KEY.id()).out().contains("RUNNING"));
      var followed = follower.callAsync(KEY, String.class, flight -> provider);
      await()
          .until(
              () ->
                  onRedis(redis, "inspect", KEY.id(), "--json").json().get("waitingNodes").asInt()
                      == 1);
      provider.complete("done");
      assertThat(followed.join().value()).isEqualTo("done");
    }
  }

  @Test
  void a_redis_that_is_away_is_told_in_a_message() {
    for (String[] args :
        List.of(
            new String[] {"flights"},
            new String[] {"inspect", KEY.id()},
            new String[] {"forget", KEY.id()})) {
      List<String> all = new ArrayList<>(List.of(args));
      all.addAll(List.of("--redis", "redis://127.0.0.1:1"));
      Ran ran = run(all.toArray(String[]::new));
      assertThat(ran.code()).isOne();
      assertThat(ran.err()).contains("Redis", "soloflight doctor");
    }
    Ran doctor = run("doctor", "--redis", "redis://127.0.0.1:1");
    assertThat(doctor.code()).isOne();
    assertThat(doctor.out()).contains("fault    connection", "Check redis.uri");
  }

  @Test
  void doctor_finds_a_healthy_redis_healthy_and_leaves_nothing_that_stays(TestRedis redis)
      throws Exception {
    JsonNode report = onRedis(redis, "doctor", "--json").json();
    assertThat(report.get("ok").asBoolean()).isTrue();
    assertThat(report.get("checks").findValuesAsText("check"))
        .contains(
            "configuration", "version", "eviction", "persistence", "clock", "scripts", "xread");
    assertThat(report.get("checks").findValuesAsText("state")).containsOnly("ok");
    await().until(() -> redis.sync().dbsize() == 0);
  }

  @Test
  void doctor_says_what_a_user_without_rights_lacks() {
    try (RedisProcess server = RedisProcess.start()) {
      try (AclUser blind = AclUser.create(server, "blind", "~*", "+@all", "-info", "-xread")) {
        Ran ran = run("doctor", "--redis", blind.uri());
        assertThat(ran.code()).as(ran.out()).isZero();
        assertThat(ran.out()).contains("warning  rights", "warning  xread", "Followers poll");
      }
      try (AclUser weak = AclUser.create(server, "weak", "~*", "+@all", "-evalsha", "-eval")) {
        Ran ran = run("doctor", "--redis", weak.uri());
        assertThat(ran.code()).isOne();
        assertThat(ran.out()).contains("fault    scripts", "acquire:").doesNotContain("secret-of");
      }
    }
  }

  @Test
  void doctor_warns_of_eviction() {
    try (RedisProcess server = RedisProcess.start()) {
      server.sync().configSet("maxmemory", "100mb");
      server.sync().configSet("maxmemory-policy", "allkeys-lru");
      Ran ran = run("doctor", "--redis", server.uri());
      assertThat(ran.code()).isZero();
      assertThat(ran.out()).contains("warning  eviction", "noeviction");
    }
  }

  @Test
  void a_cluster_is_looked_at_whole() throws Exception {
    try (RedisClusterOf3 cluster = RedisClusterOf3.start()) {
      Ran doctor = run("doctor", "--redis", cluster.uri());
      assertThat(doctor.out())
          .contains("Cluster", "ok       xread", "ok       scripts")
          .doesNotContain("fault  ");
      try (SoloFlight node = SoloFlight.builder().redisUri(cluster.uri()).build()) {
        for (int i = 0; i < 20; i++) {
          node.execute(FlightKey.of("s", i), String.class, flight -> "v");
        }
      }
      JsonNode listed = run("flights", "--json", "--redis", cluster.uri()).json();
      assertThat(listed.findValuesAsText("status"))
          .filteredOn("SUCCEEDED"::equals)
          .as("on all three nodes")
          .hasSize(20);
    }
  }
}
