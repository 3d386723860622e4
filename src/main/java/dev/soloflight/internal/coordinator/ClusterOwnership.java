package dev.soloflight.internal.coordinator;

import dev.soloflight.CoordinationException;
import dev.soloflight.FlightKey;
import dev.soloflight.internal.policy.StagePolicy;
import dev.soloflight.internal.store.AcquireRequest;
import dev.soloflight.internal.store.Acquired;
import dev.soloflight.internal.store.Answer;
import dev.soloflight.internal.store.Commit;
import dev.soloflight.internal.store.OwnerStamp;
import dev.soloflight.internal.time.Timers.Alarm;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One owner of one flight: confirm, beats, complete or release (DESIGN 3.4).
 *
 * <h2>Silence</h2>
 *
 * A tombstone lives for running-ttl at least. So an owner that finds nothing, and whose last
 * acknowledged beat was sent less than running-ttl ago, knows that the record was lost and not
 * forgotten: it may assert it again. After a longer silence a forget may have come and gone, and
 * the result is nobody's but its own callers'. The beat's sending counts, not its answer: the
 * server acted after the one and before the other.
 */
final class ClusterOwnership implements Ownership {
  private static final Logger log = LoggerFactory.getLogger(ClusterOwnership.class);

  private static final int MAX_CONFIRM_FAILURES = 5;

  /** What the owner knows of its ownership. */
  private enum State {
    HELD,
    TAKEN,
    FORGOTTEN,
    ENDED
  }

  private final ClusterCoordinator coordinator;
  private final FlightKey key;
  private final StagePolicy policy;
  private final String ownerId;
  private final String idempotencyKey;
  private final long runningTtlMillis;

  private final ReentrantLock lock = new ReentrantLock();
  private final List<Runnable> lostListeners = new ArrayList<>(1);
  private volatile State state = State.HELD;
  private volatile long ownerToken;
  private volatile int attempt;
  private volatile long heardAtNanos;
  private @Nullable Alarm nextBeat;
  private boolean beating;

  ClusterOwnership(
      ClusterCoordinator coordinator,
      FlightKey key,
      StagePolicy policy,
      String ownerId,
      Acquired.Owner owner,
      long askedAtNanos) {
    this.coordinator = coordinator;
    this.key = key;
    this.policy = policy;
    this.ownerId = ownerId;
    this.idempotencyKey = owner.idempotencyKey();
    this.runningTtlMillis = policy.runningTtl().toMillis();
    this.ownerToken = owner.ownerToken();
    this.attempt = owner.attempt();
    this.heardAtNanos = askedAtNanos;
    coordinator.held(this);
  }

  @Override
  public long ownerToken() {
    return ownerToken;
  }

  @Override
  public String idempotencyKey() {
    return idempotencyKey;
  }

  @Override
  public int attempt() {
    return attempt;
  }

  @Override
  public boolean held() {
    return state == State.HELD;
  }

  @Override
  public boolean degraded() {
    return false;
  }

  @Override
  public boolean recorded() {
    return true;
  }

  @Override
  public CompletableFuture<Boolean> confirm() {
    CompletableFuture<Boolean> confirmed = new CompletableFuture<>();
    confirm(confirmed, 0);
    return confirmed;
  }

  private void confirm(CompletableFuture<Boolean> confirmed, int failures) {
    long sentAtNanos = coordinator.timers().nanoTime();
    coordinator
        .store()
        .confirm(key, stamp(), runningTtlMillis)
        .whenComplete(
            (answer, e) -> {
              if (e == null) {
                confirmed(confirmed, answer, sentAtNanos);
                return;
              }
              coordinator.failed(e);
              if (failures < MAX_CONFIRM_FAILURES && coordinator.worthAskingAgain(e)) {
                confirm(confirmed, failures + 1);
              } else if (coordinator.hybrid()) {
                // It was granted a moment ago and nobody can have it before the lease is over.
                log.warn("flight {}: confirm got no answer; going on as its owner", key);
                beginBeats();
                confirmed.complete(true);
              } else {
                end();
                confirmed.completeExceptionally(
                    new CoordinationException(
                        "flight "
                            + key
                            + ": the task did not run, because Redis gave no answer to confirm;"
                            + " its lease runs out in "
                            + policy.takeoverDetect().toMillis()
                            + " ms",
                        e));
              }
            });
  }

  private void confirmed(CompletableFuture<Boolean> confirmed, Answer answer, long sentAtNanos) {
    if (answer == Answer.OK) {
      heardAtNanos = sentAtNanos;
      beginBeats();
      confirmed.complete(true);
    } else {
      end();
      confirmed.complete(false);
    }
  }

  @Override
  public void onLost(Runnable listener) {
    lock.lock();
    try {
      if (state == State.HELD) {
        lostListeners.add(listener);
        return;
      }
      if (state == State.ENDED) {
        return;
      }
    } finally {
      lock.unlock();
    }
    listener.run();
  }

  @Override
  public CompletableFuture<Settlement> complete(Commit commit, long deadlineNanos) {
    State known = end();
    if (known == State.FORGOTTEN) {
      coordinator.metrics(key).commitRefused("forgotten");
      return CompletableFuture.completedFuture(new Settlement.Private());
    }
    return new Settling(this, commit, deadlineNanos).settle();
  }

  @Override
  public CompletableFuture<Void> release(String reason) {
    // Before it ends: a node that closes waits for a release on its way, whoever sends it.
    CompletableFuture<Void> told = coordinator.releasing();
    if (end() != State.HELD) {
      told.complete(null);
      return told;
    }
    coordinator
        .store()
        .release(key, stamp(), policy.failedResultTtl().toMillis(), reason)
        .whenComplete(
            (ended, e) -> {
              if (e == null) {
                coordinator.wake(key, ended);
              } else {
                log.debug("flight {}: not released, its lease will run out", key, e);
              }
              told.complete(null);
            });
    return told;
  }

  ClusterCoordinator coordinator() {
    return coordinator;
  }

  FlightKey key() {
    return key;
  }

  StagePolicy policy() {
    return policy;
  }

  OwnerStamp stamp() {
    return new OwnerStamp(ownerId, ownerToken);
  }

  /** The asking of one who has executed: no ownership over a tombstone or of another flight. */
  AcquireRequest resumption() {
    return ClusterCoordinator.request(ownerId, idempotencyKey, policy).resuming();
  }

  /** Owns again, under a greater token. */
  void resumed(Acquired.Owner owner, long askedAtNanos) {
    ownerToken = owner.ownerToken();
    attempt = owner.attempt();
    heardAtNanos = askedAtNanos;
  }

  /** Whether a forget may have come and gone since Redis was last heard. */
  boolean silentTooLong() {
    return coordinator.timers().nanoTime() - heardAtNanos
        >= TimeUnit.MILLISECONDS.toNanos(runningTtlMillis);
  }

  /**
   * Whether what acquire has handed out is another flight than this: a record born over nothing
   * after a silence in which a forget may have come and gone. Time passes while a step is on its
   * way, or while a successor is followed, so the reply is what has to be looked at.
   */
  boolean bornTooLate(Acquired.Owner owner) {
    return owner instanceof Acquired.OwnerNew
        && owner.ownerToken() != ownerToken
        && silentTooLong();
  }

  /** Gives such a flight back; nobody is to go on under this flight's idempotency key. */
  void giveBack() {
    coordinator
        .forget(key, policy)
        .exceptionally(
            e -> {
              log.debug("flight {}: not given back, its lease will run out", key, e);
              return false;
            });
  }

  private State end() {
    lock.lock();
    try {
      State known = state;
      state = State.ENDED;
      lostListeners.clear();
      if (nextBeat != null) {
        nextBeat.cancel();
        nextBeat = null;
      }
      return known;
    } finally {
      lock.unlock();
      coordinator.ended(this);
    }
  }

  /** Once: a flight that changes hands inside this JVM is confirmed again. */
  private void beginBeats() {
    lock.lock();
    try {
      if (beating) {
        return;
      }
      beating = true;
    } finally {
      lock.unlock();
    }
    beatAfter(policy.heartbeatInterval().toNanos());
  }

  private void beatAfter(long delayNanos) {
    lock.lock();
    try {
      if (state == State.HELD) {
        nextBeat = coordinator.timers().after(delayNanos, this::beat);
      }
    } finally {
      lock.unlock();
    }
  }

  private void beat() {
    long sentAtNanos = coordinator.timers().nanoTime();
    coordinator
        .store()
        .heartbeat(key, stamp(), runningTtlMillis)
        .whenComplete(
            (answer, e) -> {
              if (e != null) {
                // One failure must not be the last beat: soon again, until Redis answers.
                beatAfter(soonNanos());
                return;
              }
              switch (answer) {
                case OK -> {
                  heardAtNanos = sentAtNanos;
                  beatNext(sentAtNanos);
                }
                case TAKEN -> lost(State.TAKEN);
                case FORGOTTEN -> lost(State.FORGOTTEN);
                case GONE -> assertAgain();
              }
            });
  }

  private void beatNext(long lastSentAtNanos) {
    long dueAtNanos = lastSentAtNanos + policy.heartbeatInterval().toNanos();
    beatAfter(Math.max(0, dueAtNanos - coordinator.timers().nanoTime()));
  }

  private void assertAgain() {
    if (silentTooLong()) {
      lost(State.FORGOTTEN);
      return;
    }
    if (!held()) {
      return;
    }
    long sentAtNanos = coordinator.timers().nanoTime();
    coordinator
        .store()
        .acquire(key, resumption())
        .whenComplete(
            (acquired, e) -> {
              if (e != null) {
                beatAfter(soonNanos());
              } else if (acquired instanceof Acquired.Owner owner && bornTooLate(owner)) {
                giveBack();
                lost(State.FORGOTTEN);
              } else if (acquired instanceof Acquired.Owner owner) {
                log.warn("flight {}: its record was lost and has been asserted again", key);
                resumed(owner, sentAtNanos);
                coordinator
                    .store()
                    .confirm(key, stamp(), runningTtlMillis)
                    .whenComplete((answer, failure) -> beatNext(sentAtNanos));
              } else if (acquired instanceof Acquired.Forgotten) {
                lost(State.FORGOTTEN);
              } else {
                lost(State.TAKEN);
              }
            });
  }

  private void lost(State how) {
    List<Runnable> told;
    lock.lock();
    try {
      if (state != State.HELD) {
        return;
      }
      state = how;
      told = List.copyOf(lostListeners);
      lostListeners.clear();
    } finally {
      lock.unlock();
    }
    coordinator.metrics(key).ownershipLost(how.name());
    log.warn(
        "flight {}: ownership lost ({}) at attempt {}",
        key,
        how.name().toLowerCase(Locale.ROOT),
        attempt);
    told.forEach(Runnable::run);
  }

  private long soonNanos() {
    long intervalNanos = policy.heartbeatInterval().toNanos();
    return Math.min(
        intervalNanos / 4,
        TimeUnit.MILLISECONDS.toNanos(200 + ThreadLocalRandom.current().nextLong(100)));
  }
}
