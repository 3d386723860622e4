package dev.soloflight.internal.codec;

import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.JavaType;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.util.ClassUtil;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.CharBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.CodingErrorAction;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Arrays;
import java.util.Base64;
import java.util.HexFormat;
import java.util.zip.GZIPInputStream;
import java.util.zip.GZIPOutputStream;
import org.jspecify.annotations.Nullable;

/**
 * A result and its stored bytes (DESIGN 6): value, then JSON, string or bytes, then gzip if that is
 * worth it, then Base64; {@code codec} names the steps and the type, {@code checksum} is taken over
 * the raw bytes. What reads wrong in any way is damaged, whatever the reason: it is never served.
 *
 * <p>Immutable and thread-safe, as far as the mapper is.
 */
public final class ResultCodec {
  private static final String NULL = "null";
  private static final String JSON = "json";
  private static final String STRING = "string";
  private static final String BYTES = "bytes";
  private static final String GZIP = "+gzip";
  private static final String BASE64 = "+base64";
  private static final String TYPE = ";type=";

  private final ObjectMapper mapper;
  private final int maxResultBytes;

  public ResultCodec(ObjectMapper mapper, int maxResultBytes) {
    this.mapper = mapper;
    this.maxResultBytes = maxResultBytes;
  }

  /**
   * The stored form of a value.
   *
   * @throws UnshareableResultException if it is larger than max-result-bytes, no JSON, or JSON that
   *     does not read as its type
   */
  public Encoded encode(@Nullable Object value, JavaType type, int compressionThresholdBytes)
      throws UnshareableResultException {
    String form = value == null ? NULL : form(type);
    byte[] raw = raw(value, form, type);
    if (raw.length > maxResultBytes) {
      throw new UnshareableResultException(
          "RESULT_TOO_LARGE",
          "the result has "
              + raw.length
              + " bytes, more than max-result-bytes ("
              + maxResultBytes
              + ") allows to share; raise it, or return less",
          null);
    }
    byte[] stored = raw;
    String steps = form;
    if (raw.length > compressionThresholdBytes) {
      byte[] zipped = gzip(raw);
      if (zipped.length < raw.length) {
        stored = zipped;
        steps += GZIP;
      }
    }
    return new Encoded(
        steps + BASE64 + TYPE + nameOf(type),
        raw.length,
        sha256(raw),
        Base64.getEncoder().encode(stored));
  }

  /**
   * The value of a stored form.
   *
   * @throws ResultTypeMismatchException if it was another type
   * @throws DamagedResultException if anything about it is wrong
   */
  public @Nullable Object decode(Encoded stored, JavaType type)
      throws DamagedResultException, ResultTypeMismatchException {
    int at = stored.codec().indexOf(TYPE);
    if (at < 0) {
      throw new DamagedResultException("codec '" + shortened(stored.codec()) + "' is unknown");
    }
    String steps = stored.codec().substring(0, at);
    boolean zipped = steps.endsWith(GZIP + BASE64);
    String form = steps.substring(0, Math.max(0, steps.length() - (zipped ? 12 : 7)));
    if (!steps.equals(form + (zipped ? GZIP : "") + BASE64)
        || !(form.equals(NULL) || form.equals(form(type)) || isForm(form))) {
      throw new DamagedResultException("codec '" + shortened(stored.codec()) + "' is unknown");
    }
    byte[] raw = raw(stored, zipped);
    // Compared after the checksum: a type that differs in a sound record is the caller's mistake.
    String storedType = stored.codec().substring(at + TYPE.length());
    if (!storedType.equals(nameOf(type))) {
      throw new ResultTypeMismatchException(shortened(storedType), nameOf(type));
    }
    if (form.equals(NULL)) {
      if (raw.length != 0) {
        throw new DamagedResultException("a null has " + raw.length + " bytes");
      }
      return null;
    }
    if (!form.equals(form(type))) {
      throw new DamagedResultException("codec '" + shortened(stored.codec()) + "' does not fit");
    }
    return value(raw, form, type);
  }

  private static boolean isForm(String form) {
    return form.equals(JSON) || form.equals(STRING) || form.equals(BYTES);
  }

  private static String form(JavaType type) {
    if (type.hasRawClass(String.class)) {
      return STRING;
    }
    return type.hasRawClass(byte[].class) ? BYTES : JSON;
  }

  private static String nameOf(JavaType type) {
    return type.isPrimitive()
        ? ClassUtil.wrapperType(type.getRawClass()).getName()
        : type.toCanonical();
  }

  private byte[] raw(@Nullable Object value, String form, JavaType type)
      throws UnshareableResultException {
    try {
      if (value == null) {
        return new byte[0];
      }
      if (form.equals(STRING)) {
        return utf8((String) value);
      }
      return form.equals(BYTES) ? ((byte[]) value).clone() : json(value, type);
    } catch (OutOfMemoryError e) {
      throw e;
    } catch (Throwable e) {
      // Getters are the user's code; a StackOverflowError of a circular value is one of theirs.
      throw new UnshareableResultException(
          "RESULT_NOT_ENCODABLE",
          "the result, a " + nameOf(type) + ", has no stored form: " + e.getClass().getName(),
          e);
    }
  }

  /**
   * Read back at once: what other nodes could not read would be damaged to every one of them, and
   * each would execute again.
   */
  private byte[] json(Object value, JavaType type) throws IOException {
    byte[] raw = mapper.writerFor(type).writeValueAsBytes(value);
    if (raw.length <= maxResultBytes && read(raw, type) == null) {
      throw new IOException("it reads as null");
    }
    return raw;
  }

  private static byte[] utf8(String text) throws CharacterCodingException {
    // A lone surrogate has no UTF-8; replacing it would change the answer.
    ByteBuffer bytes =
        StandardCharsets.UTF_8
            .newEncoder()
            .onMalformedInput(CodingErrorAction.REPORT)
            .encode(CharBuffer.wrap(text));
    byte[] exact = new byte[bytes.remaining()];
    bytes.get(exact);
    return exact;
  }

  private byte[] raw(Encoded stored, boolean zipped) throws DamagedResultException {
    if (stored.rawSize() < 0 || stored.rawSize() > maxResultBytes) {
      throw new DamagedResultException(
          "its size, "
              + stored.rawSize()
              + " bytes, is not within max-result-bytes ("
              + maxResultBytes
              + ")");
    }
    byte[] bytes;
    try {
      bytes = Base64.getDecoder().decode(stored.payload());
    } catch (IllegalArgumentException e) {
      throw new DamagedResultException("its payload is no Base64");
    }
    byte[] raw = zipped ? gunzip(bytes, stored.rawSize()) : bytes;
    if (raw.length != stored.rawSize()) {
      throw new DamagedResultException(
          "it has " + raw.length + " bytes, and should have " + stored.rawSize());
    }
    if (!sha256(raw).equals(stored.checksum())) {
      throw new DamagedResultException("its checksum does not match");
    }
    return raw;
  }

  private Object value(byte[] raw, String form, JavaType type) throws DamagedResultException {
    if (form.equals(BYTES)) {
      return raw;
    }
    if (form.equals(STRING)) {
      return text(raw);
    }
    Object value;
    try {
      value = read(raw, type);
    } catch (OutOfMemoryError e) {
      throw e;
    } catch (Throwable e) {
      // The cause's message may quote the payload: only its kind is told.
      throw new DamagedResultException(
          "it does not read as a " + nameOf(type) + ": " + e.getClass().getName());
    }
    if (value == null) {
      throw new DamagedResultException("it reads as null");
    }
    return value;
  }

  private @Nullable Object read(byte[] raw, JavaType type) throws IOException {
    return mapper
        .readerFor(type)
        .with(DeserializationFeature.FAIL_ON_TRAILING_TOKENS)
        .readValue(raw);
  }

  private static String text(byte[] raw) throws DamagedResultException {
    String text = new String(raw, StandardCharsets.UTF_8);
    // What is no UTF-8 was replaced; a replacement character may also be the text's own.
    if (text.indexOf('\ufffd') >= 0 && !Arrays.equals(raw, text.getBytes(StandardCharsets.UTF_8))) {
      throw new DamagedResultException("it is no UTF-8");
    }
    return text;
  }

  private static byte[] gzip(byte[] raw) {
    ByteArrayOutputStream out = new ByteArrayOutputStream(raw.length / 2 + 64);
    try (GZIPOutputStream gzip = new GZIPOutputStream(out)) {
      gzip.write(raw);
    } catch (IOException e) {
      throw new UncheckedIOException("writing to memory", e);
    }
    return out.toByteArray();
  }

  /** Stops one byte after the size that was promised: a bomb does not go off. */
  private static byte[] gunzip(byte[] zipped, int rawSize) throws DamagedResultException {
    try (GZIPInputStream gzip = new GZIPInputStream(new ByteArrayInputStream(zipped))) {
      byte[] raw = gzip.readNBytes(rawSize);
      if (gzip.read() >= 0) {
        throw new DamagedResultException("it inflates to more than its " + rawSize + " bytes");
      }
      return raw;
    } catch (IOException e) {
      throw new DamagedResultException("its payload does not inflate");
    }
  }

  private static String sha256(byte[] raw) {
    try {
      return HexFormat.of().formatHex(MessageDigest.getInstance("SHA-256").digest(raw));
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("every Java platform has SHA-256", e);
    }
  }

  private static String shortened(String text) {
    return text.length() <= 120 ? text : text.substring(0, 120) + "...";
  }
}
