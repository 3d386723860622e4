package dev.soloflight;

import org.jspecify.annotations.Nullable;

/**
 * Redis could not be reached, or refused a step of the protocol, and the mode does not allow to go
 * on without. Unless the message says otherwise, the task did not run.
 */
public final class CoordinationException extends FlightException {
  private static final long serialVersionUID = 1L;

  /** Built by SoloFlight; the message names the flight or the key, and what to do. */
  public CoordinationException(String message, @Nullable Throwable cause) {
    super(message, cause);
  }

  /** Built by SoloFlight; the message names the flight or the key, and what to do. */
  public CoordinationException(String message) {
    this(message, null);
  }
}
