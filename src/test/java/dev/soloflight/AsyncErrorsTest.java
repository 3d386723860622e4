package dev.soloflight;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** DESIGN 4: Errors, not only Exceptions, reach the callers of the asynchronous form. */
class AsyncErrorsTest {
  private final SoloFlight solo = SoloFlight.builder().mode(FlightMode.LOCAL).build();

  @AfterEach
  void close() {
    solo.close();
  }

  private Throwable failureOf(AsyncFlightTask<String> task) {
    CompletableFuture<FlightResult<String>> result =
        solo.callAsync(FlightKey.of("s", "k"), String.class, task);
    return catchThrowableOfType(ExecutionException.class, () -> result.get(10, TimeUnit.SECONDS))
        .getCause();
  }

  @Test
  void an_error_that_the_stage_ends_with_reaches_the_caller() {
    AssertionError error = new AssertionError("of the stage");
    assertThat(failureOf(flight -> CompletableFuture.failedFuture(error))).isSameAs(error);
  }

  @Test
  void an_error_that_the_start_throws_reaches_the_caller() {
    AssertionError error = new AssertionError("of the start");
    assertThat(
            failureOf(
                flight -> {
                  throw error;
                }))
        .isSameAs(error);
  }
}
