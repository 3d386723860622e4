package dev.soloflight.internal.store;

import dev.soloflight.FlightKey;
import dev.soloflight.FlightView;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;

/**
 * The protocol's steps (DESIGN 3). Every step is atomic and may be sent twice. Futures fail with
 * {@link StoreUnavailableException} only, within the command timeout, and complete on a thread that
 * must not be blocked.
 */
public interface FlightStore extends AutoCloseable {
  /** Asks for a flight; this node's inbox joins its waiters where the answer is to wait. */
  CompletableFuture<Acquired> acquire(FlightKey key, AcquireRequest request);

  /** PENDING to RUNNING, right before the task runs. */
  CompletableFuture<Answer> confirm(FlightKey key, OwnerStamp owner, long runningTtlMillis);

  /** The owner is alive. */
  CompletableFuture<Answer> heartbeat(FlightKey key, OwnerStamp owner, long runningTtlMillis);

  /** Commits an outcome. */
  CompletableFuture<Ended> complete(FlightKey key, OwnerStamp owner, Commit commit);

  /** Gives the flight up. */
  CompletableFuture<Ended> release(FlightKey key, OwnerStamp owner, long ttlMillis, String reason);

  /** Leaves a tombstone. */
  CompletableFuture<Forgot> forget(FlightKey key, String forgetId, long runningTtlMillis);

  /** The record as it stands. */
  CompletableFuture<Optional<FlightView>> inspect(FlightKey key);

  /** The keys of at most {@code limit} flights that have a record now. */
  CompletableFuture<List<FlightKey>> flights(int limit);

  /** Whether the store answers. */
  CompletableFuture<Boolean> ping();

  /** Puts one event into each node's inbox; lost where a node has none. */
  void wake(FlightKey key, List<String> waiters);

  /**
   * Starts reading this node's inbox, once; later calls change nothing. Without it, and while the
   * inbox cannot be read, nothing wakes.
   */
  void listen(WakeListener listener);

  /** This node's id: the name of its inbox. */
  String nodeId();

  /** Deletes the inbox and disconnects. */
  @Override
  void close();

  /**
   * Told of wake-ups, on a thread that must not be blocked. A wake-up is a hint, never the truth.
   */
  interface WakeListener {
    /** This flight may have ended. */
    void onWake(FlightKey key);

    /** Events may have been lost: any flight may have ended. */
    void onWakeAll();
  }
}
