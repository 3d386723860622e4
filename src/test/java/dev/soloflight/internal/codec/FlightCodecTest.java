package dev.soloflight.internal.codec;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.JavaType;
import dev.soloflight.FlightConfigException;
import dev.soloflight.FlightKey;
import dev.soloflight.SoloFlight;
import dev.soloflight.Source;
import dev.soloflight.internal.policy.EncryptionKey;
import dev.soloflight.support.TestRedis;
import dev.soloflight.support.WithRedis;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Base64;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Encrypted payloads: readable with a listed key, for their own flight, unchanged, or not at all.
 */
@WithRedis
class FlightCodecTest {
  private static final int MAX = 100_000;
  private static final EncryptionKey OLD = new EncryptionKey("2026-06", secret(1));
  private static final EncryptionKey NEW = new EncryptionKey("2026-12", secret(2));
  private static final FlightKey FLIGHT = FlightKey.of("s", 1);
  private static final String ANSWER = "the candidate knows " + "Redis ".repeat(50);

  private final JavaType text = ResultMapper.create(MAX).constructType(String.class);

  private static byte[] secret(int seed) {
    byte[] secret = new byte[32];
    Arrays.fill(secret, (byte) seed);
    return secret;
  }

  private static String inYaml(EncryptionKey key) {
    return key.id() + ":" + Base64.getEncoder().encodeToString(key.secret());
  }

  private static FlightCodec codec(EncryptionKey... keys) {
    return new FlightCodec(new ResultCodec(ResultMapper.create(MAX), MAX), List.of(keys));
  }

  private void isDamaged(FlightCodec codec, FlightKey flight, Encoded stored) {
    assertThatThrownBy(() -> codec.decode(flight, stored, text))
        .isInstanceOf(DamagedResultException.class)
        .hasMessageNotContaining("candidate");
  }

  @ParameterizedTest
  @ValueSource(ints = {0, 1_000_000})
  void what_is_sealed_opens_with_its_key(int threshold) throws Exception {
    for (String value : Arrays.asList(ANSWER, "", null, "答案\ud83d\ude80")) {
      Encoded sealed = codec(NEW).encode(FLIGHT, value, text, threshold);
      assertThat(codec(NEW).decode(FLIGHT, sealed, text)).isEqualTo(value);
    }
  }

  @Test
  void nothing_of_the_answer_can_be_read_or_compared() throws Exception {
    Encoded one = codec(NEW).encode(FLIGHT, ANSWER, text, 1_000_000);
    Encoded two = codec(NEW).encode(FLIGHT, ANSWER, text, 1_000_000);
    String bytes =
        new String(Base64.getDecoder().decode(one.payload()), StandardCharsets.ISO_8859_1);
    assertThat(bytes).doesNotContain("candidate", "Redis");
    assertThat(one.checksum()).as("a digest of the answer would tell equal answers").isEmpty();
    assertThat(one.payload()).as("another nonce each time").isNotEqualTo(two.payload());
  }

  @Test
  void the_first_key_encrypts_and_each_decrypts() throws Exception {
    Encoded old = codec(OLD).encode(FLIGHT, ANSWER, text, 0);
    assertThat(codec(NEW, OLD).decode(FLIGHT, old, text)).isEqualTo(ANSWER);
    Encoded young = codec(NEW, OLD).encode(FLIGHT, ANSWER, text, 0);
    assertThat(young.codec()).startsWith("aes256gcm:2026-12;");
    assertThat(codec(OLD, NEW).decode(FLIGHT, young, text)).isEqualTo(ANSWER);
    isDamaged(codec(OLD), FLIGHT, young);
    isDamaged(codec(), FLIGHT, young);
  }

  @Test
  void each_flipped_bit_of_payload_and_codec_is_damage() throws Exception {
    Encoded sealed = codec(NEW, OLD).encode(FLIGHT, "short", text, 1_000_000);
    byte[] bytes = Base64.getDecoder().decode(sealed.payload());
    for (int i = 0; i < bytes.length; i++) {
      byte[] changed = bytes.clone();
      changed[i] ^= 1;
      isDamaged(
          codec(NEW, OLD),
          FLIGHT,
          new Encoded(
              sealed.codec(),
              sealed.rawSize(),
              sealed.checksum(),
              Base64.getEncoder().encode(changed)));
      byte[] cut = Arrays.copyOf(bytes, i);
      isDamaged(
          codec(NEW, OLD),
          FLIGHT,
          new Encoded(
              sealed.codec(),
              sealed.rawSize(),
              sealed.checksum(),
              Base64.getEncoder().encode(cut)));
    }
    for (int i = 0; i < sealed.codec().length(); i++) {
      char[] codec = sealed.codec().toCharArray();
      codec[i] = (char) (codec[i] ^ 1);
      isDamaged(
          codec(NEW, OLD),
          FLIGHT,
          new Encoded(new String(codec), sealed.rawSize(), sealed.checksum(), sealed.payload()));
    }
    isDamaged(
        codec(NEW),
        FLIGHT,
        new Encoded(sealed.codec(), sealed.rawSize() + 1, sealed.checksum(), sealed.payload()));
  }

  @Test
  void a_payload_moved_to_another_flight_is_damaged() throws Exception {
    Encoded sealed = codec(NEW).encode(FLIGHT, ANSWER, text, 0);
    isDamaged(codec(NEW), FlightKey.of("s", 2), sealed);
    isDamaged(codec(NEW), FlightKey.of("t", 1), sealed);
  }

  @Test
  void where_there_are_keys_a_plain_record_is_damaged() throws Exception {
    isDamaged(codec(NEW), FLIGHT, codec().encode(FLIGHT, ANSWER, text, 0));
  }

  @Test
  void nodes_with_the_keys_share_and_redis_holds_no_answer(TestRedis redis) {
    AtomicInteger runs = new AtomicInteger();
    try (SoloFlight before = node(redis, OLD);
        SoloFlight during = node(redis, NEW, OLD);
        SoloFlight without = node(redis, NEW)) {
      assertThat(before.execute(FLIGHT, String.class, c -> ANSWER + runs.incrementAndGet()))
          .isEqualTo(ANSWER + 1);
      var replayed = during.call(FLIGHT, String.class, c -> ANSWER + runs.incrementAndGet());
      assertThat(replayed.source()).isEqualTo(Source.REPLAYED);
      assertThat(replayed.value()).isEqualTo(ANSWER + 1);
      String record = "soloflight:{default:" + FLIGHT.id() + "}";
      String payload = redis.sync().hget(record, "payload");
      assertThat(new String(Base64.getDecoder().decode(payload), StandardCharsets.ISO_8859_1))
          .doesNotContain("candidate");
      assertThat(without.execute(FLIGHT, String.class, c -> "anew " + runs.incrementAndGet()))
          .isEqualTo("anew 2");
    }
  }

  private static SoloFlight node(TestRedis redis, EncryptionKey... keys) {
    return SoloFlight.builder()
        .redisUri(redis.uri())
        .set(
            "encryption.keys",
            String.join(",", Arrays.stream(keys).map(FlightCodecTest::inYaml).toList()))
        .build();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "c2VjcmV0LW9mLWEtdGVzdA==",
        "a:c2VjcmV0LW9mLWEtdGVzdA==",
        "a:AQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQE=,a:AgEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQE=",
        "a:====",
        "b ad:AQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQE="
      })
  void keys_that_cannot_be_are_refused_without_being_shown(String keys) {
    SoloFlight.Builder builder = SoloFlight.builder().set("encryption.keys", keys);
    assertThatThrownBy(builder::build)
        .isInstanceOf(FlightConfigException.class)
        .hasMessageContaining("encryption.keys = ***")
        .hasMessageNotContaining("c2VjcmV0")
        .hasMessageNotContaining("AQEB");
  }

  @Test
  void a_key_does_not_show_its_secret() {
    assertThat(NEW.toString()).isEqualTo("EncryptionKey[2026-12]");
  }
}
