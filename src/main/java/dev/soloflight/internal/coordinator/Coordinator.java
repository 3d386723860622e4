package dev.soloflight.internal.coordinator;

import dev.soloflight.FlightKey;
import dev.soloflight.FlightView;
import dev.soloflight.internal.policy.StagePolicy;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;

/** The state machine seen from a client: acquire, then own, follow or replay (DESIGN 3, 5). */
public interface Coordinator extends AutoCloseable {
  /** Begins a pursuit; nothing is asked before {@link Pursuit#next}. */
  Pursuit pursue(FlightKey key, StagePolicy policy);

  /** What a run outside its flight has: no token, no record. */
  default Ownership unowned() {
    return LocalOwnership.degraded(ClusterCoordinator.newIdempotencyKey());
  }

  /**
   * Leaves a tombstone; true if there was a flight. Fails with {@link
   * dev.soloflight.CoordinationException} if Redis could not be told.
   */
  CompletableFuture<Boolean> forget(FlightKey key, StagePolicy policy);

  /** The record as it stands; fails with {@link dev.soloflight.CoordinationException}. */
  CompletableFuture<Optional<FlightView>> inspect(FlightKey key);

  /** Releases every flight this node owns, and waits for that at most a command timeout. */
  @Override
  void close();
}
