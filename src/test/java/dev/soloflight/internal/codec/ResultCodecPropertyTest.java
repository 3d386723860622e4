package dev.soloflight.internal.codec;

import static dev.soloflight.internal.codec.ResultCodecTest.MAPPER;
import static dev.soloflight.internal.codec.ResultCodecTest.MAX;
import static dev.soloflight.internal.codec.ResultCodecTest.type;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.core.type.TypeReference;
import com.fasterxml.jackson.databind.JavaType;
import dev.soloflight.internal.codec.ResultCodecTest.Answer;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.Combinators;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import net.jqwik.api.constraints.IntRange;
import net.jqwik.api.constraints.Size;

class ResultCodecPropertyTest {
  private static final int THRESHOLD = 64;
  private static final JavaType STRING = type(String.class);
  private static final JavaType BYTES = type(byte[].class);
  private static final JavaType MAP = type(new TypeReference<Map<String, List<Integer>>>() {});
  private static final JavaType RECORDS = type(new TypeReference<List<Answer>>() {});
  private static final JavaType OPTIONAL = type(new TypeReference<Optional<String>>() {});

  private final ResultCodec codec = new ResultCodec(MAPPER, MAX);

  /** Any char at all: control characters, surrogate pairs and halves of them too. */
  @Provide
  Arbitrary<String> chars() {
    return Arbitraries.oneOf(
            Arbitraries.strings().withCharRange('一', '龥'),
            Arbitraries.of(
                "🙂", "👩‍👩‍👧", "\ud83d", "\ude42", "\u0000", "\"\\", "\u2028", "\ufffd"),
            Arbitraries.strings().all(),
            Arbitraries.strings().ascii())
        .list()
        .ofMaxSize(6)
        .map(parts -> String.join("", parts));
  }

  /** Any sequence of code points that Unicode allows in a text. */
  @Provide
  Arbitrary<String> texts() {
    return Arbitraries.integers()
        .between(0, Character.MAX_CODE_POINT)
        .filter(c -> c < Character.MIN_SURROGATE || c > Character.MAX_SURROGATE)
        .list()
        .ofMaxSize(60)
        .map(
            points -> {
              StringBuilder text = new StringBuilder();
              points.forEach(text::appendCodePoint);
              return text.toString();
            });
  }

  @Provide
  Arbitrary<List<Answer>> answers() {
    Arbitrary<Instant> instants =
        Arbitraries.longs().between(-62_000_000_000L, 250_000_000_000L).map(Instant::ofEpochSecond);
    return Combinators.combine(
            Arbitraries.integers(), chars(), chars().optional(), instants.list().ofMaxSize(3))
        .as(Answer::new)
        .list()
        .ofMaxSize(4);
  }

  private Encoded roundTrip(Object value, JavaType type) throws Exception {
    Encoded stored = codec.encode(value, type, THRESHOLD);
    assertThat(codec.decode(stored, type)).isEqualTo(value);
    assertThat(new String(stored.payload(), StandardCharsets.ISO_8859_1))
        .matches("[A-Za-z0-9+/]*={0,2}");
    assertThat(stored.checksum()).matches("[0-9a-f]{64}");
    return stored;
  }

  private static boolean isText(String chars) {
    return StandardCharsets.UTF_8.newEncoder().canEncode(chars);
  }

  @Property(tries = 500)
  void any_text_comes_back(@ForAll("texts") String text) throws Exception {
    roundTrip(text, STRING);
    roundTrip(Optional.of(text), OPTIONAL);
  }

  @Property(tries = 500)
  void chars_come_back_or_where_they_are_no_text_are_unshareable(@ForAll("chars") String chars)
      throws Exception {
    if (isText(chars)) {
      roundTrip(chars, STRING);
    } else {
      assertThatThrownBy(() -> codec.encode(chars, STRING, THRESHOLD))
          .isInstanceOfSatisfying(
              UnshareableResultException.class,
              e -> assertThat(e.code()).isEqualTo("RESULT_NOT_ENCODABLE"));
    }
    roundTrip(Optional.of(chars), OPTIONAL);
  }

  @Property(tries = 300)
  void any_bytes_come_back(@ForAll @Size(max = 200) byte[] bytes) throws Exception {
    roundTrip(bytes, BYTES);
  }

  @Property(tries = 200)
  void any_records_come_back(@ForAll("answers") List<Answer> answers) throws Exception {
    roundTrip(answers, RECORDS);
  }

  @Property(tries = 200)
  void any_map_comes_back(@ForAll Map<String, List<Integer>> map) throws Exception {
    roundTrip(map, MAP);
  }

  @Property(tries = 300)
  void any_number_comes_back(@ForAll long l, @ForAll double d, @ForAll int i) throws Exception {
    roundTrip(l, type(long.class));
    roundTrip(d, type(double.class));
    roundTrip(i, type(Integer.class));
  }

  @Property
  void around_the_threshold_gzip_begins_right_above_it(
      @ForAll @IntRange(max = 2 * THRESHOLD) int size) throws Exception {
    Encoded stored = roundTrip("a".repeat(size), STRING);

    assertThat(stored.rawSize()).isEqualTo(size);
    assertThat(stored.codec().contains("gzip")).isEqualTo(size > THRESHOLD);
  }

  @Property(tries = 500)
  void a_changed_record_is_never_served_as_another_value(
      @ForAll("texts") String text,
      @ForAll @IntRange(max = Integer.MAX_VALUE - 1) int position,
      @ForAll @IntRange(min = 1, max = 127) int mask)
      throws Exception {
    Encoded stored = codec.encode(text, STRING, THRESHOLD);
    byte[] payload = stored.payload().clone();
    String checksum = stored.checksum();
    String steps = stored.codec();
    int at = position % (payload.length + checksum.length() + steps.length());
    if (at < payload.length) {
      payload[at] ^= (byte) mask;
    } else if (at < payload.length + checksum.length()) {
      checksum = ResultCodecTest.flip(checksum, at - payload.length, mask);
    } else {
      steps = ResultCodecTest.flip(steps, at - payload.length - checksum.length(), mask);
    }
    neverAnother(text, new Encoded(steps, stored.rawSize(), checksum, payload));
  }

  @Property(tries = 300)
  void a_truncated_record_is_never_served_as_another_value(
      @ForAll("texts") String text, @ForAll @IntRange(max = Integer.MAX_VALUE - 1) int length)
      throws Exception {
    Encoded stored = codec.encode(text, STRING, THRESHOLD);
    byte[] payload = Arrays.copyOf(stored.payload(), length % Math.max(1, stored.payload().length));
    neverAnother(text, new Encoded(stored.codec(), stored.rawSize(), stored.checksum(), payload));
    neverAnother(
        text,
        new Encoded(
            stored.codec(),
            stored.rawSize(),
            stored.checksum().substring(0, length % 64),
            stored.payload()));
  }

  @Property(tries = 300)
  void a_foreign_record_is_refused_and_nothing_else_is_thrown(
      @ForAll("chars") String steps,
      @ForAll int size,
      @ForAll("chars") String checksum,
      @ForAll @Size(max = 100) byte[] payload) {
    assertThatThrownBy(
            () -> codec.decode(new Encoded(steps, size, checksum, payload), type(Answer.class)))
        .isInstanceOf(DamagedResultException.class);
    assertThatThrownBy(
            () ->
                codec.decode(
                    new Encoded(
                        "json+gzip+base64;type=" + Answer.class.getName(), size, checksum, payload),
                    type(Answer.class)))
        .isInstanceOf(DamagedResultException.class);
  }

  private void neverAnother(String text, Encoded changed) throws Exception {
    try {
      assertThat(codec.decode(changed, STRING)).isEqualTo(text);
    } catch (DamagedResultException | ResultTypeMismatchException expected) {
      assertThat(expected).hasNoCause();
    }
  }
}
