package dev.soloflight.internal.codec;

import com.fasterxml.jackson.databind.JavaType;
import dev.soloflight.FlightKey;
import dev.soloflight.internal.policy.EncryptionKey;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.SecureRandom;
import java.util.Arrays;
import java.util.Base64;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import javax.crypto.Cipher;
import javax.crypto.spec.GCMParameterSpec;
import javax.crypto.spec.SecretKeySpec;
import org.jspecify.annotations.Nullable;

/**
 * The stored form of one flight's result: {@link ResultCodec}'s, and, where the configuration has
 * keys, encrypted with AES-256-GCM.
 *
 * <p>The first key encrypts, each decrypts. What is sealed is bound to its flight, its codec and
 * its size: a payload moved to another record, and a record that was not sealed at all, are damaged
 * like any other. The checksum tells something about an answer, so it is sealed with it.
 */
public final class FlightCodec {
  private static final String SEALED = "aes256gcm:";
  private static final char END = ';';
  private static final int NONCE_BYTES = 12;
  private static final int TAG_BITS = 128;
  private static final int CHECKSUM_CHARS = 64;

  private final ResultCodec codec;
  private final Map<String, SecretKeySpec> keys = new LinkedHashMap<>();
  private final @Nullable String newestKey;
  private final SecureRandom random = new SecureRandom();

  /** Without keys nothing is encrypted. */
  public FlightCodec(ResultCodec codec, List<EncryptionKey> keys) {
    this.codec = codec;
    for (EncryptionKey key : keys) {
      this.keys.put(key.id(), new SecretKeySpec(key.secret(), "AES"));
    }
    this.newestKey = keys.isEmpty() ? null : keys.get(0).id();
  }

  /**
   * The stored form of a value.
   *
   * @throws UnshareableResultException as {@link ResultCodec#encode} does
   */
  public Encoded encode(
      FlightKey flight, @Nullable Object value, JavaType type, int compressionThresholdBytes)
      throws UnshareableResultException {
    Encoded plain = codec.encode(value, type, compressionThresholdBytes);
    return newestKey == null ? plain : seal(flight, plain, newestKey);
  }

  /**
   * The value of a stored form.
   *
   * @throws ResultTypeMismatchException if it was another type
   * @throws DamagedResultException if anything about it is wrong, its encryption included
   */
  public @Nullable Object decode(FlightKey flight, Encoded stored, JavaType type)
      throws DamagedResultException, ResultTypeMismatchException {
    return codec.decode(newestKey == null ? stored : open(flight, stored), type);
  }

  private Encoded seal(FlightKey flight, Encoded plain, String keyId) {
    byte[] nonce = new byte[NONCE_BYTES];
    random.nextBytes(nonce);
    String sealedCodec = SEALED + keyId + END + plain.codec();
    byte[] checksum = plain.checksum().getBytes(StandardCharsets.US_ASCII);
    byte[] stored = Base64.getDecoder().decode(plain.payload());
    ByteBuffer content = ByteBuffer.allocate(checksum.length + stored.length);
    content.put(checksum).put(stored).flip();
    try {
      Cipher cipher =
          cipher(Cipher.ENCRYPT_MODE, keyOf(keyId), nonce, flight, sealedCodec, plain.rawSize());
      ByteBuffer sealed = ByteBuffer.allocate(nonce.length + cipher.getOutputSize(content.limit()));
      sealed.put(nonce);
      cipher.doFinal(content, sealed);
      return new Encoded(
          sealedCodec, plain.rawSize(), "", Base64.getEncoder().encode(sealed.array()));
    } catch (GeneralSecurityException e) {
      throw new IllegalStateException("every Java platform has AES/GCM", e);
    }
  }

  private Encoded open(FlightKey flight, Encoded sealed) throws DamagedResultException {
    String sealedCodec = sealed.codec();
    int end = sealedCodec.indexOf(END);
    if (!sealedCodec.startsWith(SEALED) || end < 0) {
      throw new DamagedResultException("it is not encrypted, and encryption.keys asks for that");
    }
    SecretKeySpec key = keys.get(sealedCodec.substring(SEALED.length(), end));
    if (key == null) {
      throw new DamagedResultException("it is encrypted with a key that encryption.keys lacks");
    }
    try {
      byte[] content = Base64.getDecoder().decode(sealed.payload());
      if (content.length < NONCE_BYTES + TAG_BITS / Byte.SIZE) {
        throw new DamagedResultException("its payload is cut off");
      }
      byte[] nonce = Arrays.copyOf(content, NONCE_BYTES);
      byte[] opened =
          cipher(Cipher.DECRYPT_MODE, key, nonce, flight, sealedCodec, sealed.rawSize())
              .doFinal(content, NONCE_BYTES, content.length - NONCE_BYTES);
      byte[] stored = Arrays.copyOfRange(opened, CHECKSUM_CHARS, opened.length);
      return new Encoded(
          sealedCodec.substring(end + 1),
          sealed.rawSize(),
          new String(opened, 0, CHECKSUM_CHARS, StandardCharsets.US_ASCII),
          Base64.getEncoder().encode(stored));
    } catch (IllegalArgumentException e) {
      throw new DamagedResultException("its payload is no Base64");
    } catch (GeneralSecurityException e) {
      throw new DamagedResultException("it was changed, or sealed for another flight");
    }
  }

  private SecretKeySpec keyOf(String keyId) {
    return Objects.requireNonNull(keys.get(keyId), keyId);
  }

  private static Cipher cipher(
      int mode, SecretKeySpec key, byte[] nonce, FlightKey flight, String sealedCodec, int rawSize)
      throws GeneralSecurityException {
    Cipher cipher = Cipher.getInstance("AES/GCM/NoPadding");
    cipher.init(mode, key, new GCMParameterSpec(TAG_BITS, nonce));
    cipher.updateAAD(
        (flight.id() + "\n" + sealedCodec + "\n" + rawSize).getBytes(StandardCharsets.UTF_8));
    return cipher;
  }
}
