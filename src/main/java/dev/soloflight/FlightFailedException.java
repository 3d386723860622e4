package dev.soloflight;

import org.jspecify.annotations.Nullable;

/**
 * The flight failed: a failure that was replayed from the record, shared by the caller that met it,
 * or caused by the stage's guard. Type, code and message are those of the original.
 *
 * <p>A task may throw one itself, through {@link #of}, to give its failure a code and to say
 * whether the next caller may try again.
 */
public final class FlightFailedException extends FlightException {
  private static final long serialVersionUID = 1L;

  private final String errorType;
  private final String errorCode;
  private final @Nullable String errorMessage;
  private final boolean retryable;

  /**
   * Built by SoloFlight when a failure is shared or replayed.
   *
   * @param description names the flight and what happened
   * @param errorType class name of the original exception
   * @param errorCode code of the original failure
   * @param errorMessage message of the original exception, or null if it had none
   * @param retryable whether a later caller may run the task again
   * @param cause the original exception where it happened in this JVM, else null
   */
  public FlightFailedException(
      String description,
      String errorType,
      String errorCode,
      @Nullable String errorMessage,
      boolean retryable,
      @Nullable Throwable cause) {
    super(description, cause);
    this.errorType = errorType;
    this.errorCode = errorCode;
    this.errorMessage = errorMessage;
    this.retryable = retryable;
  }

  /** A failure with a code of the task's own. */
  public static FlightFailedException of(String errorCode, String message, boolean retryable) {
    return new FlightFailedException(
        message, FlightFailedException.class.getName(), errorCode, message, retryable, null);
  }

  /** Class name of the original exception. */
  public String errorType() {
    return errorType;
  }

  /** Code of the original failure; {@code TASK_FAILED} where the task gave none. */
  public String errorCode() {
    return errorCode;
  }

  /** Message of the original exception, or null if it had none. */
  public @Nullable String errorMessage() {
    return errorMessage;
  }

  /** Whether a later caller may run the task again before the failure's TTL is over. */
  public boolean retryable() {
    return retryable;
  }
}
