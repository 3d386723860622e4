package dev.soloflight.internal.store;

import java.util.concurrent.CompletionException;
import org.jspecify.annotations.Nullable;

/** A step of the protocol got no answer, or was refused: it may or may not have taken effect. */
public final class StoreUnavailableException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  /** What is known of Redis when a step got no answer. */
  public enum Redis {
    /** It cannot be connected to, or it has been silent for long. */
    AWAY,
    /** It answered, with an error: a right is missing, its memory is full, it is a replica. */
    REFUSES,
    /** It has been silent, but not for long: perhaps this machine is slow. */
    SILENT,
    /** It answered others since this step was sent: this machine, or Redis, is slow. */
    SLOW
  }

  private final Redis redis;

  /** Tells what was not answered, and what is known of Redis. */
  public StoreUnavailableException(String message, @Nullable Throwable cause, Redis redis) {
    super(message, cause);
    this.redis = redis;
  }

  /** What is known of Redis after a step failed like this. */
  public static Redis redis(@Nullable Throwable e) {
    Throwable cause = e instanceof CompletionException ? e.getCause() : e;
    return cause instanceof StoreUnavailableException unavailable ? unavailable.redis : Redis.AWAY;
  }
}
