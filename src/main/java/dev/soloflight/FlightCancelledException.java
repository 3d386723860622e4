package dev.soloflight;

import org.jspecify.annotations.Nullable;

/**
 * The caller was interrupted while it waited, or the instance was closed. An interrupted thread's
 * interrupt flag is set again.
 */
public final class FlightCancelledException extends FlightException {
  private static final long serialVersionUID = 1L;

  /** Built by SoloFlight; the message names the flight or the key, and what to do. */
  public FlightCancelledException(String message, @Nullable Throwable cause) {
    super(message, cause);
  }

  /** Built by SoloFlight; the message names the flight or the key, and what to do. */
  public FlightCancelledException(String message) {
    this(message, null);
  }
}
