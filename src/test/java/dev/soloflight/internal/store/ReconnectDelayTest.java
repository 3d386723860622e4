package dev.soloflight.internal.store;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class ReconnectDelayTest {
  private final ReconnectDelay delay = new ReconnectDelay();

  @Test
  void the_first_attempt_comes_at_once() {
    assertThat(delay.createDelay(1)).isLessThanOrEqualTo(Duration.ofMillis(20));
  }

  @ParameterizedTest
  @ValueSource(
      longs = {10, 58, 59, 60, 61, 62, 63, 64, 65, 1_000, Integer.MAX_VALUE, Long.MAX_VALUE})
  void however_long_an_outage_lasts_attempts_are_spread_and_a_second_apart_at_most(long attempt) {
    List<Duration> delays =
        IntStream.range(0, 200).mapToObj(i -> delay.createDelay(attempt)).toList();
    assertThat(delays)
        .allSatisfy(
            one -> assertThat(one).isBetween(Duration.ofMillis(500), Duration.ofSeconds(1)));
    assertThat(delays.stream().distinct().count()).as("different ones").isGreaterThan(50);
  }
}
