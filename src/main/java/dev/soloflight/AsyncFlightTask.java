package dev.soloflight;

import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;

/**
 * The expensive call in its asynchronous form: starts it and returns at once.
 *
 * @param <T> the type of the result
 */
@FunctionalInterface
public interface AsyncFlightTask<T> {
  /**
   * Starts the call, on the instance's async executor.
   *
   * <p>When the call is to stop (timeout, ownership lost, the last caller gone), the stage returned
   * is cancelled through {@link CompletionStage#toCompletableFuture()}.
   *
   * @return the call in progress; its value may be null
   * @throws Exception if the call could not be started; counts like a failure of the call itself
   */
  CompletionStage<? extends @Nullable T> start(FlightContext context) throws Exception;
}
