package dev.soloflight;

import static org.assertj.core.api.Assertions.assertThat;

import dev.soloflight.interview.AiClient;
import dev.soloflight.interview.InterviewAiInvoker;
import dev.soloflight.support.TestRedis;
import dev.soloflight.support.WithRedis;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What the README shows is what was compiled and run here. */
@WithRedis
class ReadmeTest {
  private static final Path README = Path.of("README.md");
  private static final Path SELF = Path.of("src/test/java/dev/soloflight/ReadmeTest.java");

  private record Review(int score, String comment) {}

  private record Score(int score) {}

  private interface Model {
    Review review(String essay, String idempotencyKey);
  }

  private final Model model = (essay, idempotencyKey) -> new Review(7, "of " + essay.length());
  private final AiClient client = request -> "{\"score\": 80}";

  // readme:
  private Review review(String userId, String essayId, String essay) {
    try (SoloFlight soloFlight =
        SoloFlight.builder()
            .redisUri("redis://127.0.0.1:6379")
            .followerMaxWait(Duration.ofSeconds(60))
            .stage("essay-review", stage -> stage.resultTtl(Duration.ofMinutes(10)))
            .build()) {

      // Everything that changes the answer is in the key; only its SHA-256 goes to Redis.
      FlightKey key = FlightKey.of("essay-review", userId, essayId, essay);

      Review review =
          soloFlight.execute(
              key, Review.class, flight -> model.review(essay, flight.idempotencyKey()));
      // end
      return review;
    }
  }

  private Score score(SoloFlight soloFlight, String sessionId, String question, String answer) {
    // readme:
    InterviewAiInvoker interview = new InterviewAiInvoker(soloFlight, client);
    Score score =
        interview.evaluate(sessionId, "3", question, answer, "java-interviewer", Score.class);
    // end
    return score;
  }

  private static List<String> blocks(String language) throws IOException {
    return Pattern.compile("```" + language + "\n(.*?)```", Pattern.DOTALL)
        .matcher(Files.readString(README))
        .results()
        .map(block -> block.group(1))
        .toList();
  }

  private static String squeezed(String code) {
    return code.replaceAll("\\s+", " ").strip();
  }

  @Test
  void every_java_block_is_code_of_this_class() throws IOException {
    String self = squeezed(Files.readString(SELF));
    List<String> blocks = blocks("java");
    assertThat(blocks).hasSize(2);
    for (String block : blocks) {
      // The block closes what the method here still returns from.
      String code = squeezed(block).replaceFirst("; }$", ";");
      assertThat(self).contains(code);
    }
  }

  @Test
  void the_code_does_what_the_text_says(TestRedis redis) {
    // Whether or not anything answers at the README's own address, hybrid answers.
    assertThat(review("u", "e", "abc")).isEqualTo(new Review(7, "of 3"));
    try (SoloFlight soloFlight = SoloFlight.builder().redisUri(redis.uri()).build()) {
      assertThat(score(soloFlight, "s", "q", "a")).isEqualTo(new Score(80));
    }
  }

  @Test
  void the_yaml_loads(@TempDir Path folder) throws IOException {
    for (String block : blocks("yaml")) {
      Path yaml = folder.resolve("soloflight.yml");
      Files.writeString(yaml, block + "mode: local\n");
      SoloFlight.open(yaml).close();
    }
  }

  @Test
  void every_path_and_command_it_names_is_there() throws IOException {
    String readme = Files.readString(README);
    List<String> links =
        Pattern.compile("]\\(([^)#:]+)\\)")
            .matcher(readme)
            .results()
            .map((MatchResult link) -> link.group(1))
            .toList();
    assertThat(links).isNotEmpty().allMatch(link -> Files.exists(Path.of(link)));
    assertThat(Files.readString(Path.of(".ci/run"))).contains("\nmvn -B verify\n");
    assertThat(readme).contains("\n    mvn -B verify\n");
  }
}
