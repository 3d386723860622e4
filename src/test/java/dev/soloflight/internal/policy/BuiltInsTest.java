package dev.soloflight.internal.policy;

import static org.assertj.core.api.Assertions.assertThat;

import dev.soloflight.FlightMode;
import dev.soloflight.internal.policy.StagePolicy.OnOwnershipLost;
import dev.soloflight.internal.policy.StagePolicy.OnWaitTimeout;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class BuiltInsTest {
  private static final Path SHIPPED = Path.of("config/soloflight.yml");

  private final SoloFlightConfig config = ConfigLoader.load(ConfigSource.builtIn()).config();

  @Test
  void global_values_are_those_of_the_design() {
    assertThat(config.mode()).isEqualTo(FlightMode.HYBRID);
    assertThat(config.redis().uri()).isEqualTo("redis://127.0.0.1:6379");
    assertThat(config.redis().commandTimeout()).isEqualTo(Duration.ofSeconds(1));
    assertThat(config.namespace()).isEqualTo("default");
    assertThat(config.prefix()).isEqualTo("soloflight");
    assertThat(config.streamBlockTimeout()).isEqualTo(Duration.ofSeconds(3));
    assertThat(config.pollFallbackInterval()).isEqualTo(Duration.ofSeconds(2));
    assertThat(config.l1MaxEntries()).isEqualTo(1000);
    assertThat(config.maxResultBytes()).isEqualTo(8 * 1024 * 1024);
  }

  @ParameterizedTest
  @CsvSource({
    "*,                    3000, 15000, 10000,  600000, 60000, 4096, 30000",
    "some-other-stage,     3000, 15000, 10000,  600000, 60000, 4096, 30000",
    "interview-evaluation, 3000, 15000, 10000,  600000, 60000, 4096, 30000",
    "interview-followup,   2500, 12000,  8000,  180000, 30000, 2048, 15000",
    "interview-extraction, 4000, 20000, 12000, 1800000, 60000, 1024, 60000",
    "interview-demeanor,   5000, 30000, 15000,  900000, 60000, 2048,     0",
  })
  void a_stage_has_the_values_of_the_design(
      String stage,
      long heartbeat,
      long running,
      long takeover,
      long result,
      long failed,
      int compression,
      long l1) {
    StagePolicy policy = config.stage(stage);

    assertThat(policy)
        .isEqualTo(
            new StagePolicy(
                config.stages().containsKey(stage) ? stage : "*",
                Duration.ofMillis(heartbeat),
                Duration.ofMillis(running),
                Duration.ofMillis(takeover),
                Duration.ofMillis(result),
                Duration.ofMillis(failed),
                3,
                Duration.ZERO,
                Duration.ofSeconds(20),
                OnWaitTimeout.FAIL,
                OnOwnershipLost.CONTINUE,
                Duration.ofMillis(l1),
                compression,
                Set.of(),
                GuardPolicy.OFF));
  }

  @Test
  void the_four_interview_stages_are_known_by_name() {
    assertThat(config.stages())
        .containsOnlyKeys(
            "interview-evaluation",
            "interview-followup",
            "interview-extraction",
            "interview-demeanor");
  }

  @Test
  void the_shipped_file_loads_to_the_built_in_values_without_a_warning() {
    LoadedConfig shipped =
        ConfigLoader.load(ConfigSource.file(SHIPPED).withEnvironment(name -> null));

    assertThat(shipped.config()).isEqualTo(config);
    assertThat(shipped.warnings()).isEmpty();
  }

  @Test
  void the_shipped_file_has_every_key() throws Exception {
    Settings settings = new Settings();
    Findings findings = new Findings();
    new YamlSettings(name -> null, settings, findings, findings)
        .read(Files.readString(SHIPPED), "shipped");

    assertThat(settings.global().written()).containsOnlyKeys(Keys.GLOBAL_NAMES);
    Set<String> ofStages = new HashSet<>(settings.defaults().written().keySet());
    ofStages.addAll(Keys.SHARED.keySet());
    ofStages.addAll(Keys.BREAKER_PARTS);
    ofStages.addAll(Keys.RATE_PARTS);
    assertThat(ofStages).isEqualTo(Keys.STAGE_NAMES);
    Keys.BUILT_IN_STAGES.forEach(
        (stage, values) ->
            assertThat(settings.stage(stage).written()).containsOnlyKeys(values.keySet()));
  }

  @Test
  void the_shipped_file_takes_the_redis_of_the_environment() {
    LoadedConfig shipped =
        ConfigLoader.load(
            ConfigSource.file(SHIPPED)
                .withEnvironment(Map.of("SOLOFLIGHT_REDIS_URI", "rediss://cache:7000")::get));

    assertThat(shipped.config().redis().uri()).isEqualTo("rediss://cache:7000");
  }

  @Test
  void no_text_of_the_configuration_shows_the_uri() {
    SoloFlightConfig secret =
        Loading.load(Map.of("redis.uri", "redis://user:hunter2@cache:6379")).config();

    assertThat(secret.toString()).doesNotContain("hunter2");
    assertThat(ConfigSource.text("a.yml", "redis: {uri: 'redis://:hunter2@h'}").toString())
        .doesNotContain("hunter2");
  }
}
