package dev.soloflight;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.soloflight.internal.policy.ConfigLoader;
import dev.soloflight.internal.policy.ConfigSource;
import dev.soloflight.internal.policy.GuardPolicy;
import dev.soloflight.internal.policy.StagePolicy;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.time.Duration;
import java.util.Set;
import org.junit.jupiter.api.Test;

class StageSettingsTest {
  private static StagePolicy load(StageSettings settings) {
    return ConfigLoader.load(ConfigSource.builtIn().withOverrides(settings.overrides("a.b")))
        .config()
        .stage("a.b");
  }

  @Test
  void everything_set_in_code_arrives_in_the_policy() {
    StagePolicy policy =
        load(
            new StageSettings()
                .heartbeatInterval(Duration.ofSeconds(1))
                .runningTtl(Duration.ofSeconds(9))
                .takeoverDetect(Duration.ofSeconds(4))
                .resultTtl(Duration.ofDays(2))
                .failedResultTtl(Duration.ofHours(1))
                .maxAttempts(5)
                .retryBackoff(Duration.ofMillis(250))
                .followerMaxWait(Duration.ofSeconds(30))
                .executeOnWaitTimeout()
                .cancelOnOwnershipLost()
                .l1Ttl(Duration.ZERO)
                .retryOn(IOException.class, UncheckedIOException.class)
                .guardTimeout(Duration.ofSeconds(8))
                .maxConcurrent(4)
                .breaker(50, 20, Duration.ofSeconds(30))
                .rate(10, Duration.ofSeconds(1)));

    assertThat(policy)
        .isEqualTo(
            new StagePolicy(
                "a.b",
                Duration.ofSeconds(1),
                Duration.ofSeconds(9),
                Duration.ofSeconds(4),
                Duration.ofDays(2),
                Duration.ofHours(1),
                5,
                Duration.ofMillis(250),
                Duration.ofSeconds(30),
                StagePolicy.OnWaitTimeout.EXECUTE,
                StagePolicy.OnOwnershipLost.CANCEL,
                Duration.ZERO,
                4096,
                Set.of("java.io.IOException", "java.io.UncheckedIOException"),
                new GuardPolicy(
                    Duration.ofSeconds(8),
                    4,
                    new GuardPolicy.Breaker(50, 20, Duration.ofSeconds(30)),
                    new GuardPolicy.Rate(10, Duration.ofSeconds(1)))));
  }

  @Test
  void what_was_not_set_overrides_nothing() {
    assertThat(new StageSettings().overrides("a")).isEmpty();
  }

  @Test
  void a_duration_below_a_millisecond_does_not_become_off() {
    assertThat(load(new StageSettings().guardTimeout(Duration.ofNanos(1))).guard().timeout())
        .isEqualTo(Duration.ofMillis(1));
  }

  @Test
  void what_cannot_work_is_refused_when_it_is_loaded() {
    StageSettings settings =
        new StageSettings()
            .followerMaxWait(Duration.ofSeconds(Long.MAX_VALUE))
            .runningTtl(Duration.ofSeconds(-1))
            .maxAttempts(0);

    assertThatThrownBy(() -> load(settings))
        .isInstanceOf(FlightConfigException.class)
        .hasMessageContaining("has 3 faults")
        .hasMessageContaining("set in code: stages.a.b.max-attempts = 0: expected 1 to 1000")
        .hasMessageContaining("stages.a.b.running-ttl = -1000ms: a duration cannot be negative")
        .hasMessageContaining(
            "stages.a.b.follower-max-wait = 9223372036854775807ms: expected at most 365d");
  }
}
