package dev.soloflight;

import org.jspecify.annotations.Nullable;

/**
 * The wait for another owner's outcome took longer than {@code follower-max-wait}. The flight
 * itself may still end well; nothing was cancelled.
 */
public final class FlightTimeoutException extends FlightException {
  private static final long serialVersionUID = 1L;

  /** Built by SoloFlight; the message names the flight or the key, and what to do. */
  public FlightTimeoutException(String message, @Nullable Throwable cause) {
    super(message, cause);
  }

  /** Built by SoloFlight; the message names the flight or the key, and what to do. */
  public FlightTimeoutException(String message) {
    this(message, null);
  }
}
