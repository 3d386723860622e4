package dev.soloflight.internal.coordinator;

import dev.soloflight.CoordinationException;
import dev.soloflight.FlightKey;
import dev.soloflight.FlightView;
import dev.soloflight.internal.metrics.FlightMetrics;
import dev.soloflight.internal.policy.StagePolicy;
import dev.soloflight.internal.store.AcquireRequest;
import dev.soloflight.internal.store.Ended;
import dev.soloflight.internal.store.FlightStore;
import dev.soloflight.internal.store.StoreUnavailableException;
import dev.soloflight.internal.time.Timers;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/** Distributed and hybrid mode: the record in Redis decides (DESIGN 3, 5). */
public final class ClusterCoordinator implements Coordinator {
  /** However rarely followers poll, a Redis that comes back is found soon. */
  private static final long LONGEST_RETRY_MILLIS = 2_000;

  private final FlightStore store;
  private final Timers timers;
  private final FlightMetrics metrics;
  private final long pollMillis;
  private final @Nullable RedisHealth health;
  private final Duration closeTimeout;
  private final WakeUps wakeUps;
  private final Set<ClusterOwnership> owned = ConcurrentHashMap.newKeySet();
  private final Map<Long, CompletableFuture<Void>> releases = new ConcurrentHashMap<>();
  private final AtomicLong releaseNumbers = new AtomicLong();
  private final AtomicLong askings = new AtomicLong();

  /**
   * Asks nothing yet.
   *
   * @param hybrid whether a call goes on inside this JVM when Redis cannot be reached
   * @param pollFallbackInterval how often a follower asks without having been woken
   * @param closeTimeout how long {@link #close} waits for its releases
   */
  public ClusterCoordinator(
      FlightStore store,
      Timers timers,
      FlightMetrics metrics,
      boolean hybrid,
      Duration pollFallbackInterval,
      Duration closeTimeout) {
    this.store = store;
    this.timers = timers;
    this.metrics = metrics;
    this.pollMillis = pollFallbackInterval.toMillis();
    this.health = hybrid ? new RedisHealth(store, timers) : null;
    this.closeTimeout = closeTimeout;
    this.wakeUps = new WakeUps(timers);
    metrics.gauge("soloflight.flights.owned", "Flights this node owns now", owned::size);
    metrics.gauge("soloflight.flights.followed", "Flights this node follows", wakeUps::followed);
    if (health != null) {
      metrics.gauge(
          "soloflight.redis.available",
          "1 while calls are coordinated through Redis, 0 while they are not",
          () -> health.reachable() ? 1 : 0);
    }
  }

  @Override
  public Pursuit pursue(FlightKey key, StagePolicy policy) {
    return new ClusterPursuit(this, key, policy);
  }

  @Override
  public CompletableFuture<Boolean> forget(FlightKey key, StagePolicy policy) {
    return store
        .forget(key, newOwnerId(), policy.runningTtl().toMillis())
        .handle(
            (forgot, e) -> {
              if (e != null) {
                throw new CoordinationException(
                    "flight "
                        + key
                        + " may not be forgotten: Redis gave no answer ("
                        + words(e)
                        + "). Until it is, its result can come back; try again.",
                    e);
              }
              store.wake(key, forgot.waiters());
              return forgot.removed();
            });
  }

  @Override
  public CompletableFuture<Optional<FlightView>> inspect(FlightKey key) {
    return store
        .inspect(key)
        .handle(
            (view, e) -> {
              if (e != null) {
                throw new CoordinationException(
                    "flight "
                        + key
                        + " cannot be inspected: Redis gave no answer ("
                        + words(e)
                        + ")",
                    e);
              }
              return view;
            });
  }

  @Override
  public void close() {
    owned.forEach(ownership -> ownership.release("the node was shut down"));
    CompletableFuture.allOf(releases.values().toArray(CompletableFuture[]::new))
        .completeOnTimeout(null, closeTimeout.toMillis(), TimeUnit.MILLISECONDS)
        .join();
  }

  FlightStore store() {
    return store;
  }

  Timers timers() {
    return timers;
  }

  WakeUps wakeUps() {
    return wakeUps;
  }

  FlightMetrics.StageMetrics metrics(FlightKey key) {
    return metrics.stage(key.stage());
  }

  boolean hybrid() {
    return health != null;
  }

  /** Whether asking Redis is worth a try. */
  boolean reachable() {
    return health == null || health.reachable();
  }

  void answered() {
    if (health != null) {
      health.answered();
    }
  }

  void failed(Throwable e) {
    if (health != null) {
      switch (StoreUnavailableException.redis(e)) {
        case AWAY, REFUSES -> health.failed(e);
        case SILENT, SLOW -> {}
      }
    }
  }

  /**
   * Whether a step that got no answer is better sent again than given up: hybrid mode would run the
   * task, perhaps for the second time, only because a machine was slow for a second.
   */
  boolean worthAskingAgain(Throwable e) {
    return switch (StoreUnavailableException.redis(e)) {
      case AWAY, REFUSES -> false;
      case SILENT -> hybrid();
      case SLOW -> true;
    };
  }

  /** A release that has begun; {@link #close} waits until it is completed. */
  CompletableFuture<Void> releasing() {
    CompletableFuture<Void> release = new CompletableFuture<>();
    long number = releaseNumbers.incrementAndGet();
    releases.put(number, release);
    release.whenComplete((told, e) -> releases.remove(number));
    return release;
  }

  void held(ClusterOwnership ownership) {
    owned.add(ownership);
  }

  void ended(ClusterOwnership ownership) {
    owned.remove(ownership);
  }

  /** Followers are waited for: from now on this node's inbox is read. */
  void listen() {
    store.listen(wakeUps);
  }

  void wake(FlightKey key, Ended ended) {
    if (!ended.waiters().isEmpty()) {
      store.wake(key, ended.waiters());
    }
  }

  String newOwnerId() {
    return store.nodeId() + "-" + Long.toString(askings.incrementAndGet(), 36);
  }

  /** What is amiss with Redis, in words for a user. */
  static String whatIsAmiss(Throwable e) {
    return (StoreUnavailableException.redis(e) == StoreUnavailableException.Redis.REFUSES
            ? "Redis refused it"
            : "Redis cannot be reached")
        + " ("
        + words(e)
        + ")";
  }

  /** What the deepest cause says: the rest is who was told. */
  static String words(Throwable e) {
    Throwable root = e;
    while (root.getCause() != null) {
      root = root.getCause();
    }
    return String.valueOf(root.getMessage());
  }

  static String newIdempotencyKey() {
    ThreadLocalRandom random = ThreadLocalRandom.current();
    return new UUID(random.nextLong(), random.nextLong()).toString();
  }

  static AcquireRequest request(String ownerId, String idempotencyKey, StagePolicy policy) {
    return new AcquireRequest(
        ownerId,
        idempotencyKey,
        policy.takeoverDetect().toMillis(),
        policy.runningTtl().toMillis(),
        policy.maxAttempts(),
        policy.failedResultTtl().toMillis(),
        0,
        false);
  }

  /**
   * When a follower looks again without having been woken: at its poll interval, or right after the
   * lease or back-off runs out; with jitter, so that nodes do not move in step.
   */
  long nextLookNanos(long waitMillis) {
    ThreadLocalRandom random = ThreadLocalRandom.current();
    double poll = pollMillis * (0.9 + 0.2 * random.nextDouble());
    double lease = waitMillis + 50 * random.nextDouble();
    return (long) (Math.min(poll, lease) * 1_000_000);
  }

  /** The pause before asking a Redis again that gave no answer so many times in a row. */
  long retryNanos(int failures) {
    long longest = Math.min(pollMillis, LONGEST_RETRY_MILLIS);
    long ceilingMillis = Math.max(100, Math.min(longest, 100L << Math.min(failures, 10)));
    return TimeUnit.MILLISECONDS.toNanos(
        ceilingMillis / 2 + ThreadLocalRandom.current().nextLong(ceilingMillis));
  }
}
