package dev.soloflight.interview;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import org.jspecify.annotations.Nullable;

/**
 * A file for a model to look at: a résumé, a picture.
 *
 * <p>It is known by its content alone. The same bytes uploaded again under another name, URL or
 * media type are the same file, and other bytes under the same name are another one. The content is
 * copied at the door, so a file cannot change after its identity was taken. Immutable.
 */
public final class AiFile {
  private final String name;
  private final String mediaType;
  private final byte[] content;
  private final String sha256;

  private AiFile(String name, String mediaType, byte[] content) {
    this.name = requireText("name", name);
    this.mediaType = requireText("mediaType", mediaType);
    this.content = content;
    this.sha256 = digest(content);
  }

  /**
   * A file from memory.
   *
   * @param name what it is called, for the provider; no part of its identity
   * @param mediaType for example {@code image/png}
   * @param content its bytes, copied
   * @throws IllegalArgumentException if name or media type is blank
   */
  public static AiFile of(String name, String mediaType, byte[] content) {
    return new AiFile(name, mediaType, content.clone());
  }

  /**
   * A file from disk, read now and whole.
   *
   * @throws IOException if it cannot be read
   * @throws IllegalArgumentException if the media type is blank or the path has no file name
   */
  public static AiFile read(Path path, String mediaType) throws IOException {
    Path name = path.getFileName();
    return new AiFile(name == null ? "" : name.toString(), mediaType, Files.readAllBytes(path));
  }

  /** What it is called. */
  public String name() {
    return name;
  }

  /** For example {@code image/png}. */
  public String mediaType() {
    return mediaType;
  }

  /** A copy of its bytes. */
  public byte[] content() {
    return content.clone();
  }

  /** SHA-256 of its bytes, 64 hex digits: what it is known by. */
  public String sha256() {
    return sha256;
  }

  /** True for the same content, whatever the name. */
  @Override
  public boolean equals(@Nullable Object other) {
    return other instanceof AiFile file && sha256.equals(file.sha256);
  }

  @Override
  public int hashCode() {
    return sha256.hashCode();
  }

  /** Neither name nor content: both may be personal. */
  @Override
  public String toString() {
    return "AiFile[" + mediaType + ", " + content.length + " bytes, sha256=" + sha256 + "]";
  }

  private static String requireText(String parameter, String value) {
    if (value.isBlank()) {
      throw new IllegalArgumentException("AiFile: " + parameter + " is blank");
    }
    return value;
  }

  private static String digest(byte[] content) {
    try {
      return HexFormat.of().formatHex(MessageDigest.getInstance("SHA-256").digest(content));
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("every Java platform has SHA-256", e);
    }
  }
}
