package dev.soloflight.internal.coordinator;

import dev.soloflight.FlightKey;
import dev.soloflight.internal.store.Acquired;
import dev.soloflight.internal.store.Answer;
import dev.soloflight.internal.store.Commit;
import dev.soloflight.internal.store.Ended;
import dev.soloflight.internal.time.Timers.Alarm;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Brings an outcome in hand to where it belongs: never thrown away, never paid for twice, never
 * served after a forget (DESIGN 3.4).
 *
 * <pre>
 * complete  OK           published
 *           FORGOTTEN    private
 *           GONE         silent for running-ttl: private, else acquire again
 *           TAKEN        acquire again
 *           no answer    the callers get it now; go on in the background until running-ttl has passed
 * acquire   OWNER_*      complete with what is in hand; over nothing and silent for running-ttl:
 *  (resume)              forget, private
 *           REPLAY_SUCCESS   the committed result is everybody's
 *           REPLAY_FAILURE, FORGOTTEN   private
 *           FOLLOWER_WAIT    follow until its caller's deadline, then private
 * </pre>
 */
final class Settling {
  private static final Logger log = LoggerFactory.getLogger(Settling.class);

  private final ClusterOwnership ownership;
  private final ClusterCoordinator coordinator;
  private final FlightKey key;
  private final Commit commit;
  private final CompletableFuture<Settlement> settlement = new CompletableFuture<>();
  private final long deadlineNanos;
  private final long startedAtNanos;

  Settling(ClusterOwnership ownership, Commit commit, long deadlineNanos) {
    this.ownership = ownership;
    this.coordinator = ownership.coordinator();
    this.key = ownership.key();
    this.commit = commit;
    this.deadlineNanos = deadlineNanos;
    this.startedAtNanos = coordinator.timers().nanoTime();
  }

  CompletableFuture<Settlement> settle() {
    commit();
    return settlement;
  }

  private void commit() {
    coordinator.store().complete(key, ownership.stamp(), commit).whenComplete(this::committed);
  }

  private void committed(@Nullable Ended ended, @Nullable Throwable e) {
    if (ended == null) {
      outOfReach(e, this::commit);
      return;
    }
    coordinator.answered();
    Answer answer = ended.answer();
    if (answer == Answer.OK) {
      coordinator.wake(key, ended);
      settlement.complete(new Settlement.Published());
      return;
    }
    coordinator.metrics(key).commitRefused(answer.name());
    log.warn("flight {}: its outcome was refused ({})", key, answer);
    if (answer == Answer.FORGOTTEN || (answer == Answer.GONE && ownership.silentTooLong())) {
      keepPrivate();
    } else {
      acquireAgain();
    }
  }

  private void acquireAgain() {
    long askedAtNanos = coordinator.timers().nanoTime();
    coordinator
        .store()
        .acquire(key, ownership.resumption())
        .whenComplete((acquired, e) -> acquired(acquired, e, askedAtNanos));
  }

  private void acquired(@Nullable Acquired acquired, @Nullable Throwable e, long askedAtNanos) {
    if (acquired == null) {
      outOfReach(e, this::acquireAgain);
    } else if (acquired instanceof Acquired.Owner owner && ownership.bornTooLate(owner)) {
      ownership.giveBack();
      keepPrivate();
    } else if (acquired instanceof Acquired.Owner owner) {
      ownership.resumed(owner, askedAtNanos);
      commit();
    } else if (acquired instanceof Acquired.ReplaySuccess success) {
      settlement.complete(new Settlement.Superseded(success));
    } else if (acquired instanceof Acquired.FollowerWait wait && !settlement.isDone()) {
      follow(wait);
    } else {
      keepPrivate();
    }
  }

  private void follow(Acquired.FollowerWait wait) {
    long leftNanos = deadlineNanos - coordinator.timers().nanoTime();
    if (leftNanos <= 0) {
      keepPrivate();
      return;
    }
    coordinator.listen();
    AtomicBoolean looked = new AtomicBoolean();
    AtomicReference<Alarm> alarm = new AtomicReference<>();
    Runnable look =
        new Runnable() {
          @Override
          public void run() {
            if (looked.compareAndSet(false, true)) {
              coordinator.wakeUps().unregister(key, this);
              Alarm pending = alarm.get();
              if (pending != null) {
                pending.cancel();
              }
              acquireAgain();
            }
          }
        };
    coordinator.wakeUps().register(key, look);
    alarm.set(
        coordinator
            .timers()
            .after(Math.min(leftNanos, coordinator.nextLookNanos(wait.waitMillis())), look));
  }

  private void outOfReach(@Nullable Throwable e, Runnable again) {
    if (e != null) {
      coordinator.failed(e);
    }
    if (settlement.complete(new Settlement.Published())) {
      log.warn("flight {}: Redis gave no answer; its callers have the outcome, publishing on", key);
    }
    long goneByNanos = coordinator.timers().nanoTime() - startedAtNanos;
    if (goneByNanos < ownership.policy().runningTtl().toNanos()) {
      coordinator.timers().after(coordinator.retryNanos(1), again);
    } else {
      log.warn("flight {}: Redis stayed away; its outcome was not published", key);
    }
  }

  private void keepPrivate() {
    settlement.complete(new Settlement.Private());
  }
}
