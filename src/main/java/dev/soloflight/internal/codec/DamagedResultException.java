package dev.soloflight.internal.codec;

import org.jspecify.annotations.Nullable;

/**
 * What is stored cannot be trusted: it is never served. The message holds nothing of the payload.
 */
public final class DamagedResultException extends Exception {
  private static final long serialVersionUID = 1L;

  DamagedResultException(String message, @Nullable Throwable cause) {
    super(message, cause);
  }

  DamagedResultException(String message) {
    this(message, null);
  }
}
