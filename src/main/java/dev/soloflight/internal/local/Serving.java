package dev.soloflight.internal.local;

import com.fasterxml.jackson.databind.JavaType;
import dev.soloflight.CoordinationException;
import dev.soloflight.FlightCancelledException;
import dev.soloflight.FlightConfigException;
import dev.soloflight.FlightFailedException;
import dev.soloflight.Source;
import dev.soloflight.internal.codec.DamagedResultException;
import dev.soloflight.internal.codec.Encoded;
import dev.soloflight.internal.codec.FlightCodec;
import dev.soloflight.internal.codec.ResultTypeMismatchException;
import dev.soloflight.internal.codec.UnshareableResultException;
import dev.soloflight.internal.coordinator.Ownership;
import dev.soloflight.internal.coordinator.Settlement;
import dev.soloflight.internal.coordinator.Ticket;
import dev.soloflight.internal.guard.GuardedCall;
import dev.soloflight.internal.policy.StagePolicy;
import dev.soloflight.internal.store.Acquired;
import dev.soloflight.internal.store.Commit;
import java.util.Set;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What a leader does with its ticket: serve the record, or confirm, run, settle. The steps are the
 * same for the blocking and the asynchronous form; only who waits differs.
 */
final class Serving {
  private static final Logger log = LoggerFactory.getLogger(Serving.class);
  private static final String TASK_FAILED = "TASK_FAILED";
  private static final int MAX_MESSAGE_CHARS = 4_000;

  private final LocalFlights flights;
  private final LocalFlight flight;
  private final Caller leader;
  private final Stage stage;

  Serving(LocalFlights flights, LocalFlight flight, Caller leader) {
    this.flights = flights;
    this.flight = flight;
    this.leader = leader;
    this.stage = flight.stage();
  }

  /** Serves what the record holds. */
  Flown replay(Ticket ticket) {
    Source source = ticket.followed() ? Source.FOLLOWED : Source.REPLAYED;
    if (ticket instanceof Ticket.Failure failed) {
      Acquired.ReplayFailure stored = failed.stored();
      Outcome outcome =
          new Outcome.Failed(
              stored.errorType(),
              stored.errorCode(),
              stored.errorMessage().isEmpty() ? null : stored.errorMessage(),
              stored.retryable(),
              null);
      // A failure that may be tried again is asked for again, not remembered here.
      boolean remember = !stored.retryable();
      return finish(outcome, source, remember ? l1Ttl(millis(stored.ttlMillis())) : 0);
    }
    Acquired.ReplaySuccess stored = ((Ticket.Success) ticket).stored();
    try {
      Object value = decode(stored);
      Outcome outcome = new Outcome.Value(value, stored.ownerToken());
      return finish(outcome, source, l1Ttl(millis(stored.ttlMillis())));
    } catch (ResultTypeMismatchException e) {
      FlightConfigException refused =
          new FlightConfigException("flight " + flight.key() + ": " + e.getMessage(), e);
      return finish(new Outcome.Broken(refused), source, 0);
    } catch (DamagedResultException e) {
      stage.metrics().damaged();
      log.warn(
          "flight {}: its record is damaged ({}) and is not served; executing anew",
          flight.key(),
          e.getMessage());
      return again(stored.ownerToken());
    }
  }

  private @Nullable Object decode(Acquired.ReplaySuccess stored)
      throws DamagedResultException, ResultTypeMismatchException {
    return codec()
        .decode(
            flight.key(),
            new Encoded(stored.codec(), stored.rawSize(), stored.checksum(), stored.payload()),
            javaType());
  }

  /** The call that is about to run, or null if nobody wants it any more. */
  @Nullable GuardedCall begin(Ownership ownership) {
    GuardedCall call = flights.guards().newCall(flight.key(), stage.policy());
    if (!flight.running(call)) {
      return null;
    }
    // Its own callers get its result; whoever asks from now on asks the cluster.
    ownership.onLost(flight::forget);
    if (stage.policy().onOwnershipLost() == StagePolicy.OnOwnershipLost.CANCEL) {
      ownership.onLost(() -> flights.onExecutor(call::cancel));
    }
    return call;
  }

  TaskContext context(Ownership ownership) {
    return new TaskContext(flight.key(), ownership, flights.executor());
  }

  /** The answer to confirm, waited for without giving in to interrupts: it is due at once. */
  boolean confirmed(Ownership ownership) {
    try {
      return ownership.confirm().join();
    } catch (CompletionException e) {
      throw unwrap(e);
    }
  }

  static CoordinationException unwrap(Throwable e) {
    Throwable cause = e;
    while (cause instanceof CompletionException && cause.getCause() != null) {
      cause = cause.getCause();
    }
    return cause instanceof CoordinationException typed
        ? typed
        : new CoordinationException(String.valueOf(cause), cause);
  }

  Flown unreachable(CoordinationException e) {
    return finish(new Outcome.Broken(e), Source.EXECUTED, 0);
  }

  Flown again(long damagedToken) {
    if (flight.pursueAgain(leader, damagedToken)) {
      return Flown.AGAIN;
    }
    return new Flown(new Outcome.Broken(gone()), Source.EXECUTED);
  }

  /** What the task came to, as an outcome; the record is not told yet. */
  Outcome outcomeOf(Ownership ownership, @Nullable Object value, @Nullable Throwable thrown) {
    if (thrown == null) {
      return new Outcome.Value(value, ownership.ownerToken());
    }
    if (thrown instanceof FlightFailedException failed) {
      return new Outcome.Failed(
          failed.errorType(),
          failed.errorCode(),
          failed.errorMessage(),
          failed.retryable() || retryable(thrown),
          thrown);
    }
    return new Outcome.Failed(
        thrown.getClass().getName(), TASK_FAILED, messageOf(thrown), retryable(thrown), thrown);
  }

  private static @Nullable String messageOf(Throwable thrown) {
    try {
      return thrown.getMessage();
    } catch (RuntimeException e) {
      return null;
    }
  }

  private boolean retryable(Throwable thrown) {
    Set<String> retryOn = stage.policy().retryOn();
    for (Class<?> c = thrown.getClass(); c != null && !retryOn.isEmpty(); c = c.getSuperclass()) {
      if (retryOn.contains(c.getName())) {
        return true;
      }
    }
    return false;
  }

  /** Tells the record; the settlement says who else may have the outcome. */
  CompletableFuture<Settlement> settle(GuardedCall call, Ownership ownership, Outcome outcome) {
    if (!ownership.recorded()) {
      return CompletableFuture.completedFuture(new Settlement.Published());
    }
    if (call.refused()) {
      // Nothing ran: never the last attempt, and a node that waits may have room.
      return ownership
          .release("refused by its stage's guard")
          .thenApply(released -> new Settlement.Private());
    }
    return ownership.complete(commitOf(outcome), leader.asked().deadlineNanos());
  }

  private Commit commitOf(Outcome outcome) {
    StagePolicy policy = stage.policy();
    if (outcome instanceof Outcome.Value value) {
      try {
        Encoded encoded =
            codec()
                .encode(
                    flight.key(), value.value(), javaType(), policy.compressionThresholdBytes());
        return new Commit.Success(
            encoded.codec(),
            encoded.rawSize(),
            encoded.checksum(),
            encoded.payload(),
            policy.resultTtl().toMillis());
      } catch (UnshareableResultException e) {
        log.warn(
            "flight {}: its callers here have the result, other nodes cannot: {}",
            flight.key(),
            e.getMessage());
        return failure(
            FlightFailedException.class.getName(), e.code(), e.getMessage(), false, policy);
      }
    }
    Outcome.Failed failed = (Outcome.Failed) outcome;
    return failure(
        failed.errorType(), failed.errorCode(), failed.errorMessage(), failed.retryable(), policy);
  }

  private static Commit failure(
      String type, String code, @Nullable String message, boolean retryable, StagePolicy policy) {
    String text = message == null ? "" : message;
    return new Commit.Failure(
        type,
        code,
        text.length() > MAX_MESSAGE_CHARS ? text.substring(0, MAX_MESSAGE_CHARS) : text,
        retryable,
        policy.retryBackoff().toMillis(),
        policy.failedResultTtl().toMillis());
  }

  /** The outcome after the record was told. */
  Flown settled(Ownership ownership, Outcome own, Settlement settlement) {
    Source source = ownership.degraded() ? Source.DEGRADED : Source.EXECUTED;
    if (settlement instanceof Settlement.Superseded superseded) {
      Acquired.ReplaySuccess stored = superseded.stored();
      try {
        Outcome committed = new Outcome.Value(decode(stored), stored.ownerToken());
        return finish(committed, Source.FOLLOWED, l1Ttl(millis(stored.ttlMillis())));
      } catch (DamagedResultException | ResultTypeMismatchException e) {
        stage.metrics().damaged();
        return finish(own, source, 0);
      }
    }
    if (settlement instanceof Settlement.Private) {
      return finish(own, source, 0);
    }
    if (own instanceof Outcome.Failed failed) {
      long ttl = failed.retryable() ? 0 : stage.policy().failedResultTtl().toNanos();
      return finish(own, source, l1Ttl(ttl));
    }
    return finish(own, source, l1Ttl(stage.policy().resultTtl().toNanos()));
  }

  /** Whether the task ended because its own caller gave up, not because the call failed. */
  static boolean interrupted(@Nullable Throwable thrown) {
    if (thrown instanceof FlightFailedException) {
      return false;
    }
    for (Throwable e = thrown; e != null; e = e.getCause()) {
      if (e instanceof InterruptedException
          || e instanceof java.nio.channels.ClosedByInterruptException) {
        return true;
      }
      if (e == e.getCause()) {
        break;
      }
    }
    return false;
  }

  static Throwable taskFailure(Throwable e) {
    Throwable cause = e;
    while ((cause instanceof CompletionException || cause instanceof ExecutionException)
        && cause.getCause() != null) {
      cause = cause.getCause();
    }
    return cause;
  }

  /**
   * The task was cancelled by us. Its flight was lost: the cluster has, or will have, another
   * outcome. Else nobody wants it, or the instance is closed.
   */
  Flown cancelled(Ownership ownership, CancellationException e) {
    if (ownership.recorded() && !ownership.held() && !flights.closed()) {
      ownership.release("its ownership was lost");
      return again(0);
    }
    ownership.release("its last caller has gone, or the node was shut down");
    FlightCancelledException reason =
        new FlightCancelledException(
            "flight "
                + flight.key()
                + ": its task was cancelled, because "
                + (flights.closed() ? "this SoloFlight was closed" : "nobody waits for it"),
            e);
    return finish(new Outcome.Broken(reason), Source.EXECUTED, 0);
  }

  FlightCancelledException gone() {
    return new FlightCancelledException(
        "flight "
            + flight.key()
            + (flights.closed()
                ? ": this SoloFlight was closed; the task did not run"
                : ": its caller has gone"));
  }

  private Flown finish(Outcome outcome, Source source, long l1TtlNanos) {
    flight.finish(outcome, leader, l1TtlNanos);
    return new Flown(outcome, source);
  }

  private long l1Ttl(long recordTtlNanos) {
    return Math.min(stage.l1TtlNanos(), recordTtlNanos);
  }

  private static long millis(long ttlMillis) {
    return TimeUnit.MILLISECONDS.toNanos(ttlMillis);
  }

  private FlightCodec codec() {
    return flights.codec();
  }

  private JavaType javaType() {
    return flights.javaType(flight.type());
  }
}
