package dev.soloflight;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.soloflight.support.CallerNode;
import dev.soloflight.support.NodeProcess;
import dev.soloflight.support.TlsRedis;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A Redis that speaks TLS only. Who trusts its certificate shares; who does not gets no answer. */
class TlsTest {
  private static final Duration SOON = Duration.ofSeconds(60);
  private static TlsRedis redis;

  @TempDir Path dir;

  @BeforeAll
  static void start() throws Exception {
    Optional<Path> binary = TlsRedis.binary();
    assumeTrue(
        binary.isPresent(),
        "no redis-server with TLS on the path: the embedded ones cannot; Debian's redis-server can");
    redis = TlsRedis.start(binary.get());
  }

  @AfterAll
  static void stop() {
    if (redis != null) {
      redis.close();
    }
  }

  private NodeProcess node(String... jvmArgs) throws Exception {
    Path yaml = dir.resolve("soloflight.yml");
    Files.writeString(yaml, "mode: distributed\nredis: {uri: \"" + redis.uri() + "\"}\n");
    NodeProcess node =
        NodeProcess.of(CallerNode.class).jvmArgs(jvmArgs).args(yaml.toString()).start();
    node.awaitLine("READY", SOON);
    return node;
  }

  @Test
  void nodes_that_trust_the_certificate_share_one_execution() throws Exception {
    try (NodeProcess one = node(redis.trust());
        NodeProcess two = node(redis.trust())) {
      List<NodeProcess> nodes = List.of(one, two);
      nodes.forEach(node -> node.send("tls 20 1000"));
      nodes.forEach(node -> node.awaitLine("DONE tls", SOON));
      assertThat(said(nodes, "FAILED")).isEmpty();
      assertThat(said(nodes, "RUN")).hasSize(1);
      assertThat(said(nodes, "ANSWER")).hasSize(40);
    }
  }

  @Test
  void without_trust_distributed_mode_says_why_and_does_not_run_the_task() {
    AtomicInteger runs = new AtomicInteger();
    try (SoloFlight solo =
        SoloFlight.builder()
            .mode(FlightMode.DISTRIBUTED)
            .redisUri(redis.uri())
            .commandTimeout(Duration.ofSeconds(20)) // a slow machine shakes hands slowly
            .build()) {
      assertThatThrownBy(
              () ->
                  solo.execute(
                      FlightKey.of("s", 1), String.class, c -> "" + runs.incrementAndGet()))
          .isInstanceOf(CoordinationException.class)
          .hasMessageContaining("certification path");
      assertThat(runs).hasValue(0);
    }
  }

  @Test
  void without_trust_hybrid_mode_answers_from_this_jvm() {
    try (SoloFlight solo = SoloFlight.builder().redisUri(redis.uri()).build()) {
      assertThat(solo.call(FlightKey.of("s", 2), String.class, c -> "v").source())
          .isEqualTo(Source.DEGRADED);
    }
  }

  private static Stream<String> said(List<NodeProcess> nodes, String word) {
    return nodes.stream()
        .flatMap(node -> node.lines().stream())
        .filter(line -> line.startsWith(word + " "));
  }
}
