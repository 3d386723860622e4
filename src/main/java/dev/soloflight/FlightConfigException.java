package dev.soloflight;

import org.jspecify.annotations.Nullable;

/**
 * The configuration or the way the library is called cannot work: a fault in the YAML, another
 * result type for the same key, a task that asks for its own key.
 */
public final class FlightConfigException extends FlightException {
  private static final long serialVersionUID = 1L;

  /** Built by SoloFlight; the message names the flight or the key, and what to do. */
  public FlightConfigException(String message, @Nullable Throwable cause) {
    super(message, cause);
  }

  /** Built by SoloFlight; the message names the flight or the key, and what to do. */
  public FlightConfigException(String message) {
    this(message, null);
  }
}
