package dev.soloflight.internal.coordinator;

import java.util.concurrent.CompletableFuture;

/** One asking for a flight, for as long as anybody in this JVM wants it. Never blocks. */
public interface Pursuit {
  /**
   * Asks until there is a ticket. Fails with {@link dev.soloflight.CoordinationException} where the
   * mode needs Redis and it cannot be reached. Call again when a ticket turned out to be void: an
   * ownership that was not confirmed (0), or a damaged record, by its token.
   */
  CompletableFuture<Ticket> next(long damagedToken);

  /**
   * A caller's wait is over. True: the owner could not be asked, so the ticket has been decided now
   * by the mode, and is or will be there. False: the owner is at work.
   */
  boolean overdue();

  /** Nobody wants the flight any more; an ownership that still arrives is released. */
  void abandon();
}
