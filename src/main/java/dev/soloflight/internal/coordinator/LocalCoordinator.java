package dev.soloflight.internal.coordinator;

import dev.soloflight.FlightKey;
import dev.soloflight.FlightView;
import dev.soloflight.internal.policy.StagePolicy;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicLong;

/** Local mode: every pursuit owns at once; Redis is never contacted (DESIGN 5). */
public final class LocalCoordinator implements Coordinator {
  private final AtomicLong tokens = new AtomicLong();

  @Override
  public Pursuit pursue(FlightKey key, StagePolicy policy) {
    return new Pursuit() {
      @Override
      public CompletableFuture<Ticket> next(long damagedToken) {
        return CompletableFuture.completedFuture(
            new Ticket.Own(LocalOwnership.local(tokens.incrementAndGet()), false));
      }

      @Override
      public boolean overdue() {
        return false;
      }

      @Override
      public void abandon() {}
    };
  }

  @Override
  public CompletableFuture<Boolean> forget(FlightKey key, StagePolicy policy) {
    return CompletableFuture.completedFuture(false);
  }

  @Override
  public CompletableFuture<Optional<FlightView>> inspect(FlightKey key) {
    return CompletableFuture.completedFuture(Optional.empty());
  }

  @Override
  public void close() {}
}
