package dev.soloflight.internal.store;

import org.jspecify.annotations.Nullable;

/** A step of the protocol got no answer, or was refused: it may or may not have taken effect. */
public final class StoreUnavailableException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  public StoreUnavailableException(String message, @Nullable Throwable cause) {
    super(message, cause);
  }
}
