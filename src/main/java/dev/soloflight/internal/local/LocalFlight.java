package dev.soloflight.internal.local;

import dev.soloflight.FlightConfigException;
import dev.soloflight.FlightException;
import dev.soloflight.FlightKey;
import dev.soloflight.Source;
import dev.soloflight.internal.coordinator.Pursuit;
import dev.soloflight.internal.coordinator.Ticket;
import dev.soloflight.internal.guard.GuardedCall;
import java.lang.reflect.Type;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * One flight inside this JVM: its callers, and which of them leads.
 *
 * <h2>How it moves</h2>
 *
 * <pre>
 * PURSUING --ticket--> LEADING --outcome--> DONE
 *    ^                    |
 *    +--- ticket void ----+   (not confirmed, damaged, lost under on-ownership-lost: cancel)
 *                         +-- leader gone: the next caller leads with the same ticket
 * </pre>
 *
 * The pursuit belongs to the flight, not to a caller: whoever goes, the others lose nothing. The
 * flight ends without an outcome when the last caller has gone. The lock is held for moments only;
 * callers, pursuit and coordinator are called outside it.
 */
final class LocalFlight {
  private enum Phase {
    PURSUING,
    LEADING,
    DONE
  }

  private final LocalFlights flights;
  private final Stage stage;
  private final FlightKey key;
  private final Type type;
  private final Pursuit pursuit;

  private final ReentrantLock lock = new ReentrantLock();
  private final ArrayDeque<Caller> waiting = new ArrayDeque<>(2);
  private int waitingGone;
  private Phase phase = Phase.PURSUING;
  private @Nullable Caller leader;
  private @Nullable GuardedCall run;
  private boolean forgotten;
  private volatile @Nullable Set<LocalFlight> awaits;

  LocalFlight(LocalFlights flights, Stage stage, FlightKey key, Type type, Pursuit pursuit) {
    this.flights = flights;
    this.stage = stage;
    this.key = key;
    this.type = type;
    this.pursuit = pursuit;
  }

  FlightKey key() {
    return key;
  }

  Stage stage() {
    return stage;
  }

  Type type() {
    return type;
  }

  /** The flights that this flight's task waits for now. */
  Set<LocalFlight> awaits() {
    Set<LocalFlight> known = awaits;
    if (known != null) {
      return known;
    }
    lock.lock();
    try {
      if (awaits == null) {
        awaits = ConcurrentHashMap.newKeySet();
      }
      return awaits;
    } finally {
      lock.unlock();
    }
  }

  /**
   * Takes a caller in; false if the flight has ended.
   *
   * @throws FlightConfigException if the flight's result is of another type
   */
  boolean join(Caller caller) {
    lock.lock();
    try {
      if (phase == Phase.DONE) {
        return false;
      }
      if (!flights.sameType(type, caller.asked().type())) {
        throw LocalFlights.otherType(key, type, caller.asked().type());
      }
      waiting.add(caller);
      return true;
    } finally {
      lock.unlock();
    }
  }

  /** Pursues; a damaged record is named by its token, else 0. */
  void pursue(long damagedToken) {
    CompletableFuture<Ticket> next = pursuit.next(damagedToken);
    if (next.isDone() && !next.isCompletedExceptionally()) {
      granted(next.join());
      return;
    }
    next.whenComplete(
        (ticket, e) -> {
          if (e == null) {
            granted(ticket);
          } else {
            finish(new Outcome.Broken(flightException(e)), null, 0);
          }
        });
  }

  private FlightException flightException(Throwable e) {
    Throwable cause = e instanceof CompletionException && e.getCause() != null ? e.getCause() : e;
    return cause instanceof FlightException typed
        ? typed
        : new dev.soloflight.CoordinationException("flight " + key + ": " + cause, cause);
  }

  private void granted(Ticket ticket) {
    Caller elected;
    lock.lock();
    try {
      if (phase != Phase.PURSUING) {
        // Ended meanwhile (closed, or everybody gone): what was granted is given back below.
        elected = null;
      } else {
        elected = elect();
      }
    } finally {
      lock.unlock();
    }
    if (elected != null) {
      elected.lead(this, ticket);
    } else {
      giveBack(ticket, "nobody waits for it any more");
    }
  }

  /** The next caller that is still there becomes the leader; without one the flight has ended. */
  private @Nullable Caller elect() {
    Caller next = waiting.poll();
    while (next != null && next.gone()) {
      waitingGone--;
      next = waiting.poll();
    }
    leader = next;
    phase = next == null ? Phase.DONE : Phase.LEADING;
    if (next == null) {
      flights.remove(this);
    }
    return next;
  }

  private static void giveBack(Ticket ticket, String reason) {
    if (ticket instanceof Ticket.Own own) {
      own.ownership().release(reason);
    }
  }

  /** The leader goes (its own interrupt or cancellation): somebody else leads with its ticket. */
  void handOver(Caller from, Ticket ticket, String reason) {
    Caller elected;
    lock.lock();
    try {
      if (phase == Phase.DONE || leader != from) {
        elected = null;
      } else {
        run = null;
        elected = elect();
      }
    } finally {
      lock.unlock();
    }
    if (elected != null) {
      elected.lead(this, ticket);
    } else {
      giveBack(ticket, reason);
    }
  }

  /** The leader's ticket turned out to be void: it waits again, first in line. False: ended. */
  boolean pursueAgain(Caller from, long damagedToken) {
    lock.lock();
    try {
      if (phase == Phase.DONE) {
        return false;
      }
      phase = Phase.PURSUING;
      leader = null;
      run = null;
      if (!from.gone()) {
        waiting.addFirst(from);
      } else if (!anybodyLeft()) {
        phase = Phase.DONE;
        flights.remove(this);
        return false;
      }
    } finally {
      lock.unlock();
    }
    pursue(damagedToken);
    return true;
  }

  /** The task is about to run; false if nobody wants it any more or the instance is closed. */
  boolean running(GuardedCall call) {
    lock.lock();
    try {
      if (phase == Phase.DONE || (leader != null && leader.gone() && !anybodyLeft())) {
        return false;
      }
      run = call;
      return true;
    } finally {
      lock.unlock();
    }
  }

  /**
   * The flight has ended: kept in L1 if it may be, removed, told to every caller but the leader, in
   * this order, so that nobody finds neither.
   *
   * @param by the leader, which has its outcome already; null if there is none
   */
  void finish(Outcome outcome, @Nullable Caller by, long l1TtlNanos) {
    List<Caller> told = new ArrayList<>();
    lock.lock();
    try {
      if (phase == Phase.DONE) {
        return;
      }
      phase = Phase.DONE;
      if (!forgotten && l1TtlNanos > 0) {
        flights.keep(this, outcome, l1TtlNanos);
      }
      flights.remove(this);
      for (Caller caller : waiting) {
        if (!caller.gone()) {
          told.add(caller);
        }
      }
      waiting.clear();
      if (leader != null && leader != by && !leader.gone()) {
        told.add(leader);
      }
      leader = null;
      run = null;
    } finally {
      lock.unlock();
    }
    for (Caller caller : told) {
      caller.deliver(outcome, Source.SHARED);
    }
  }

  /** Nothing of this flight is kept for later callers. Its own callers get its outcome. */
  void forget() {
    lock.lock();
    try {
      forgotten = true;
      flights.remove(this);
    } finally {
      lock.unlock();
    }
  }

  /** What came of a caller's wish to go. */
  enum Leave {
    /** It has gone and will not be told anything. */
    GONE,
    /** It leads, or is being told the outcome: it must not go like this. */
    BUSY
  }

  /** A waiting caller goes. With the last one, the flight itself ends. */
  Leave leave(Caller caller) {
    boolean last;
    lock.lock();
    try {
      if (phase == Phase.DONE || leader == caller || caller.gone()) {
        return Leave.BUSY;
      }
      caller.markGone();
      waitingGone++;
      if (waitingGone > 32 && waitingGone > waiting.size() / 2) {
        waiting.removeIf(Caller::gone);
        waitingGone = 0;
      }
      last = phase == Phase.PURSUING && !anybodyLeft();
      if (last) {
        phase = Phase.DONE;
        flights.remove(this);
      }
    } finally {
      lock.unlock();
    }
    cancelIfUnwanted();
    if (last) {
      pursuit.abandon();
    }
    return Leave.GONE;
  }

  /** An asynchronous leader's caller goes: its task goes on while anybody else waits. */
  void leaderLeaves(Caller caller) {
    lock.lock();
    try {
      if (phase == Phase.DONE || leader != caller) {
        return;
      }
      caller.markGone();
    } finally {
      lock.unlock();
    }
    cancelIfUnwanted();
  }

  private void cancelIfUnwanted() {
    GuardedCall unwanted = null;
    lock.lock();
    try {
      if (phase == Phase.LEADING && leader != null && leader.gone() && !anybodyLeft()) {
        unwanted = run;
      }
    } finally {
      lock.unlock();
    }
    if (unwanted != null) {
      unwanted.cancel();
    }
  }

  /** A caller's wait is over while nobody leads: true if the mode has decided the flight now. */
  boolean overdue() {
    lock.lock();
    try {
      if (phase != Phase.PURSUING) {
        return false;
      }
    } finally {
      lock.unlock();
    }
    return pursuit.overdue();
  }

  /** The instance is closed: everybody is told, the task is cancelled. */
  void close(FlightException reason) {
    GuardedCall running;
    lock.lock();
    try {
      running = run;
    } finally {
      lock.unlock();
    }
    if (running != null) {
      running.cancel();
    }
    pursuit.abandon();
    Caller leading;
    lock.lock();
    try {
      leading = leader;
    } finally {
      lock.unlock();
    }
    // The leader learns it from its cancelled task.
    finish(new Outcome.Broken(reason), leading, 0);
  }

  private boolean anybodyLeft() {
    return waiting.stream().anyMatch(caller -> !caller.gone());
  }
}
