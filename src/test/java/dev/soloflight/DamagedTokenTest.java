package dev.soloflight;

import static org.assertj.core.api.Assertions.assertThat;

import dev.soloflight.support.TestRedis;
import dev.soloflight.support.WithRedis;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** DESIGN 10.6: a damaged record is never served, and never asked for again and again. */
@WithRedis
@Timeout(value = 20, unit = TimeUnit.SECONDS, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class DamagedTokenTest {
  private static final FlightKey KEY = FlightKey.of("s", "damaged");

  private static String after(TestRedis redis, Map<String, String> damage) {
    try (SoloFlight first = SoloFlight.builder().redisUri(redis.uri()).build();
        SoloFlight second = SoloFlight.builder().redisUri(redis.uri()).build()) {
      assertThat(first.execute(KEY, String.class, flight -> "old")).isEqualTo("old");
      redis.sync().hset("soloflight:{default:" + KEY.id() + "}", damage);
      return second.execute(KEY, String.class, flight -> "new");
    }
  }

  @Test
  void a_token_that_is_no_number_makes_a_record_damaged(TestRedis redis) {
    assertThat(after(redis, Map.of("ownerToken", "x"))).isEqualTo("new");
  }

  @Test
  void a_token_that_is_no_number_with_a_damaged_payload_is_executed_anew(TestRedis redis) {
    assertThat(after(redis, Map.of("ownerToken", "x", "payload", "x"))).isEqualTo("new");
  }

  @Test
  void a_token_out_of_range_with_a_damaged_payload_is_executed_anew(TestRedis redis) {
    assertThat(after(redis, Map.of("ownerToken", "1e300", "payload", "x"))).isEqualTo("new");
  }

  @Test
  void a_token_of_zero_with_a_damaged_payload_is_executed_anew(TestRedis redis) {
    assertThat(after(redis, Map.of("ownerToken", "0", "payload", "x"))).isEqualTo("new");
  }
}
