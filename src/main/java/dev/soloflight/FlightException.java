package dev.soloflight;

import org.jspecify.annotations.Nullable;

/**
 * What SoloFlight itself throws. A task's own exception reaches the caller that ran it unwrapped.
 */
public abstract sealed class FlightException extends RuntimeException
    permits FlightFailedException,
        FlightTimeoutException,
        CoordinationException,
        FlightCancelledException,
        FlightConfigException {
  private static final long serialVersionUID = 1L;

  FlightException(String message, @Nullable Throwable cause) {
    super(message, cause);
  }
}
