package dev.soloflight.internal.store;

import dev.soloflight.FlightKey;
import dev.soloflight.FlightView;
import dev.soloflight.internal.coordinator.ClusterCoordinator;
import dev.soloflight.internal.coordinator.Ownership;
import dev.soloflight.internal.coordinator.Pursuit;
import dev.soloflight.internal.coordinator.Settlement;
import dev.soloflight.internal.coordinator.Ticket;
import dev.soloflight.internal.metrics.FlightMetrics;
import dev.soloflight.internal.policy.StagePolicy;
import dev.soloflight.internal.time.Timers;
import dev.soloflight.support.FlightRecords;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.IntUnaryOperator;
import java.util.function.Supplier;

/**
 * One interleaving of a few clients of one flight, and what must hold in it.
 *
 * <p>The clients are real coordinators. Nothing of theirs happens by itself: every step they send,
 * every alarm of theirs, and every disturbance between, is one choice of {@code picks}. Time stands
 * still unless a choice lets it pass; where nobody can move any more, it passes by a lease.
 */
final class Interleaving {
  /** How a client's task ends. */
  enum End {
    SUCCEED,
    FAIL,
    RELEASE
  }

  /** What happens between two steps. */
  enum Disturbance {
    /** Time passes: more than a lease, less than running-ttl. */
    LEASE_END,
    /** Time passes: more than running-ttl. */
    LONG_SILENCE,
    /** The record is lost. */
    LOSS,
    /** A third party forgets the flight. */
    FORGET,
    /** A client dies. */
    CRASH
  }

  /** Something that must never be. */
  static final class Violation extends RuntimeException {
    private static final long serialVersionUID = 1L;

    Violation(String what, List<String> steps) {
      super(what + "\n  " + String.join("\n  ", steps));
    }
  }

  /** The steps as they are sent; a test breaks one. */
  static class Rules {
    CompletableFuture<Acquired> acquire(
        FlightStore store, FlightRecords records, FlightKey key, AcquireRequest request) {
      return store.acquire(key, request);
    }

    CompletableFuture<Answer> confirm(
        FlightStore store, FlightRecords records, FlightKey key, OwnerStamp owner, long ttl) {
      return store.confirm(key, owner, ttl);
    }

    CompletableFuture<Answer> heartbeat(
        FlightStore store, FlightRecords records, FlightKey key, OwnerStamp owner, long ttl) {
      return store.heartbeat(key, owner, ttl);
    }

    CompletableFuture<Ended> complete(
        FlightStore store, FlightRecords records, FlightKey key, OwnerStamp owner, Commit commit) {
      return store.complete(key, owner, commit);
    }

    CompletableFuture<Forgot> forget(
        FlightStore store, FlightRecords records, FlightKey key, String forgetId, long ttl) {
      return store.forget(key, forgetId, ttl);
    }

    /** What a client's clock says at that time. */
    long clientClock(long nanos) {
      return nanos;
    }
  }

  /** Where a run takes place. */
  record Place(List<? extends FlightStore> nodes, FlightRecords records) {}

  private static final int MAX_FORCED_WAITS = 12;
  private static final int BEATS = 1;

  private record Execution(Client by, String value, int acquiredAt, int beganAt) {}

  private record Committed(Client by, String value, int at) {}

  private final Place place;
  private final FlightKey key;
  private final StagePolicy policy;
  private final FlightMetrics metrics;
  private final Rules rules;
  private final IntUnaryOperator picks;
  private final boolean symmetric;
  private final List<Client> clients = new ArrayList<>();
  private final List<Disturbance> disturbances;
  private final List<String> steps = new ArrayList<>();

  private final List<Execution> executions = new ArrayList<>();
  private final List<Integer> forgets = new ArrayList<>();
  private final List<Integer> losses = new ArrayList<>();
  private int disturbancesLeft;
  private int lastExcuse = -1;
  private int at;
  private int changes;
  private int forcedWaits;
  private long nowNanos;
  private long newestToken;
  private Committed committed;

  /** Kept, because what is thrown while a reply is handed on ends in a future. */
  private Violation found;

  Interleaving(
      Place place,
      FlightKey key,
      StagePolicy policy,
      FlightMetrics metrics,
      Rules rules,
      List<End> programs,
      List<Disturbance> disturbances,
      int maxDisturbances,
      IntUnaryOperator picks) {
    this.place = place;
    this.key = key;
    this.policy = policy;
    this.metrics = metrics;
    this.rules = rules;
    this.picks = picks;
    this.disturbances = disturbances;
    this.disturbancesLeft = maxDisturbances;
    this.symmetric = programs.stream().distinct().count() == 1;
    for (int i = 0; i < programs.size(); i++) {
      clients.add(new Client(i, programs.get(i), place.nodes().get(i)));
    }
  }

  /** Runs to the end; what happened, step by step. */
  List<String> run() {
    while (true) {
      List<Runnable> choices = new ArrayList<>();
      for (Client client : clients) {
        client.addChoices(choices);
      }
      if (choices.isEmpty()) {
        if (clients.stream().allMatch(Client::ended)) {
          break;
        }
        if (++forcedWaits > MAX_FORCED_WAITS) {
          throw violation("2: a caller waits for ever");
        }
        pass(policy.takeoverDetect().plusMillis(1), "nobody can move: a lease passes");
      } else {
        addDisturbances(choices);
        choices.get(choices.size() == 1 ? 0 : picks.applyAsInt(choices.size())).run();
      }
      at++;
      if (place.records().ttlMillis(key) == FlightRecords.NO_TTL) {
        throw violation("7: the record has no TTL");
      }
    }
    probe();
    return steps;
  }

  private void addDisturbances(List<Runnable> choices) {
    if (disturbancesLeft == 0 || at == 0) {
      return;
    }
    for (Disturbance disturbance : disturbances) {
      switch (disturbance) {
        case LEASE_END ->
            choices.add(
                disturb(() -> pass(policy.takeoverDetect().plusMillis(1), "a lease passes")));
        case LONG_SILENCE ->
            choices.add(disturb(() -> pass(policy.runningTtl().plusMillis(1), "a long silence")));
        case LOSS -> choices.add(disturb(this::lose));
        case FORGET -> choices.add(disturb(this::forget));
        case CRASH ->
            clients.stream()
                .filter(client -> client.started && !client.ended())
                .forEach(client -> choices.add(disturb(client::crash)));
      }
    }
  }

  private Runnable disturb(Runnable what) {
    return () -> {
      disturbancesLeft--;
      what.run();
    };
  }

  private void pass(Duration time, String why) {
    nowNanos += time.toNanos();
    place.records().age(key, time);
    changed(why);
    lastExcuse = at;
  }

  private void lose() {
    place.records().lose(key);
    losses.add(at);
    changed("the record is lost");
    lastExcuse = at;
  }

  private void forget() {
    Forgot forgot =
        FlightStoreContract.get(
            rules.forget(
                place.nodes().get(0),
                place.records(),
                key,
                "forget-" + at,
                policy.runningTtl().toMillis()));
    forgets.add(at);
    newestToken = Math.max(newestToken, forgot.ownerToken());
    changed("a third party forgets: " + (forgot.removed() ? "REMOVED" : "ABSENT"));
    lastExcuse = at;
  }

  private void changed(String what) {
    changes++;
    steps.add(what);
  }

  /** Somebody asks when all is over. */
  private void probe() {
    AcquireRequest request =
        new AcquireRequest(
            "probe",
            "idem-probe",
            policy.takeoverDetect().toMillis(),
            policy.runningTtl().toMillis(),
            policy.maxAttempts(),
            policy.failedResultTtl().toMillis(),
            0,
            false);
    Acquired acquired = FlightStoreContract.get(place.nodes().get(0).acquire(key, request));
    steps.add("somebody asks when all is over: " + acquired.getClass().getSimpleName());
    if (acquired instanceof Acquired.ReplaySuccess success) {
      served(text(success), at, "somebody who asked when all was over");
    }
    boolean undisturbed =
        lastExcuse < 0
            && clients.stream().allMatch(client -> client.end == End.SUCCEED && !client.crashed);
    if (undisturbed && executions.size() != 1) {
      throw violation("1: " + executions.size() + " executions of one flight");
    }
  }

  private void served(String value, int askedAt, String to) {
    Execution execution =
        executions.stream()
            .filter(one -> one.value().equals(value))
            .findFirst()
            .orElseThrow(() -> violation(to + " got " + value + ", which nobody executed"));
    for (int forgotAt : forgets) {
      // A tombstone that is lost forbids nothing any more.
      boolean lostSince = losses.stream().anyMatch(lostAt -> lostAt > forgotAt);
      if (execution.beganAt() < forgotAt && forgotAt < askedAt && !lostSince) {
        throw violation("a forgotten value, " + value + ", is served to " + to);
      }
    }
  }

  private Violation violation(String what) {
    if (found == null) {
      found = new Violation(what, steps);
    }
    return found;
  }

  private static String text(Acquired.ReplaySuccess success) {
    return new String(success.payload(), StandardCharsets.UTF_8);
  }

  /** One node with one caller; its coordinator sends its steps to this. */
  private final class Client implements FlightStore, Timers {
    private final int number;
    private final End end;
    private final FlightStore node;
    private final ClusterCoordinator coordinator;
    private final Deque<Runnable> sent = new ArrayDeque<>();
    private final Deque<Runnable> alarms = new ArrayDeque<>();
    private Pursuit pursuit;
    private Ownership ownership;
    private boolean started;
    private boolean running;
    private boolean done;
    private boolean crashed;
    private int runs;
    private int beats;
    private int askedAt;
    private int acquiredAt;
    private int seenChanges;
    private long ownToken;

    Client(int number, End end, FlightStore node) {
      this.number = number;
      this.end = end;
      this.node = node;
      this.coordinator =
          new ClusterCoordinator(
              this, this, metrics, false, Duration.ofSeconds(2), Duration.ofSeconds(1));
    }

    boolean ended() {
      return crashed || (done && sent.isEmpty());
    }

    void addChoices(List<Runnable> choices) {
      if (crashed) {
        return;
      }
      if (!started) {
        // Equal clients are told apart by who comes first alone.
        if (!symmetric || number == 0 || clients.get(number - 1).started) {
          choices.add(this::start);
        }
        return;
      }
      if (!sent.isEmpty()) {
        choices.add(sent.peek());
      }
      if (running) {
        choices.add(this::finish);
        if (sent.isEmpty() && !alarms.isEmpty() && beats < BEATS) {
          choices.add(
              () -> {
                beats++;
                ring();
              });
        }
      } else if (!done && sent.isEmpty() && !alarms.isEmpty() && seenChanges != changes) {
        choices.add(this::ring);
      }
    }

    private void start() {
      started = true;
      askedAt = at;
      pursuit = coordinator.pursue(key, policy);
      pursue();
      sendNow();
    }

    private void pursue() {
      pursuit
          .next(0)
          .whenComplete(
              (ticket, e) -> {
                if (e != null) {
                  throw violation(this + " got no ticket: " + e);
                }
                granted(ticket);
              });
    }

    private void granted(Ticket ticket) {
      if (ticket instanceof Ticket.Success success) {
        deliver(text(success.stored()));
      } else if (ticket instanceof Ticket.Failure failure) {
        steps.add(this + "'s caller gets the failure " + failure.stored().errorCode());
        done = true;
      } else {
        ownership = ((Ticket.Own) ticket).ownership();
        ownership
            .confirm()
            .whenComplete(
                (confirmed, e) -> {
                  if (e != null) {
                    throw violation(this + " could not confirm: " + e);
                  }
                  if (confirmed) {
                    begin();
                  } else {
                    pursue();
                  }
                });
      }
    }

    private void begin() {
      running = true;
      for (Execution other : executions) {
        if (other.by().running && other.by() != this && lastExcuse <= other.acquiredAt()) {
          throw violation("1: " + this + " executes while " + other.by() + " does");
        }
      }
      runs++;
      executions.add(new Execution(this, number + "." + runs, acquiredAt, at));
    }

    private String value() {
      return number + "." + runs;
    }

    /** The task has ended; its outcome goes out behind what is on its way. */
    private void finish() {
      running = false;
      if (end == End.RELEASE) {
        ownership
            .release("gave up")
            .thenAccept(
                ignored -> {
                  done = true;
                });
      } else {
        Commit commit =
            end == End.SUCCEED
                ? FlightStoreContract.success(value())
                : new Commit.Failure("java.io.IOException", "BUSY", "", true, 0, 60_000);
        ownership.complete(commit, Long.MAX_VALUE).thenAccept(this::settled);
      }
      if (sent.size() == 1) {
        sendNow();
      } else {
        steps.add(this + "'s task ends");
      }
    }

    private void settled(Settlement settlement) {
      if (settlement instanceof Settlement.Superseded superseded) {
        deliver(text(superseded.stored()));
      } else {
        steps.add(this + "'s caller gets its own outcome, " + settlement);
        done = true;
      }
    }

    private void deliver(String value) {
      steps.add(this + "'s caller gets " + value);
      done = true;
      served(value, askedAt, this + "'s caller");
    }

    void crash() {
      crashed = true;
      running = false;
      sent.clear();
      alarms.clear();
      steps.add(this + " dies");
    }

    private void ring() {
      alarms.poll().run();
      sendNow();
    }

    private void sendNow() {
      Runnable next = sent.peek();
      if (next != null) {
        next.run();
      }
    }

    /** Waits until it is chosen; then it is sent and its reply handed to the coordinator. */
    private <T> CompletableFuture<T> send(
        String step, Supplier<CompletableFuture<T>> real, java.util.function.Consumer<T> check) {
      CompletableFuture<T> reply = new CompletableFuture<>();
      sent.add(
          () -> {
            sent.poll();
            T answer = FlightStoreContract.get(real.get());
            steps.add(this + " " + step + ": " + said(answer));
            check.accept(answer);
            reply.complete(answer);
            if (found != null) {
              throw found;
            }
          });
      return reply;
    }

    private static String said(Object answer) {
      if (answer instanceof Acquired.ReplaySuccess success) {
        return "REPLAY of " + text(success);
      }
      return answer instanceof Ended ended
          ? ended.answer().name()
          : answer instanceof Answer plain ? plain.name() : answer.getClass().getSimpleName();
    }

    @Override
    public CompletableFuture<Acquired> acquire(FlightKey flight, AcquireRequest request) {
      return send(
          request.resume() ? "acquires again" : "acquires",
          () -> rules.acquire(node, place.records(), flight, request),
          acquired -> {
            if (acquired instanceof Acquired.Owner owner) {
              if (owner.ownerToken() != ownToken && owner.ownerToken() <= newestToken) {
                fail("the token did not grow");
              }
              newestToken = owner.ownerToken();
              ownToken = owner.ownerToken();
              acquiredAt = at;
              changes++;
            } else if (acquired instanceof Acquired.ReplaySuccess success
                && (committed == null || !committed.value().equals(text(success)))) {
              fail("what is replayed is not what was committed last");
            }
            seenChanges = changes;
          });
    }

    @Override
    public CompletableFuture<Answer> confirm(FlightKey flight, OwnerStamp owner, long ttl) {
      return send(
          "confirms",
          () -> rules.confirm(node, place.records(), flight, owner, ttl),
          answer -> underNewestToken(answer, owner));
    }

    @Override
    public CompletableFuture<Answer> heartbeat(FlightKey flight, OwnerStamp owner, long ttl) {
      return send(
          "beats",
          () -> rules.heartbeat(node, place.records(), flight, owner, ttl),
          answer -> underNewestToken(answer, owner));
    }

    @Override
    public CompletableFuture<Ended> complete(FlightKey flight, OwnerStamp owner, Commit commit) {
      return send(
          "completes with " + (commit instanceof Commit.Success ? value() : "a failure"),
          () -> rules.complete(node, place.records(), flight, owner, commit),
          ended -> {
            if (ended.answer() != Answer.OK) {
              return;
            }
            changes++;
            if (commit instanceof Commit.Success) {
              Committed before = committed;
              committed = new Committed(this, value(), at);
              if (before != null && before.by() != this && !endedSince(before.at())) {
                fail("4: the outcome of " + before.by() + " is overwritten");
              }
            }
            underNewestToken(ended.answer(), owner);
          });
    }

    private boolean endedSince(int then) {
      return forgets.stream().anyMatch(when -> when > then)
          || losses.stream().anyMatch(when -> when > then);
    }

    @Override
    public CompletableFuture<Ended> release(
        FlightKey flight, OwnerStamp owner, long ttl, String reason) {
      return send(
          "releases",
          () -> node.release(flight, owner, ttl, reason),
          ended -> {
            if (ended.answer() == Answer.OK) {
              changes++;
            }
            underNewestToken(ended.answer(), owner);
          });
    }

    private void underNewestToken(Answer answer, OwnerStamp owner) {
      if (answer == Answer.OK && owner.ownerToken() != newestToken) {
        fail("4: OK under a token that is not the newest");
      }
    }

    private void fail(String what) {
      throw violation(what);
    }

    @Override
    public CompletableFuture<Forgot> forget(FlightKey flight, String forgetId, long ttl) {
      return send(
          "gives back",
          () -> rules.forget(node, place.records(), flight, forgetId, ttl),
          forgot -> {
            forgets.add(at);
            newestToken = Math.max(newestToken, forgot.ownerToken());
            changes++;
            lastExcuse = at;
          });
    }

    @Override
    public CompletableFuture<Optional<FlightView>> inspect(FlightKey flight) {
      throw new UnsupportedOperationException();
    }

    @Override
    public CompletableFuture<List<FlightKey>> flights(int limit) {
      throw new UnsupportedOperationException();
    }

    @Override
    public CompletableFuture<Boolean> ping() {
      return CompletableFuture.completedFuture(true);
    }

    @Override
    public void wake(FlightKey flight, List<String> waiters) {
      // Whoever follows may look at any moment after the change.
    }

    @Override
    public void listen(WakeListener listener) {}

    @Override
    public String nodeId() {
      return "client-" + number;
    }

    @Override
    public long nanoTime() {
      return rules.clientClock(nowNanos) + TimeUnit.HOURS.toNanos(1);
    }

    @Override
    public Alarm after(long delayNanos, Runnable action) {
      alarms.add(action);
      return () -> alarms.remove(action);
    }

    @Override
    public void close() {}

    @Override
    public String toString() {
      return "client " + number;
    }
  }
}
