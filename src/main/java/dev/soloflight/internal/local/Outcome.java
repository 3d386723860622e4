package dev.soloflight.internal.local;

import dev.soloflight.FlightException;
import org.jspecify.annotations.Nullable;

/** What a flight came to, inside this JVM. */
sealed interface Outcome {
  /** A result. */
  record Value(@Nullable Object value, long ownerToken) implements Outcome {}

  /**
   * A failure of the task.
   *
   * @param original the exception where it was thrown in this JVM, else null
   */
  record Failed(
      String errorType,
      String errorCode,
      @Nullable String errorMessage,
      boolean retryable,
      @Nullable Throwable original)
      implements Outcome {}

  /** No outcome of the flight at all: Redis out of reach, another result type, closed. */
  record Broken(FlightException reason) implements Outcome {}
}
