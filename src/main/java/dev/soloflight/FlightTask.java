package dev.soloflight;

import org.jspecify.annotations.Nullable;

/**
 * The expensive call. Runs at most once for all identical requests while Redis answers and its
 * owner beats (DESIGN 10.1), on the thread of one of the callers.
 *
 * @param <T> the type of the result
 */
@FunctionalInterface
public interface FlightTask<T> {
  /**
   * Makes the call.
   *
   * <p>An interrupt asks it to stop: the stage's {@code guard.timeout} has passed, the flight was
   * lost under {@code on-ownership-lost: cancel}, or the thread's own caller gave up.
   *
   * @return the result, which may be null; it is shared with other callers and must not be changed
   *     afterwards
   * @throws Exception whatever went wrong; the caller that ran the task gets it as it was,
   *     everybody else gets a {@link FlightFailedException} that tells its type, code and message
   */
  @Nullable T run(FlightContext context) throws Exception;
}
