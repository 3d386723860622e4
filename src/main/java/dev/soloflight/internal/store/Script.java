package dev.soloflight.internal.store;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.Locale;
import java.util.Objects;

/** The Lua scripts under {@code src/main/resources/lua}, one a step. */
enum Script {
  ACQUIRE,
  CONFIRM,
  HEARTBEAT,
  COMPLETE,
  RELEASE,
  FORGET,
  INBOX;

  private static final String INCLUDE = "--@include common";

  private final String source;
  private final String sha1;

  Script() {
    source = read(name().toLowerCase(Locale.ROOT)).replace(INCLUDE, read("common"));
    sha1 = sha1(source);
  }

  /** The whole text, with what it includes. */
  String source() {
    return source;
  }

  /** The digest EVALSHA takes. */
  String sha1() {
    return sha1;
  }

  private static String read(String name) {
    String file = "/lua/" + name + ".lua";
    try (InputStream in = Objects.requireNonNull(Script.class.getResourceAsStream(file), file)) {
      return new String(in.readAllBytes(), StandardCharsets.UTF_8);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static String sha1(String source) {
    try {
      byte[] digest =
          MessageDigest.getInstance("SHA-1").digest(source.getBytes(StandardCharsets.UTF_8));
      return HexFormat.of().formatHex(digest);
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("every Java platform has SHA-1", e);
    }
  }
}
