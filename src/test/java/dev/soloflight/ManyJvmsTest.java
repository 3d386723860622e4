package dev.soloflight;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.soloflight.support.CallerNode;
import dev.soloflight.support.NodeProcess;
import dev.soloflight.support.RedisRecords;
import dev.soloflight.support.TestRedis;
import dev.soloflight.support.WithRedis;
import io.lettuce.core.api.sync.RedisCommands;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** DESIGN 10.1 and 10.3 with real JVMs. */
@WithRedis
class ManyJvmsTest {
  private static final Duration SOON = Duration.ofSeconds(60);

  @TempDir Path dir;
  private final List<NodeProcess> nodes = new ArrayList<>();
  private RedisCommands<String, String> redis;

  @BeforeEach
  void start(TestRedis server) throws Exception {
    redis = server.sync();
    Path yaml = dir.resolve("soloflight.yml");
    Files.writeString(
        yaml,
        """
        redis: {uri: "%s"}
        stages:
          s: {heartbeat-interval: 1s, takeover-detect: 5s, running-ttl: 15s}
        """
            .formatted(server.uri()));
    for (int i = 0; i < 4; i++) {
      nodes.add(NodeProcess.of(CallerNode.class).args(yaml.toString()).start());
    }
    nodes.forEach(node -> node.awaitLine("READY", SOON));
  }

  @AfterEach
  void stop() {
    nodes.forEach(NodeProcess::close);
  }

  private Stream<String[]> said(String word) {
    return nodes.stream()
        .flatMap(node -> node.lines().stream())
        .filter(line -> line.startsWith(word + " "))
        .map(line -> line.split(" ", -1));
  }

  private void awaitWaiting(String name, int count) {
    String record = RedisRecords.redisKey(FlightKey.of("s", name));
    await()
        .atMost(SOON)
        .until(
            () -> {
              String waiters = redis.hget(record, "waiters");
              return waiters != null && waiters.split(" ", -1).length == count;
            });
  }

  @Test
  @DisplayName("Case 16: 200 callers in four JVMs at once are one execution")
  void two_hundred_callers_in_four_jvms_on_one_key_are_one_execution() {
    nodes.forEach(node -> node.send("hot 50 1000"));
    nodes.forEach(node -> node.awaitLine("DONE hot", SOON));
    assertThat(said("RUN")).hasSize(1);
    assertThat(said("FAILED")).isEmpty();
    List<String> answers = said("ANSWER").map(words -> words[3]).toList();
    assertThat(answers).hasSize(200);
    assertThat(answers.stream().distinct()).hasSize(1);
  }

  @Test
  void a_thousand_keys_asked_for_five_times_are_a_thousand_executions() {
    for (int key = 0; key < 1_000; key++) {
      for (int caller = 0; caller < 5; caller++) {
        nodes.get((key + caller) % nodes.size()).send("k" + key + " 1 5");
      }
    }
    for (int key = 0; key < 1_000; key++) {
      for (int caller = 0; caller < 4; caller++) {
        nodes.get((key + caller) % nodes.size()).awaitLine("DONE k" + key, SOON);
      }
    }
    assertThat(said("RUN").count()).isEqualTo(1_000);
    assertThat(said("FAILED")).isEmpty();
  }

  @Test
  @DisplayName("Case 17: when the leader dies its waiters make one takeover")
  void a_killed_owner_is_replaced_by_a_node_that_was_already_waiting() {
    nodes.get(0).send("dies 1 60000");
    nodes.get(0).awaitLine("RUN dies .*", SOON);
    nodes.subList(1, 4).forEach(node -> node.send("dies 5 10"));
    awaitWaiting("dies", 3);
    nodes.get(0).kill9();
    nodes.subList(1, 4).forEach(node -> node.awaitLine("DONE dies", SOON));
    assertThat(said("RUN")).as("the killed one and one takeover").hasSize(2);
    assertThat(said("RUN").map(words -> words[4])).containsExactlyInAnyOrder("1", "2");
    assertThat(said("FAILED")).isEmpty();
    assertThat(said("ANSWER").map(words -> words[3]).distinct()).hasSize(1);
    assertThat(said("ANSWER")).hasSize(15);
  }

  @Test
  @DisplayName("Case 7: an owner stopped beyond its lease gives its caller the committed result")
  void a_stopped_owner_that_wakes_after_its_takeover_gives_its_caller_the_committed_result() {
    nodes.get(0).send("sleeps 1 2000");
    nodes.get(0).awaitLine("RUN sleeps .*", SOON);
    nodes.get(0).pause();
    nodes.get(1).send("sleeps 1 10");
    String[] taken = nodes.get(1).awaitLine("ANSWER sleeps .*", SOON).split(" ", -1);
    nodes.get(0).resume();
    nodes.get(0).awaitLine("DONE sleeps", SOON);
    assertThat(said("ANSWER").map(words -> words[3])).hasSize(2).containsOnly(taken[3]);
  }

  @Test
  void a_closed_owner_hands_over_without_waiting_for_its_lease() {
    nodes.get(0).send("closes 1 60000");
    nodes.get(0).awaitLine("RUN closes .*", SOON);
    nodes.get(1).send("closes 1 10");
    awaitWaiting("closes", 1);
    nodes.get(0).send("CLOSE");
    nodes.get(1).awaitLine("ANSWER closes .*", SOON);
    nodes.get(0).awaitLine("FAILED closes .*FlightCancelledException.*", SOON);
    assertThat(said("RUN")).hasSize(2);
  }
}
