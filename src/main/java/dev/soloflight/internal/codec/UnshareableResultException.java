package dev.soloflight.internal.codec;

import org.jspecify.annotations.Nullable;

/** The result cannot be stored; its own callers get it all the same. */
public final class UnshareableResultException extends Exception {
  private static final long serialVersionUID = 1L;

  private final String code;

  UnshareableResultException(String code, String message, @Nullable Throwable cause) {
    super(message, cause);
    this.code = code;
  }

  /** {@code RESULT_TOO_LARGE} or {@code RESULT_NOT_ENCODABLE}. */
  public String code() {
    return code;
  }
}
