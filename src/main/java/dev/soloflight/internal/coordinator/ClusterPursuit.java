package dev.soloflight.internal.coordinator;

import dev.soloflight.CoordinationException;
import dev.soloflight.FlightKey;
import dev.soloflight.internal.policy.StagePolicy;
import dev.soloflight.internal.store.AcquireRequest;
import dev.soloflight.internal.store.Acquired;
import dev.soloflight.internal.time.Timers.Alarm;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Asks, follows, asks again: the follower's poll IS acquire (DESIGN 3.3). One asking is out at a
 * time; a wake-up that comes meanwhile is latched and answered by another asking.
 */
final class ClusterPursuit implements Pursuit {
  private static final Logger log = LoggerFactory.getLogger(ClusterPursuit.class);

  private final ClusterCoordinator coordinator;
  private final FlightKey key;
  private final StagePolicy policy;
  private final String ownerId;
  private final Runnable wakeUp = this::ask;

  private final ReentrantLock lock = new ReentrantLock();
  private @Nullable CompletableFuture<Ticket> ticket;
  private long damagedToken;
  private @Nullable Alarm alarm;
  private boolean asking;
  private boolean woken;
  private boolean followed;
  private boolean outOfReach;
  private long ownedToken;
  private int failures;

  ClusterPursuit(ClusterCoordinator coordinator, FlightKey key, StagePolicy policy) {
    this.coordinator = coordinator;
    this.key = key;
    this.policy = policy;
    this.ownerId = coordinator.newOwnerId();
  }

  @Override
  public CompletableFuture<Ticket> next(long damagedToken) {
    CompletableFuture<Ticket> wanted = new CompletableFuture<>();
    lock.lock();
    try {
      ticket = wanted;
      if (damagedToken != 0) {
        this.damagedToken = damagedToken;
      }
    } finally {
      lock.unlock();
    }
    if (!coordinator.reachable()) {
      decide(degraded());
      return wanted;
    }
    // Listening before asking: an end that is announced meanwhile is not missed.
    coordinator.wakeUps().register(key, wakeUp);
    ask();
    return wanted;
  }

  @Override
  public boolean overdue() {
    lock.lock();
    try {
      if (ticket == null || ticket.isDone()) {
        return ticket != null;
      }
      if (!outOfReach) {
        return false;
      }
    } finally {
      lock.unlock();
    }
    unreachable(null);
    return true;
  }

  @Override
  public void abandon() {
    lock.lock();
    try {
      ticket = null;
      cancelAlarm();
    } finally {
      lock.unlock();
    }
    coordinator.wakeUps().unregister(key, wakeUp);
  }

  private void ask() {
    AcquireRequest asked;
    lock.lock();
    try {
      if (ticket == null || ticket.isDone()) {
        return;
      }
      if (asking) {
        woken = true;
        return;
      }
      asking = true;
      woken = false;
      cancelAlarm();
      // Anew each time: an earlier proposal may live on as the key of a flight that was taken over
      // and then forgotten, and whoever still executes that would take this flight for its own.
      asked =
          ClusterCoordinator.request(ownerId, ClusterCoordinator.newIdempotencyKey(), policy)
              .withDamagedToken(damagedToken);
    } finally {
      lock.unlock();
    }
    long sentAtNanos = coordinator.timers().nanoTime();
    coordinator
        .store()
        .acquire(key, asked)
        .whenComplete((acquired, e) -> answered(acquired, e, asked, sentAtNanos));
  }

  private void answered(
      @Nullable Acquired acquired, @Nullable Throwable e, AcquireRequest asked, long sentAtNanos) {
    boolean wanted;
    boolean again = false;
    boolean persist = false;
    lock.lock();
    try {
      asking = false;
      wanted = ticket != null && !ticket.isDone();
      outOfReach = e != null;
      if (e == null) {
        failures = 0;
      }
      if (wanted && acquired instanceof Acquired.FollowerWait wait) {
        followed = true;
        again = woken;
        if (!again) {
          alarm = coordinator.timers().after(coordinator.nextLookNanos(wait.waitMillis()), wakeUp);
        }
      } else if (e != null) {
        // An owner may be at work, or Redis is there and the machine is slow: running the task
        // now could be the second time. The callers' deadlines bound it.
        persist = wanted && (followed || coordinator.worthAskingAgain(e));
      }
      if (persist) {
        alarm = coordinator.timers().after(coordinator.retryNanos(failures++), wakeUp);
      }
    } finally {
      lock.unlock();
    }
    if (e != null) {
      coordinator.failed(e);
      if (wanted && !persist) {
        unreachable(e);
      }
      return;
    }
    coordinator.answered();
    if (again) {
      ask();
    }
    if (acquired instanceof Acquired.FollowerWait) {
      coordinator.listen();
    } else if (acquired instanceof Acquired.Owner owner) {
      own(owner, asked, sentAtNanos);
    } else if (acquired instanceof Acquired.ReplaySuccess success) {
      decide(new Ticket.Success(success, followed));
    } else if (acquired instanceof Acquired.ReplayFailure failure) {
      decide(new Ticket.Failure(failure, followed));
    }
  }

  private void own(Acquired.Owner owner, AcquireRequest asked, long sentAtNanos) {
    if (!firstTold(owner.ownerToken())) {
      return;
    }
    // Whoever named the damage has counted it.
    if (owner instanceof Acquired.OwnerNew made && made.damaged() && asked.damagedToken() == 0) {
      coordinator.metrics(key).damaged();
      log.warn("flight {}: its record was damaged or of another version; executing anew", key);
    }
    ClusterOwnership ownership =
        new ClusterOwnership(coordinator, key, policy, ownerId, owner, sentAtNanos);
    if (!decide(new Ticket.Own(ownership, followed))) {
      // Its callers have gone, or went on without it: nobody is to wait for a lease.
      ownership.release("nobody waits for it any more");
    } else if (owner instanceof Acquired.OwnerTakeover) {
      coordinator.metrics(key).tookOver();
      log.info("flight {}: taken over as attempt {}", key, owner.attempt());
    }
  }

  /**
   * A wake-up that comes between an answer and its ticket asks once more, and is told the same
   * ownership again: to release that would be to release the one that was handed out.
   */
  private boolean firstTold(long ownerToken) {
    lock.lock();
    try {
      boolean first = ownerToken != ownedToken;
      ownedToken = ownerToken;
      return first;
    } finally {
      lock.unlock();
    }
  }

  private void unreachable(@Nullable Throwable e) {
    if (coordinator.hybrid()) {
      decide(degraded());
      return;
    }
    CoordinationException failure =
        new CoordinationException(
            "flight "
                + key
                + ": the task did not run, because the mode is distributed and "
                + (e == null ? "Redis cannot be reached" : ClusterCoordinator.whatIsAmiss(e))
                + "; check redis.uri (the command doctor tells what is missing), or use mode hybrid"
                + " to go on without Redis",
            e);
    end(current -> current.completeExceptionally(failure));
  }

  private Ticket degraded() {
    return new Ticket.Own(
        LocalOwnership.degraded(ClusterCoordinator.newIdempotencyKey()), followed);
  }

  private boolean decide(Ticket decided) {
    return end(current -> current.complete(decided));
  }

  private boolean end(java.util.function.Predicate<CompletableFuture<Ticket>> completion) {
    CompletableFuture<Ticket> current;
    lock.lock();
    try {
      current = ticket;
      cancelAlarm();
    } finally {
      lock.unlock();
    }
    coordinator.wakeUps().unregister(key, wakeUp);
    return current != null && completion.test(current);
  }

  private void cancelAlarm() {
    if (alarm != null) {
      alarm.cancel();
      alarm = null;
    }
  }
}
