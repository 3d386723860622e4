package dev.soloflight.internal.policy;

import static dev.soloflight.internal.policy.Loading.load;
import static dev.soloflight.internal.policy.Loading.stage;
import static org.assertj.core.api.Assertions.assertThat;

import dev.soloflight.FlightMode;
import dev.soloflight.internal.policy.GuardPolicy.Breaker;
import dev.soloflight.internal.policy.GuardPolicy.Rate;
import dev.soloflight.internal.policy.StagePolicy.OnOwnershipLost;
import dev.soloflight.internal.policy.StagePolicy.OnWaitTimeout;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class ConfigLoaderTest {
  @Test
  void every_key_is_read() {
    SoloFlightConfig config =
        load("""
                mode: distributed
                redis: {uri: 'rediss://cache:7000/2', command-timeout: 700ms}
                namespace: team.a_1
                prefix: sf:v1
                stream-block-timeout: 4s
                poll-fallback-interval: 1500ms
                l1: {max-entries: 7, ttl: 5s}
                compression-threshold: 2KB
                max-result-bytes: 1MB
                follower-max-wait: 1m
                on-wait-timeout: execute
                on-ownership-lost: cancel
                stages:
                  payment:
                    heartbeat-interval: 1s
                    running-ttl: 9s
                    takeover-detect: 4s
                    result-ttl: 1d
                    failed-result-ttl: 2h
                    max-attempts: 5
                    retry-backoff: 10s
                    retry-on: [java.io.IOException, 'a.B$C']
                    follower-max-wait: 70s
                    on-wait-timeout: FAIL
                    on-ownership-lost: Continue
                    l1-ttl: 6s
                    compression-threshold: 100
                    guard:
                      timeout: 8s
                      max-concurrent: 9
                      breaker: {failure-rate: 60%, window: 20, open-for: 30s}
                      rate: {limit: 11, period: 1s}
                """)
            .config();

    assertThat(config.mode()).isEqualTo(FlightMode.DISTRIBUTED);
    assertThat(config.redis().uri()).isEqualTo("rediss://cache:7000/2");
    assertThat(config.redis().commandTimeout()).isEqualTo(Duration.ofMillis(700));
    assertThat(config.namespace()).isEqualTo("team.a_1");
    assertThat(config.prefix()).isEqualTo("sf:v1");
    assertThat(config.streamBlockTimeout()).isEqualTo(Duration.ofSeconds(4));
    assertThat(config.pollFallbackInterval()).isEqualTo(Duration.ofMillis(1500));
    assertThat(config.l1MaxEntries()).isEqualTo(7);
    assertThat(config.maxResultBytes()).isEqualTo(1 << 20);
    StagePolicy payment = config.stage("payment");
    assertThat(payment.stage()).isEqualTo("payment");
    assertThat(payment.heartbeatInterval()).isEqualTo(Duration.ofSeconds(1));
    assertThat(payment.runningTtl()).isEqualTo(Duration.ofSeconds(9));
    assertThat(payment.takeoverDetect()).isEqualTo(Duration.ofSeconds(4));
    assertThat(payment.resultTtl()).isEqualTo(Duration.ofDays(1));
    assertThat(payment.failedResultTtl()).isEqualTo(Duration.ofHours(2));
    assertThat(payment.maxAttempts()).isEqualTo(5);
    assertThat(payment.retryBackoff()).isEqualTo(Duration.ofSeconds(10));
    assertThat(payment.retryOn()).containsExactlyInAnyOrder("java.io.IOException", "a.B$C");
    assertThat(payment.followerMaxWait()).isEqualTo(Duration.ofSeconds(70));
    assertThat(payment.onWaitTimeout()).isEqualTo(OnWaitTimeout.FAIL);
    assertThat(payment.onOwnershipLost()).isEqualTo(OnOwnershipLost.CONTINUE);
    assertThat(payment.l1Ttl()).isEqualTo(Duration.ofSeconds(6));
    assertThat(payment.compressionThresholdBytes()).isEqualTo(100);
    assertThat(payment.guard())
        .isEqualTo(
            new GuardPolicy(
                Duration.ofSeconds(8),
                9,
                new Breaker(60, 20, Duration.ofSeconds(30)),
                new Rate(11, Duration.ofSeconds(1))));
    StagePolicy other = config.stage("other");
    assertThat(other.followerMaxWait()).isEqualTo(Duration.ofMinutes(1));
    assertThat(other.onWaitTimeout()).isEqualTo(OnWaitTimeout.EXECUTE);
    assertThat(other.onOwnershipLost()).isEqualTo(OnOwnershipLost.CANCEL);
    assertThat(other.l1Ttl()).isEqualTo(Duration.ofSeconds(5));
    assertThat(other.compressionThresholdBytes()).isEqualTo(2048);
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "# nothing\n", "---\n", "~", "stages:\n", "soloflight:\n", "l1:\n"})
  void a_file_that_says_nothing_gives_what_is_built_in(String yaml) {
    assertThat(load(yaml).config()).isEqualTo(ConfigLoader.load(ConfigSource.builtIn()).config());
  }

  @Test
  void distributed_enabled_false_is_mode_local() {
    assertThat(load("mode: distributed\ndistributed-enabled: false").config().mode())
        .isEqualTo(FlightMode.LOCAL);
  }

  @Test
  void a_stage_that_is_only_named_has_the_general_values() {
    LoadedConfig loaded = load("stages:\n  payment:\n");

    assertThat(loaded.config().stages()).containsKey("payment").hasSize(5);
    assertThat(loaded.config().stage("payment").resultTtl()).isEqualTo(Duration.ofMinutes(10));
    assertThat(loaded.warnings()).isEmpty();
  }

  @Test
  void the_keys_may_stand_under_a_wrapper_beside_other_software() {
    LoadedConfig loaded =
        load(
            """
            spring:
              datasource: {password: '${NOT_SET}'}
            soloflight:
              namespace: shop
            """);

    assertThat(loaded.config().namespace()).isEqualTo("shop");
    assertThat(loaded.warnings())
        .containsExactly("test.yml, line 1: spring is not SoloFlight's and not read");
  }

  @Test
  void an_anchor_may_be_used_for_a_whole_stage() {
    String yaml =
        """
        stages:
          a: &quick {result-ttl: 20s}
          b: *quick
        """;

    assertThat(stage("b", yaml).resultTtl()).isEqualTo(Duration.ofSeconds(20));
  }

  @Test
  void a_list_of_classes_may_be_one_text() {
    assertThat(stage("a", "defaults: {retry-on: 'a.B, c.D'}").retryOn())
        .containsExactlyInAnyOrder("a.B", "c.D");
    assertThat(stage("a", "defaults: {retry-on: }").retryOn()).isEmpty();
  }

  // ---- which value a stage gets

  @Test
  void what_is_written_beats_what_is_built_in_and_the_closer_beats_the_wider() {
    String global = "l1: {ttl: 1s}\n";
    String defaults = "defaults: {l1-ttl: 2s, result-ttl: 2m}\n";
    String own = "stages: {interview-followup: {l1-ttl: 3s, result-ttl: 4m}}\n";

    assertThat(stage("interview-followup", "").l1Ttl()).isEqualTo(Duration.ofSeconds(15));
    assertThat(stage("interview-followup", global).l1Ttl()).isEqualTo(Duration.ofSeconds(1));
    assertThat(stage("interview-followup", global + defaults).l1Ttl())
        .isEqualTo(Duration.ofSeconds(2));
    assertThat(stage("interview-followup", global + defaults + own).l1Ttl())
        .isEqualTo(Duration.ofSeconds(3));
    assertThat(stage("interview-followup", defaults).resultTtl()).isEqualTo(Duration.ofMinutes(2));
    assertThat(stage("interview-followup", defaults + own).resultTtl())
        .isEqualTo(Duration.ofMinutes(4));
    assertThat(stage("unnamed", defaults + own).resultTtl()).isEqualTo(Duration.ofMinutes(2));
  }

  @Test
  void a_stage_may_switch_off_what_the_defaults_switch_on() {
    String yaml =
        """
        defaults:
          guard:
            timeout: 5s
            max-concurrent: 5
            breaker: {failure-rate: 50, window: 50, open-for: 30s}
            rate: {limit: 5, period: 1s}
        stages:
          a: {guard: {timeout: off, max-concurrent: off, breaker: off, rate: off}}
        """;

    assertThat(stage("a", yaml).guard()).isEqualTo(GuardPolicy.OFF);
    assertThat(stage("b", yaml).guard())
        .isEqualTo(
            new GuardPolicy(
                Duration.ofSeconds(5),
                5,
                new Breaker(50, 50, Duration.ofSeconds(30)),
                new Rate(5, Duration.ofSeconds(1))));
  }

  @Test
  void a_stage_may_change_one_part_of_the_defaults_breaker() {
    String yaml =
        """
        defaults: {guard: {breaker: {failure-rate: 50, window: 50, open-for: 30s}}}
        stages: {a: {guard: {breaker: {window: 10}}}}
        """;

    assertThat(stage("a", yaml).guard().breaker())
        .isEqualTo(new Breaker(50, 10, Duration.ofSeconds(30)));
  }

  @ParameterizedTest
  @ValueSource(strings = {"off", "0", "0s"})
  void no_l1_can_be_written_as_off_or_zero(String none) {
    assertThat(stage("a", "l1: {ttl: " + none + "}").l1Ttl()).isZero();
    assertThat(stage("a", "stages: {a: {l1-ttl: " + none + "}}").l1Ttl()).isZero();
  }

  // ---- overrides

  @Test
  void an_override_takes_the_place_of_the_same_key() {
    String yaml = "mode: distributed\nstages: {a: {result-ttl: 1m, max-attempts: 7}}\n";
    LoadedConfig loaded =
        load(
            yaml,
            Map.of(
                "mode", "local",
                "stages.a.result-ttl", "2m",
                "stages.b.guard.timeout", "3s",
                "defaults.retry-on", "x.Y",
                "l1.max-entries", "0"));

    assertThat(loaded.config().mode()).isEqualTo(FlightMode.LOCAL);
    assertThat(loaded.config().stage("a").resultTtl()).isEqualTo(Duration.ofMinutes(2));
    assertThat(loaded.config().stage("a").maxAttempts()).isEqualTo(7);
    assertThat(loaded.config().stage("a").retryOn()).containsExactly("x.Y");
    assertThat(loaded.config().stages()).containsKey("b");
    assertThat(loaded.config().stage("b").guard().timeout()).isEqualTo(Duration.ofSeconds(3));
    assertThat(loaded.config().l1MaxEntries()).isZero();
  }

  @Test
  void an_override_reaches_under_the_wrapper() {
    assertThat(load("soloflight: {namespace: a}", Map.of("namespace", "b")).config().namespace())
        .isEqualTo("b");
  }

  @Test
  void a_stage_with_dots_in_its_name_can_be_overridden() {
    SoloFlightConfig config =
        load(Map.of(
                "stages.acme.ocr.v2.guard.timeout", "3s", "stages.acme.ocr.v2.max-attempts", "1"))
            .config();

    assertThat(config.stage("acme.ocr.v2").guard().timeout()).isEqualTo(Duration.ofSeconds(3));
    assertThat(config.stage("acme.ocr.v2").maxAttempts()).isEqualTo(1);
  }

  @Test
  void an_override_can_switch_a_breaker_on_and_off() {
    Map<String, String> parts = new LinkedHashMap<>();
    parts.put("stages.a.guard.breaker.failure-rate", "10");
    parts.put("stages.a.guard.breaker.window", "20");
    parts.put("stages.a.guard.breaker.open-for", "30s");
    String on = "stages: {a: {guard: {breaker: {failure-rate: 50, window: 50, open-for: 1s}}}}";

    assertThat(
            load("stages: {a: {guard: {breaker: off}}}", parts)
                .config()
                .stage("a")
                .guard()
                .breaker())
        .isEqualTo(new Breaker(10, 20, Duration.ofSeconds(30)));
    assertThat(
            load(on, Map.of("stages.a.guard.breaker", "off")).config().stage("a").guard().breaker())
        .isNull();
  }

  @Test
  void an_override_is_taken_as_it_is() {
    String uri = "redis://:pa$%7Bss%7D@cache";

    assertThat(load(Map.of("redis.uri", uri)).config().redis().uri()).isEqualTo(uri);
  }

  // ---- warnings

  @Test
  void a_wait_shorter_than_the_work_is_warned_of_with_both_keys() {
    String yaml =
        """
        follower-max-wait: 5s
        stages:
          a: {guard: {timeout: 6s}}
          b: {guard: {timeout: 6s}, follower-max-wait: 6s}
          c: {guard: {timeout: 25s}, follower-max-wait: 24s}
        """;

    assertThat(load(yaml).warnings())
        .containsExactly(
            "test.yml, line 1: follower-max-wait = 5s (line 1) is less than"
                + " stages.a.guard.timeout = 6s (line 3): a follower gives up while the owner may"
                + " still answer; set the first to at least 6s",
            "test.yml, line 5: stages.c.follower-max-wait = 24s (line 5) is less than"
                + " stages.c.guard.timeout = 25s (line 5): a follower gives up while the owner may"
                + " still answer; set the first to at least 25s");
  }

  @Test
  void a_warning_about_the_defaults_is_said_once() {
    assertThat(load("defaults: {guard: {timeout: 1m}}").warnings())
        .singleElement()
        .asString()
        .contains("follower-max-wait = 20s (default)", "defaults.guard.timeout = 1m (line 1)");
  }

  @Test
  void a_stage_named_almost_like_a_known_one_is_warned_of() {
    assertThat(load("stages:\n  interview-folowup: {result-ttl: 1m}").warnings())
        .containsExactly(
            "test.yml, line 2: stages.interview-folowup is a stage of its own; was"
                + " interview-followup meant?");
    assertThat(load("stages:\n  interview-followup2: {result-ttl: 1m}").warnings()).isEmpty();
  }
}
