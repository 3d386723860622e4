package dev.soloflight;

import java.time.Duration;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * A result and where it came from.
 *
 * @param value the task's value, which may be null; shared with other callers, so do not change it
 * @param source where it came from
 * @param ownerToken the fencing token under which the task ran; 0 where the run was not coordinated
 * @param elapsed how long this call took
 * @param <T> the type of the value
 */
public record FlightResult<T>(@Nullable T value, Source source, long ownerToken, Duration elapsed) {
  public FlightResult {
    Objects.requireNonNull(source, "source");
    Objects.requireNonNull(elapsed, "elapsed");
  }
}
