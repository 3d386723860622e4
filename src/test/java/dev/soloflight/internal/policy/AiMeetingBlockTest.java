package dev.soloflight.internal.policy;

import static dev.soloflight.internal.policy.Loading.faults;
import static dev.soloflight.internal.policy.Loading.load;
import static org.assertj.core.api.Assertions.assertThat;

import dev.soloflight.FlightMode;
import java.nio.file.Path;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class AiMeetingBlockTest {
  private static final String STAGE =
      """
      xunzhi-agent:
        ai-singleflight:
          stage-policies:
            interview-followup:
      """;

  @Test
  void its_file_loads_as_it_is() {
    LoadedConfig loaded =
        ConfigLoader.load(ConfigSource.file(Path.of("src/test/resources/policy/ai-meeting.yml")));
    SoloFlightConfig config = loaded.config();
    SoloFlightConfig builtIn = ConfigLoader.load(ConfigSource.builtIn()).config();

    assertThat(config.mode()).isEqualTo(FlightMode.HYBRID);
    assertThat(config.streamBlockTimeout()).isEqualTo(Duration.ofMillis(3100));
    assertThat(config.pollFallbackInterval()).isEqualTo(Duration.ofMillis(2100));
    assertThat(config.l1MaxEntries()).isEqualTo(1100);
    assertThat(config.stage("any").followerMaxWait()).isEqualTo(Duration.ofSeconds(21));
    // its published values are the ones that are built in here, but for the wait
    assertThat(config.stages())
        .allSatisfy(
            (name, policy) ->
                assertThat(policy)
                    .usingRecursiveComparison()
                    .ignoringFields("followerMaxWait")
                    .isEqualTo(builtIn.stages().get(name)));
    assertThat(loaded.warnings())
        .hasSize(5)
        .allMatch(warning -> warning.endsWith("has no counterpart in SoloFlight and is ignored"))
        .anyMatch(
            warning ->
                warning.contains(
                    "ai-meeting.yml, line 11: xunzhi-agent.ai-singleflight.ttl-millis = 65000: has"))
        .anyMatch(warning -> warning.contains("wait-timeout-millis"))
        .anyMatch(warning -> warning.contains("cleanup-threshold"))
        .anyMatch(warning -> warning.contains("heavy-lock-expire-seconds"))
        .anyMatch(warning -> warning.contains("heavy-lock-wait-millis"));
  }

  @Test
  void every_stage_key_has_its_effect() {
    StagePolicy policy =
        load(STAGE
                + """
                            heartbeat-interval-millis: 1001
                            takeover-detect-millis: 7001
                            running-ttl-millis: 11001
                            result-ttl-millis: 100001
                            failed-result-ttl-millis: 20001
                            compression-threshold-bytes: 101
                            l1-cache-ttl-millis: 9001
                    """)
            .config()
            .stage("interview-followup");

    assertThat(policy.heartbeatInterval()).isEqualTo(Duration.ofMillis(1001));
    assertThat(policy.takeoverDetect()).isEqualTo(Duration.ofMillis(7001));
    assertThat(policy.runningTtl()).isEqualTo(Duration.ofMillis(11001));
    assertThat(policy.resultTtl()).isEqualTo(Duration.ofMillis(100001));
    assertThat(policy.failedResultTtl()).isEqualTo(Duration.ofMillis(20001));
    assertThat(policy.compressionThresholdBytes()).isEqualTo(101);
    assertThat(policy.l1Ttl()).isEqualTo(Duration.ofMillis(9001));
  }

  @Test
  void camel_case_is_read_too() {
    SoloFlightConfig config =
        load("""
                xunzhi-agent:
                  aiSingleflight:
                    distributedEnabled: false
                    l1CacheMaxSize: 5
                    stagePolicies:
                      interview-followup: {resultTtlMillis: 240000, l1CacheEnabled: false}
                """)
            .config();

    assertThat(config.mode()).isEqualTo(FlightMode.LOCAL);
    assertThat(config.l1MaxEntries()).isEqualTo(5);
    assertThat(config.stage("interview-followup").resultTtl()).isEqualTo(Duration.ofMinutes(4));
    assertThat(config.stage("interview-followup").l1Ttl()).isZero();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "        l1-cache-enabled: false\n        l1-cache-ttl-millis: 5000\n",
        "        l1-cache-ttl-millis: 5000\n        l1-cache-enabled: false\n"
      })
  void a_disabled_l1_has_no_ttl_whatever_the_order(String keys) {
    assertThat(load(STAGE + keys).config().stage("interview-followup").l1Ttl()).isZero();
  }

  @Test
  void a_whole_application_file_loads_and_what_is_not_ours_is_warned_of() {
    LoadedConfig loaded =
        load(
            """
            server: {port: '${PORT}'}
            xunzhi-agent:
              ai-guard:
                enable: true
              ai-singleflight:
                follower-max-wait-millis: ${WAIT:25000}
            """);

    assertThat(loaded.config().stage("any").followerMaxWait()).isEqualTo(Duration.ofSeconds(25));
    assertThat(loaded.warnings())
        .containsExactly(
            "test.yml, line 1: server is not SoloFlight's and not read",
            "test.yml, line 3: xunzhi-agent.ai-guard is not SoloFlight's and not read");
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void a_soloflight_block_beside_it_is_stronger(boolean first) {
    String own =
        "soloflight: {namespace: a, mode: local, stages: {interview-followup: {l1-ttl: 7s}}}\n";
    String theirs =
        STAGE
            + "        l1-cache-enabled: false\n    mode: distributed\n    l1-cache-max-size: 5\n";
    SoloFlightConfig config = load(first ? own + theirs : theirs + own).config();

    assertThat(config.namespace()).isEqualTo("a");
    assertThat(config.mode()).isEqualTo(FlightMode.LOCAL);
    assertThat(config.l1MaxEntries()).isEqualTo(5);
    assertThat(config.stage("interview-followup").l1Ttl()).isEqualTo(Duration.ofSeconds(7));
  }

  @Test
  void what_it_leaves_out_has_soloflights_default() {
    LoadedConfig loaded = load("xunzhi-agent: {ai-singleflight: {enable: true}}");

    assertThat(loaded.config()).isEqualTo(ConfigLoader.load(ConfigSource.builtIn()).config());
    assertThat(loaded.warnings()).isEmpty();
  }

  @Test
  void a_key_without_counterpart_is_warned_of_unless_it_asks_for_what_happens_anyway() {
    assertThat(
            load("""
                    xunzhi-agent:
                      ai-singleflight:
                        enable: false
                        future-key: 1
                        stage-policies: {a: {compression-codec: zstd}}
                    """)
                .warnings())
        .containsExactly(
            "test.yml, line 3: xunzhi-agent.ai-singleflight.enable = false: has no counterpart in"
                + " SoloFlight and is ignored",
            "test.yml, line 4: xunzhi-agent.ai-singleflight.future-key has no counterpart in"
                + " SoloFlight and is ignored",
            "test.yml, line 5: xunzhi-agent.ai-singleflight.stage-policies.a.compression-codec ="
                + " zstd: has no counterpart in SoloFlight and is ignored");
  }

  @Test
  void its_faults_are_named_by_its_own_keys_and_lines() {
    assertThat(
            faults(
                STAGE
                    + """
                            heartbeat-interval-millis: 4000
                            result-ttl-millis: long
                            l1-cache-enabled: maybe
                            runing-ttl-millis: 5
                    """))
        .hasSize(4)
        .anyMatch(
            fault ->
                fault.startsWith(
                    "line 5: xunzhi-agent.ai-singleflight.stage-policies.interview-followup"
                        + ".heartbeat-interval-millis = 4000ms (line 5) must be less than half of"
                        + " stages.interview-followup.takeover-detect = 8s (default)"))
        .anyMatch(fault -> fault.contains("line 6: ") && fault.contains("= long: expected a dur"))
        .anyMatch(fault -> fault.contains("line 7: ") && fault.contains("expected true or false"))
        .anyMatch(fault -> fault.contains("line 8: ") && fault.contains("unknown key"));
  }
}
