package dev.soloflight.internal.codec;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.annotation.JsonIgnore;
import com.fasterxml.jackson.core.type.TypeReference;
import com.fasterxml.jackson.databind.JavaType;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.lang.reflect.Type;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.time.DayOfWeek;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDate;
import java.time.OffsetDateTime;
import java.time.ZonedDateTime;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Base64;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.zip.GZIPOutputStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** DESIGN 6: what is stored comes back as it was, or is refused. */
class ResultCodecTest {
  static final int MAX = 100_000;
  static final int NEVER = Integer.MAX_VALUE;
  static final ObjectMapper MAPPER = ResultMapper.create(MAX);
  private static final String SECRET = "the candidate's secret answer";
  private static final JavaType STRING = type(String.class);
  private static final JavaType BYTES = type(byte[].class);

  private final ResultCodec codec = new ResultCodec(MAPPER, MAX);

  record Answer(int score, String text, Optional<String> hint, List<Instant> seen) {}

  record Wider(int score, String text, Optional<String> hint, List<Instant> seen, String added) {}

  record Numbers(
      int i, long l, double d, float f, boolean b, BigDecimal decimal, BigInteger integer) {}

  record Times(
      Instant instant,
      Duration duration,
      LocalDate date,
      OffsetDateTime offset,
      ZonedDateTime zoned,
      DayOfWeek day) {}

  interface Shape {}

  record Circle(int radius) implements Shape {}

  /** Can be written; nothing says how to make one again. */
  static final class OneWay {
    private final int value;

    OneWay(int value) {
      this.value = value;
    }

    public int getValue() {
      return value;
    }
  }

  record Holder(Object any, OneWay oneWay) {}

  static final class Cycle {
    public Cycle getSelf() {
      return this;
    }
  }

  static final class Endless {
    public List<Endless> getMore() {
      return List.of(new Endless());
    }
  }

  static final class Recursive {
    @JsonIgnore private boolean deep;

    public int getValue() {
      return deep ? 1 : new Recursive().getValue();
    }
  }

  static final class Faulty {
    private final Throwable thrown;

    Faulty(Throwable thrown) {
      this.thrown = thrown;
    }

    public String getText() {
      throwUnchecked(thrown);
      return "";
    }
  }

  record Picky(int value) {
    static final ThreadLocal<Throwable> thrown = new ThreadLocal<>();

    Picky {
      throwUnchecked(thrown.get());
    }
  }

  private static void throwUnchecked(@Nullable Throwable thrown) {
    if (thrown instanceof Error error) {
      throw error;
    }
    if (thrown instanceof RuntimeException exception) {
      throw exception;
    }
  }

  static JavaType type(Type type) {
    return MAPPER.constructType(type);
  }

  static JavaType type(TypeReference<?> type) {
    return MAPPER.constructType(type);
  }

  static byte[] gzip(byte[] raw) throws IOException {
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    try (GZIPOutputStream gzip = new GZIPOutputStream(out)) {
      gzip.write(raw);
    }
    return out.toByteArray();
  }

  /** What another writer would have stored: sound as far as its checksum goes. */
  private static Encoded made(String codec, byte[] raw, byte[] packed) throws Exception {
    String checksum = HexFormat.of().formatHex(MessageDigest.getInstance("SHA-256").digest(raw));
    return new Encoded(codec, raw.length, checksum, Base64.getEncoder().encode(packed));
  }

  private static Encoded json(String json, String type) throws Exception {
    byte[] raw = json.getBytes(StandardCharsets.UTF_8);
    return made("json+base64;type=" + type, raw, raw);
  }

  private Encoded stored(@Nullable Object value, JavaType type) throws Exception {
    return codec.encode(value, type, NEVER);
  }

  private @Nullable Object back(@Nullable Object value, JavaType type) throws Exception {
    return codec.decode(stored(value, type), type);
  }

  private void damaged(Encoded encoded, JavaType type, String saying) {
    assertThatThrownBy(() -> codec.decode(encoded, type))
        .as("%s", encoded)
        .isInstanceOf(DamagedResultException.class)
        .hasMessageContaining(saying)
        .hasMessageNotContaining("secret")
        .hasNoCause();
  }

  private void damaged(Encoded encoded, JavaType type) {
    damaged(encoded, type, "");
  }

  @Test
  void the_codec_names_the_steps_and_the_type() throws Exception {
    JavaType strings = type(new TypeReference<List<String>>() {});
    String text = "a".repeat(100);

    assertThat(stored("x", STRING).codec()).isEqualTo("string+base64;type=java.lang.String");
    assertThat(codec.encode(text, STRING, 99).codec())
        .isEqualTo("string+gzip+base64;type=java.lang.String");
    assertThat(codec.encode(List.of(text), strings, 99).codec())
        .isEqualTo("json+gzip+base64;type=java.util.List<java.lang.String>");
    assertThat(stored(1, type(int.class)).codec()).isEqualTo("json+base64;type=java.lang.Integer");
    assertThat(stored(new byte[] {1}, BYTES).codec()).startsWith("bytes+base64;type=");
    assertThat(stored(null, strings).codec())
        .isEqualTo("null+base64;type=java.util.List<java.lang.String>");
  }

  @Test
  void a_text_is_stored_as_base64_with_the_sha_of_its_raw_bytes() throws Exception {
    byte[] raw = "答案 🙂".getBytes(StandardCharsets.UTF_8);
    Encoded stored = stored("答案 🙂", STRING);

    assertThat(stored)
        .usingRecursiveComparison()
        .isEqualTo(made("string+base64;type=java.lang.String", raw, raw));
  }

  @Test
  void only_what_is_larger_than_the_threshold_and_gets_smaller_is_gzipped() throws Exception {
    byte[] random = new byte[1000];
    new Random(7).nextBytes(random);

    assertThat(codec.encode("a".repeat(99), STRING, 100).codec()).doesNotContain("gzip");
    assertThat(codec.encode("a".repeat(100), STRING, 100).codec()).doesNotContain("gzip");
    assertThat(codec.encode("a".repeat(101), STRING, 100).codec()).contains("gzip");
    assertThat(codec.encode(random, BYTES, 0).codec()).doesNotContain("gzip");
    assertThat(codec.encode("答".repeat(34), STRING, 101).codec())
        .as("the threshold counts bytes")
        .contains("gzip");
  }

  @Test
  void null_comes_back_as_null_whatever_the_type() throws Exception {
    for (JavaType type : List.of(STRING, BYTES, type(Answer.class), type(Integer.class))) {
      assertThat(back(null, type)).isNull();
    }
    damaged(
        made("null+base64;type=java.lang.String", new byte[] {1}, new byte[] {1}), STRING, "null");
  }

  @Test
  void empty_is_not_null() throws Exception {
    assertThat(back("", STRING)).isEqualTo("");
    assertThat(back(new byte[0], BYTES)).isEqualTo(new byte[0]);
  }

  @Test
  void numbers_come_back_exactly() throws Exception {
    Numbers extreme =
        new Numbers(
            Integer.MIN_VALUE,
            Long.MAX_VALUE,
            Double.MIN_VALUE,
            Float.MAX_VALUE,
            true,
            new BigDecimal("1234567890123456789.123456789"),
            new BigInteger("9".repeat(60)));

    assertThat(back(extreme, type(Numbers.class))).isEqualTo(extreme);
    assertThat(back(Double.NaN, type(double.class))).isEqualTo(Double.NaN);
    assertThat(back(Double.NEGATIVE_INFINITY, type(Double.class)))
        .isEqualTo(Double.NEGATIVE_INFINITY);
    assertThat(back(1L << 53 | 1, type(long.class))).isEqualTo(1L << 53 | 1);
  }

  @Test
  void java_time_keeps_its_offset_and_zone() throws Exception {
    Times times =
        new Times(
            Instant.parse("2026-03-29T01:02:03.123456789Z"),
            Duration.ofMillis(1234567),
            LocalDate.of(2026, 3, 29),
            OffsetDateTime.parse("2026-03-29T09:02:03+08:00"),
            ZonedDateTime.parse("2026-10-25T02:30:00+01:00[Europe/Berlin]"),
            DayOfWeek.FRIDAY);

    assertThat(back(times, type(Times.class))).isEqualTo(times);
    ZonedDateTime utc = ZonedDateTime.parse("2026-10-25T02:30:00Z[UTC]");
    assertThat(back(utc, type(ZonedDateTime.class))).isEqualTo(utc);
    byte[] json = Base64.getDecoder().decode(stored(times, type(Times.class)).payload());
    assertThat(new String(json, StandardCharsets.UTF_8))
        .contains("\"2026-03-29T01:02:03.123456789Z\"", "\"PT20M34.567S\"");
  }

  @Test
  void a_field_that_a_newer_node_added_is_ignored() throws Exception {
    Wider wider = new Wider(7, "x", Optional.empty(), List.of(), "new");

    assertThat(
            codec.decode(
                json(MAPPER.writeValueAsString(wider), Answer.class.getName()), type(Answer.class)))
        .isEqualTo(new Answer(7, "x", Optional.empty(), List.of()));
  }

  @Test
  void what_is_stored_does_not_change_with_the_array_it_came_from() throws Exception {
    byte[] answer = {1, 2, 3};
    Encoded stored = stored(answer, BYTES);
    answer[0] = 9;

    assertThat(codec.decode(stored, BYTES)).isEqualTo(new byte[] {1, 2, 3});
  }

  @Test
  void a_string_of_max_result_bytes_inside_json_can_be_read_whatever_jacksons_own_limit()
      throws Exception {
    int max = 30_000_000;
    ResultCodec large = new ResultCodec(ResultMapper.create(max), max);
    JavaType strings = type(new TypeReference<List<String>>() {});
    List<String> value = List.of("a".repeat(max - 4));

    Encoded stored = large.encode(value, strings, 0);
    assertThat(stored.rawSize()).isEqualTo(max);
    assertThat(large.decode(stored, strings)).isEqualTo(value);
  }

  @Test
  void half_a_surrogate_pair_is_no_text_to_share_but_survives_inside_json() throws Exception {
    JavaType nested = type(new TypeReference<Map<String, List<String>>>() {});
    for (String text : List.of("cut \ud83d", "\ude42 cut", "\ude42\ud83d", "a\ud83db")) {
      assertNotEncodable(text, STRING);
      Map<String, List<String>> value = Map.of("🙂", List.of(text));
      assertThat(back(value, nested)).isEqualTo(value);
    }
  }

  @Test
  void a_primitive_and_its_wrapper_are_the_same_type() throws Exception {
    assertThat(codec.decode(stored(7, type(int.class)), type(Integer.class))).isEqualTo(7);
    assertThat(codec.decode(stored(7L, type(Long.class)), type(long.class))).isEqualTo(7L);
    assertThat(codec.decode(stored(true, type(boolean.class)), type(Boolean.class)))
        .isEqualTo(true);
  }

  @Test
  void another_type_than_stored_is_refused_naming_both() throws Exception {
    JavaType strings = type(new TypeReference<List<String>>() {});
    JavaType numbers = type(new TypeReference<List<Integer>>() {});

    assertThatThrownBy(() -> codec.decode(stored(List.of("7"), strings), numbers))
        .isInstanceOf(ResultTypeMismatchException.class)
        .hasMessageContainingAll(
            "java.util.List<java.lang.String>", "java.util.List<java.lang.Integer>");
    assertOtherType(stored(7, type(int.class)), type(long.class));
    assertOtherType(stored("7", STRING), type(Object.class));
    assertOtherType(stored("7", STRING), BYTES);
    assertOtherType(stored(new byte[1], BYTES), STRING);
    assertOtherType(stored(null, STRING), type(int.class));
    assertOtherType(stored(null, STRING), type(Answer.class));
  }

  private void assertOtherType(Encoded stored, JavaType asked) {
    assertThatThrownBy(() -> codec.decode(stored, asked))
        .isInstanceOf(ResultTypeMismatchException.class);
  }

  @ParameterizedTest
  @ValueSource(ints = {0, NEVER})
  void a_result_of_the_limit_is_shared_and_a_byte_more_is_not(int threshold) throws Exception {
    JavaType strings = type(new TypeReference<List<String>>() {});
    for (int size : List.of(MAX - 1, MAX)) {
      byte[] fits = new byte[size];
      assertThat(codec.decode(codec.encode(fits, BYTES, threshold), BYTES)).isEqualTo(fits);
      String text = "a".repeat(size);
      assertThat(codec.decode(codec.encode(text, STRING, threshold), STRING)).isEqualTo(text);
    }
    assertThat(codec.encode(List.of("a".repeat(MAX - 4)), strings, threshold).rawSize())
        .isEqualTo(MAX);
    assertTooLarge(new byte[MAX + 1], BYTES, threshold);
    assertTooLarge("a".repeat(MAX + 1), STRING, threshold);
    assertTooLarge("答".repeat(MAX / 3 + 1), STRING, threshold);
    assertTooLarge(List.of("a".repeat(MAX - 3)), strings, threshold);
  }

  private void assertTooLarge(Object value, JavaType type, int threshold) {
    assertThatThrownBy(() -> codec.encode(value, type, threshold))
        .isInstanceOfSatisfying(
            UnshareableResultException.class,
            e -> assertThat(e.code()).isEqualTo("RESULT_TOO_LARGE"))
        .hasMessageContainingAll("max-result-bytes", Integer.toString(MAX));
  }

  @Test
  void what_cannot_be_written_is_unshareable_whatever_the_users_code_throws() {
    assertNotEncodable(new Cycle(), type(Cycle.class));
    assertNotEncodable(new Endless(), type(Endless.class));
    assertNotEncodable(new Recursive(), type(Recursive.class));
    assertNotEncodable(new Object(), type(Object.class));
    assertNotEncodable(new Faulty(new IllegalStateException(SECRET)), type(Faulty.class));
    assertNotEncodable(new Faulty(new NoClassDefFoundError(SECRET)), type(Faulty.class));
    assertNotEncodable("a string", type(Integer.class));
    assertNotEncodable(1, STRING);
  }

  @Test
  void what_can_be_written_but_not_read_is_unshareable() throws Exception {
    JavaType shapes = type(new TypeReference<List<Shape>>() {});

    assertNotEncodable(new OneWay(1), type(OneWay.class));
    assertNotEncodable(new Holder(null, new OneWay(1)), type(Holder.class));
    assertNotEncodable(new Circle(1), type(Shape.class));
    assertNotEncodable(List.of(new Circle(1)), shapes);
    assertThat(back(List.of(), shapes)).isEqualTo(List.of());
  }

  private void assertNotEncodable(Object value, JavaType type) {
    assertThatThrownBy(() -> stored(value, type))
        .isInstanceOfSatisfying(
            UnshareableResultException.class,
            e -> assertThat(e.code()).isEqualTo("RESULT_NOT_ENCODABLE"))
        .hasMessageContaining(type.getRawClass().getName())
        .hasMessageNotContaining("secret");
  }

  @Test
  void running_out_of_memory_is_not_taken_for_a_fault_of_the_result() {
    Faulty hungry = new Faulty(new OutOfMemoryError("pretended"));

    assertThatThrownBy(() -> stored(hungry, type(Faulty.class)))
        .isInstanceOf(OutOfMemoryError.class);
  }

  @Test
  void a_constructor_that_throws_makes_the_record_damaged() throws Exception {
    Encoded stored = stored(new Picky(1), type(Picky.class));
    try {
      for (Throwable thrown :
          List.of(
              new IllegalArgumentException(SECRET),
              new StackOverflowError(SECRET),
              new NoClassDefFoundError(SECRET),
              new AssertionError(SECRET))) {
        Picky.thrown.set(thrown);
        damaged(stored, type(Picky.class), Picky.class.getName());
      }
    } finally {
      Picky.thrown.remove();
    }
  }

  @Test
  void json_that_does_not_fit_the_type_is_damaged_and_its_text_is_not_told() throws Exception {
    damaged(json("\"" + SECRET + "\"", "java.lang.Integer"), type(int.class));
    damaged(json("[\"" + SECRET, "java.lang.Integer"), type(int.class));
    damaged(json("7 8", "java.lang.Integer"), type(int.class));
    damaged(json("", "java.lang.Integer"), type(int.class));
    damaged(json("null", "java.lang.Integer"), type(Integer.class));
    damaged(json("[".repeat(40_000) + "]".repeat(40_000), "java.lang.Object"), type(Object.class));
  }

  @Test
  void a_text_that_is_no_utf8_is_damaged() throws Exception {
    for (byte[] raw : List.of(new byte[] {-1}, new byte[] {'a', -61}, new byte[] {-19, -96, -67})) {
      damaged(made("string+base64;type=java.lang.String", raw, raw), STRING);
    }
    String replacement = "\ufffd is a character like any other";
    assertThat(back(replacement, STRING)).isEqualTo(replacement);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "json",
        "string+base64",
        "string;type=java.lang.String",
        "string+gzip;type=java.lang.String",
        "string+zstd+base64;type=java.lang.String",
        "string+base64+gzip;type=java.lang.String",
        "null;type=java.lang.String",
        "+base64;type=java.lang.String",
        "+gzip+base64;type=java.lang.String",
        "gzip+base64;type=java.lang.String",
        "string+gzip+gzip+base64;type=java.lang.String",
        "STRING+base64;type=java.lang.String",
        " string+base64;type=java.lang.String",
        "string+base64 ;type=java.lang.String",
        "bytes+base64;type=java.lang.String",
        "json+base64;type=java.lang.String"
      })
  void an_unknown_codec_is_damaged(String unknown) throws Exception {
    byte[] raw = "7".getBytes(StandardCharsets.UTF_8);
    damaged(made(unknown, raw, raw), STRING, "codec");
  }

  @Test
  void a_codec_from_outside_is_told_shortened() throws Exception {
    byte[] raw = {'7'};
    assertThatThrownBy(() -> codec.decode(made("x".repeat(100_000), raw, raw), STRING))
        .isInstanceOf(DamagedResultException.class)
        .satisfies(e -> assertThat(e.getMessage()).hasSizeLessThan(300));
    assertThatThrownBy(
            () -> codec.decode(made("string+base64;type=" + "x".repeat(100_000), raw, raw), STRING))
        .isInstanceOf(ResultTypeMismatchException.class)
        .satisfies(e -> assertThat(e.getMessage()).hasSizeLessThan(500));
  }

  @ParameterizedTest
  @ValueSource(ints = {0, NEVER})
  void a_size_that_lies_is_damaged(int threshold) throws Exception {
    Encoded honest = codec.encode("secret ".repeat(100), STRING, threshold);
    for (int size :
        List.of(0, 1, 699, 701, 5000, MAX, MAX + 1, -1, Integer.MAX_VALUE, Integer.MIN_VALUE)) {
      damaged(new Encoded(honest.codec(), size, honest.checksum(), honest.payload()), STRING);
    }
  }

  @Test
  void a_checksum_that_lies_is_damaged() throws Exception {
    Encoded honest = stored("secret", STRING);
    String other = stored("secrets", STRING).checksum();
    for (String checksum : List.of("", other, honest.checksum() + "0", "0".repeat(64))) {
      damaged(new Encoded(honest.codec(), honest.rawSize(), checksum, honest.payload()), STRING);
    }
  }

  @Test
  void a_gzip_bomb_stops_at_max_result_bytes_without_being_inflated() throws Exception {
    int bombBytes = 200_000_000;
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    try (GZIPOutputStream gzip = new GZIPOutputStream(out)) {
      byte[] zeros = new byte[1_000_000];
      for (int i = 0; i < bombBytes / zeros.length; i++) {
        gzip.write(zeros);
      }
    }
    Encoded bomb = made("bytes+gzip+base64;type=byte[]", new byte[MAX], out.toByteArray());
    Encoded honest =
        new Encoded(
            stored(new byte[0], BYTES).codec().replace("bytes+", "bytes+gzip+"),
            MAX,
            bomb.checksum(),
            bomb.payload());
    var threads = (com.sun.management.ThreadMXBean) ManagementFactory.getThreadMXBean();
    damaged(honest, BYTES, "inflates to more");

    long before = threads.getCurrentThreadAllocatedBytes();
    assertThatThrownBy(() -> codec.decode(honest, BYTES))
        .isInstanceOf(DamagedResultException.class);
    long allocated = threads.getCurrentThreadAllocatedBytes() - before;

    assertThat(allocated)
        .as("bytes allocated for a payload of %s", bomb.payload().length)
        .isLessThan(bomb.payload().length + 10L * MAX);
    damaged(
        new Encoded(honest.codec(), bombBytes, honest.checksum(), honest.payload()),
        BYTES,
        "max-result-bytes");
  }

  @Test
  void truncated_gzip_is_damaged() throws Exception {
    byte[] raw = "secret ".repeat(100).getBytes(StandardCharsets.UTF_8);
    byte[] gzip = gzip(raw);
    String steps = "string+gzip+base64;type=java.lang.String";
    assertThat(codec.decode(made(steps, raw, gzip), STRING))
        .isEqualTo(new String(raw, StandardCharsets.UTF_8));

    for (int length = 0; length < gzip.length; length++) {
      damaged(made(steps, raw, Arrays.copyOf(gzip, length)), STRING);
    }
    byte[] twice = Arrays.copyOf(gzip, gzip.length * 2);
    System.arraycopy(gzip, 0, twice, gzip.length, gzip.length);
    damaged(made(steps, raw, twice), STRING);
  }

  @ParameterizedTest
  @ValueSource(ints = {0, NEVER})
  void a_payload_cut_short_anywhere_is_damaged(int threshold) throws Exception {
    Encoded stored = codec.encode("secret ".repeat(20) + "!", STRING, threshold);
    String base64 = new String(stored.payload(), StandardCharsets.US_ASCII);
    int padding = base64.length() - base64.replace("=", "").length();
    for (int length = 0; length < base64.length() - padding; length++) {
      damaged(
          new Encoded(
              stored.codec(),
              stored.rawSize(),
              stored.checksum(),
              Arrays.copyOf(stored.payload(), length)),
          STRING);
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {0, NEVER})
  void no_single_byte_changed_anywhere_serves_another_value(int threshold) throws Exception {
    Answer answer = new Answer(7, "答案 🙂 ".repeat(20), Optional.of("hint"), List.of(Instant.EPOCH));
    Encoded stored = codec.encode(answer, type(Answer.class), threshold);
    List<Encoded> changed = everyByteChanged(stored);
    int served = 0;
    for (Encoded one : changed) {
      try {
        assertThat(codec.decode(one, type(Answer.class))).isEqualTo(answer);
        served++;
      } catch (DamagedResultException | ResultTypeMismatchException e) {
        assertThat(e).hasMessageNotContaining("答案");
      }
    }
    // Some bits carry nothing (gzip's time stamp, the last bits of Base64): the value is the same.
    assertThat(served).isLessThan(changed.size() / 10);
  }

  @Test
  void every_bit_of_a_texts_whole_base64_groups_counts() throws Exception {
    Encoded stored = stored("答案 ".repeat(9), STRING); // a multiple of three bytes: no spare bits
    for (int mask = 1; mask < 256; mask <<= 1) {
      for (int i = 0; i < stored.payload().length; i++) {
        byte[] payload = stored.payload().clone();
        payload[i] ^= (byte) mask;
        damaged(new Encoded(stored.codec(), stored.rawSize(), stored.checksum(), payload), STRING);
      }
    }
  }

  private static List<Encoded> everyByteChanged(Encoded stored) {
    List<Encoded> changed = new ArrayList<>();
    for (int mask = 1; mask < 256; mask <<= 1) {
      for (int i = 0; i < stored.payload().length; i++) {
        byte[] payload = stored.payload().clone();
        payload[i] ^= (byte) mask;
        changed.add(new Encoded(stored.codec(), stored.rawSize(), stored.checksum(), payload));
      }
      for (int i = 0; i < stored.checksum().length(); i++) {
        changed.add(
            new Encoded(
                stored.codec(),
                stored.rawSize(),
                flip(stored.checksum(), i, mask),
                stored.payload()));
      }
      for (int i = 0; i < stored.codec().length(); i++) {
        changed.add(
            new Encoded(
                flip(stored.codec(), i, mask),
                stored.rawSize(),
                stored.checksum(),
                stored.payload()));
      }
      changed.add(
          new Encoded(
              stored.codec(), stored.rawSize() ^ mask, stored.checksum(), stored.payload()));
    }
    return changed;
  }

  static String flip(String text, int index, int mask) {
    char[] chars = text.toCharArray();
    chars[index] ^= (char) mask;
    return new String(chars);
  }
}
