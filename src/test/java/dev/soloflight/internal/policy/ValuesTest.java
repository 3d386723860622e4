package dev.soloflight.internal.policy;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.LongRange;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ValuesTest {
  @ParameterizedTest
  @CsvSource({
    "600ms, 600",
    "10s, 10000",
    "5m, 300000",
    "1h, 3600000",
    "1d, 86400000",
    "0s, 0",
    "0, 0",
    "' 10 s ', 10000",
    "007s, 7000",
    "365d, 31536000000",
  })
  void durations_are_read(String text, long millis) {
    assertThat(Values.duration(text)).isEqualTo(Duration.ofMillis(millis));
  }

  @ParameterizedTest
  @CsvSource({
    "4096, 4096",
    "4096 B, 4096",
    "4KB, 4096",
    "4 kb, 4096",
    "8MB, 8388608",
    "1GB, 1073741824",
    "0, 0",
  })
  void sizes_are_read(String text, int bytes) {
    assertThat(Values.size(text, 0, Integer.MAX_VALUE)).isEqualTo(bytes);
  }

  @Property(tries = 200)
  void what_is_shown_of_a_duration_reads_back(
      @ForAll @LongRange(max = 31_536_000_000L) long millis) {
    Duration duration = Duration.ofMillis(millis);

    assertThat(Values.duration(Values.show(duration))).isEqualTo(duration);
  }
}
