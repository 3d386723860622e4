package dev.soloflight.internal.local;

import com.fasterxml.jackson.databind.JavaType;
import com.fasterxml.jackson.databind.type.TypeFactory;
import dev.soloflight.AsyncFlightTask;
import dev.soloflight.CoordinationException;
import dev.soloflight.FlightCancelledException;
import dev.soloflight.FlightConfigException;
import dev.soloflight.FlightException;
import dev.soloflight.FlightFailedException;
import dev.soloflight.FlightKey;
import dev.soloflight.FlightResult;
import dev.soloflight.FlightTask;
import dev.soloflight.FlightTimeoutException;
import dev.soloflight.FlightView;
import dev.soloflight.Source;
import dev.soloflight.internal.codec.FlightCodec;
import dev.soloflight.internal.coordinator.Coordinator;
import dev.soloflight.internal.coordinator.Ownership;
import dev.soloflight.internal.guard.GuardedCall;
import dev.soloflight.internal.guard.Guards;
import dev.soloflight.internal.metrics.FlightMetrics;
import dev.soloflight.internal.policy.StagePolicy;
import dev.soloflight.internal.time.Timers;
import java.lang.reflect.Type;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executor;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Identical calls in this JVM share one leader; only the leader goes to the coordinator (DESIGN 4).
 */
public final class LocalFlights implements AutoCloseable {
  private final Coordinator coordinator;
  private final FlightCodec codec;
  private final TypeFactory types;
  private final Guards guards;
  private final FlightMetrics metrics;
  private final Timers timers;
  private final Executor executor;
  private final Function<String, StagePolicy> policies;
  private final L1Cache l1;
  private final Map<String, Stage> stages = new ConcurrentHashMap<>();
  private final Map<FlightKey, LocalFlight> flights = new ConcurrentHashMap<>();

  @SuppressWarnings("ThreadLocalUsage") // what is executing belongs to this instance
  private final ThreadLocal<@Nullable Chain> executing = new ThreadLocal<>();

  private volatile boolean closed;

  /** Everything comes from outside; nothing is started. */
  public LocalFlights(
      Coordinator coordinator,
      FlightCodec codec,
      TypeFactory types,
      Guards guards,
      FlightMetrics metrics,
      Timers timers,
      Executor executor,
      Function<String, StagePolicy> policies,
      int l1MaxEntries) {
    this.coordinator = coordinator;
    this.codec = codec;
    this.types = types;
    this.guards = guards;
    this.metrics = metrics;
    this.timers = timers;
    this.executor = executor;
    this.policies = policies;
    this.l1 = new L1Cache(l1MaxEntries, timers);
    metrics.gauge("soloflight.flights.local", "Flights in the air in this JVM", flights::size);
  }

  /**
   * Blocks until there is an outcome, the task's run included.
   *
   * @throws FlightException as the public entry says; the task's own exception as it was, checked
   *     or not
   */
  public <T> FlightResult<T> call(FlightKey key, Type type, FlightTask<T> task) {
    long startedNanos = timers.nanoTime();
    Stage stage = stage(key);
    L1Cache.Entry entry = l1.get(key);
    if (entry != null) {
      return result(key, stage, fromL1(key, type, stage, entry), Source.REPLAYED_L1, startedNanos);
    }
    @Nullable Chain chain = executing.get();
    Caller.Asked asked = new Caller.Asked(key, type, chain, startedNanos + stage.maxWaitNanos());
    BlockingCaller caller = new BlockingCaller(this, asked, task);
    LocalFlight flight = join(caller, stage);
    try {
      return await(caller, flight, startedNanos);
    } finally {
      Chain.waitOver(chain, flight);
    }
  }

  private <T> FlightResult<T> await(BlockingCaller caller, LocalFlight flight, long startedNanos) {
    FlightKey key = caller.key();
    Stage stage = flight.stage();
    while (true) {
      BlockingCaller.@Nullable Signal signal;
      try {
        signal = caller.await();
      } catch (InterruptedException e) {
        if (flight.leave(caller) == LocalFlight.Leave.GONE) {
          throw interrupted(key, e);
        }
        // Its turn, or its outcome, came at the same moment.
        signal = caller.awaitSure();
        Thread.currentThread().interrupt();
      }
      if (signal == null) {
        flight.overdue();
        if (flight.leave(caller) == LocalFlight.Leave.GONE) {
          return overdue(caller, flight, startedNanos);
        }
        signal = caller.awaitSure();
      }
      if (signal instanceof BlockingCaller.Signal.Ended ended) {
        return result(key, stage, ended.outcome(), ended.source(), startedNanos);
      }
      BlockingCaller.Signal.Lead lead = (BlockingCaller.Signal.Lead) signal;
      Flown flown;
      try {
        flown = caller.serve(lead.flight(), lead.ticket());
      } catch (InterruptedException e) {
        throw interrupted(key, e);
      }
      if (flown.outcome() != null) {
        return result(key, stage, flown.outcome(), flown.source(), startedNanos);
      }
    }
  }

  @SuppressWarnings("TypeParameterUnusedInFormals") // the caller's type was checked when it joined
  private <T> FlightResult<T> overdue(
      BlockingCaller caller, LocalFlight flight, long startedNanos) {
    if (!executesOnTimeout(flight.stage())) {
      flight.stage().metrics().calledInVain();
      throw timedOut(flight);
    }
    Ownership ownership = unowned();
    GuardedCall call = guards.newCall(caller.key(), flight.stage().policy());
    Flown flown = caller.runPrivately(call, ownership, flight);
    Outcome outcome = java.util.Objects.requireNonNull(flown.outcome());
    return result(caller.key(), flight.stage(), outcome, flown.source(), startedNanos);
  }

  /** Holds no thread while waiting. The future fails like {@link #call} throws. */
  public <T> CompletableFuture<FlightResult<T>> callAsync(
      FlightKey key, Type type, AsyncFlightTask<T> task) {
    long startedNanos = timers.nanoTime();
    Stage stage = stage(key);
    try {
      L1Cache.Entry entry = l1.get(key);
      if (entry != null) {
        return CompletableFuture.completedFuture(
            result(key, stage, fromL1(key, type, stage, entry), Source.REPLAYED_L1, startedNanos));
      }
      @Nullable Chain chain = executing.get();
      Caller.Asked asked = new Caller.Asked(key, type, chain, startedNanos + stage.maxWaitNanos());
      AsyncCaller<T> caller = new AsyncCaller<>(this, asked, task, startedNanos);
      LocalFlight flight = join(caller, stage);
      caller.joined(flight);
      return caller;
    } catch (Throwable e) {
      return CompletableFuture.failedFuture(e);
    }
  }

  /** Joins the flight there is, or begins one; a call that is refused is counted as such. */
  private LocalFlight join(Caller caller, Stage stage) {
    try {
      Chain.refuseOwnKey(caller.asked().chain(), caller.key());
      return joinOrBegin(caller, stage);
    } catch (FlightException e) {
      stage.metrics().calledInVain();
      throw e;
    }
  }

  private LocalFlight joinOrBegin(Caller caller, Stage stage) {
    FlightKey key = caller.key();
    while (true) {
      if (closed) {
        throw closedException(key);
      }
      LocalFlight flight = flights.get(key);
      if (flight == null) {
        LocalFlight made =
            new LocalFlight(
                this, stage, key, caller.asked().type(), coordinator.pursue(key, stage.policy()));
        // Joined before it can be found: a flight that is found is wanted by somebody.
        made.join(caller);
        flight = flights.putIfAbsent(key, made);
        if (flight == null) {
          begin(made, caller);
          return made;
        }
      }
      Chain.refuseCircle(caller.asked().chain(), flight);
      boolean joined = false;
      try {
        joined = flight.join(caller);
      } finally {
        if (!joined) {
          Chain.waitOver(caller.asked().chain(), flight);
        }
      }
      if (joined) {
        return flight;
      }
      remove(flight);
    }
  }

  private void begin(LocalFlight flight, Caller caller) {
    Chain.refuseCircle(caller.asked().chain(), flight);
    // A flight that ended between the look into L1 and this moment has left its outcome there.
    L1Cache.Entry entry = l1.get(flight.key());
    if (entry == null) {
      flight.pursue(0);
    } else {
      flight.finish(
          sameType(entry.type(), flight.type())
              ? entry.outcome()
              : new Outcome.Broken(otherType(flight.key(), entry.type(), flight.type())),
          null,
          0);
    }
    if (closed) {
      flight.close(closedException(flight.key()));
    }
  }

  private Outcome fromL1(FlightKey key, Type type, Stage stage, L1Cache.Entry entry) {
    if (!sameType(entry.type(), type)) {
      stage.metrics().calledInVain();
      throw otherType(key, entry.type(), type);
    }
    return entry.outcome();
  }

  @SuppressWarnings("unchecked") // types were compared when the caller joined
  private <T> FlightResult<T> result(
      FlightKey key, Stage stage, Outcome outcome, Source source, long startedNanos) {
    long elapsedNanos = timers.nanoTime() - startedNanos;
    if (outcome instanceof Outcome.Value value) {
      count(stage, source, true, elapsedNanos);
      return new FlightResult<>(
          (T) value.value(), source, value.ownerToken(), Duration.ofNanos(elapsedNanos));
    }
    if (outcome instanceof Outcome.Failed failed) {
      count(stage, source, false, elapsedNanos);
      boolean mine = source == Source.EXECUTED || source == Source.DEGRADED;
      throw sneaky(failure(key, failed, mine));
    }
    count(stage, null, false, elapsedNanos);
    throw ((Outcome.Broken) outcome).reason();
  }

  /** Forgets here and in the cluster; true if there was anything. */
  public boolean forget(FlightKey key) {
    boolean here = forgetHere(key);
    try {
      boolean there = coordinator.forget(key, stage(key).policy()).join();
      return there || here;
    } catch (CompletionException e) {
      throw e.getCause() instanceof FlightException typed
          ? typed
          : new CoordinationException(
              "flight " + key + " may not be forgotten: " + e.getCause(), e.getCause());
    } finally {
      // What was replayed from the record while it was being forgotten.
      forgetHere(key);
    }
  }

  private boolean forgetHere(FlightKey key) {
    LocalFlight flight = flights.get(key);
    if (flight != null) {
      flight.forget();
    }
    return l1.remove(key) || flight != null;
  }

  /** The record as it stands. */
  public Optional<FlightView> inspect(FlightKey key) {
    try {
      return coordinator.inspect(key).join();
    } catch (CompletionException e) {
      throw e.getCause() instanceof FlightException typed
          ? typed
          : new CoordinationException(
              "flight " + key + " cannot be inspected: " + e.getCause(), e.getCause());
    }
  }

  /** Cancels what runs, tells everybody who waits, releases what this node owns. */
  @Override
  public void close() {
    closed = true;
    for (LocalFlight flight : List.copyOf(flights.values())) {
      flight.close(closedException(flight.key()));
    }
    coordinator.close();
    l1.clear();
  }

  boolean closed() {
    return closed;
  }

  Timers timers() {
    return timers;
  }

  /** On the executor, or here if it refuses: an answer that is there is never withheld. */
  void onExecutor(Runnable action) {
    try {
      executor.execute(action);
    } catch (java.util.concurrent.RejectedExecutionException e) {
      action.run();
    }
  }

  Executor executor() {
    return executor;
  }

  Guards guards() {
    return guards;
  }

  FlightCodec codec() {
    return codec;
  }

  JavaType javaType(Type type) {
    return types.constructType(type);
  }

  boolean sameType(Type one, Type other) {
    return one.equals(other) || javaType(one).toCanonical().equals(javaType(other).toCanonical());
  }

  static FlightConfigException otherType(FlightKey key, Type has, Type asked) {
    return new FlightConfigException(
        "flight "
            + key
            + ": its result is a "
            + has.getTypeName()
            + ", but a "
            + asked.getTypeName()
            + " was asked for; ask for the same type, or make the type part of the key");
  }

  void remove(LocalFlight flight) {
    flights.remove(flight.key(), flight);
  }

  void keep(LocalFlight flight, Outcome outcome, long ttlNanos) {
    l1.put(flight.key(), outcome, flight.type(), ttlNanos);
  }

  @Nullable Chain enter(LocalFlight flight) {
    @Nullable Chain outer = executing.get();
    executing.set(new Chain(flight, outer));
    return outer;
  }

  void leave(@Nullable Chain outer) {
    if (outer == null) {
      executing.remove();
    } else {
      executing.set(outer);
    }
  }

  boolean executesOnTimeout(Stage stage) {
    return stage.policy().onWaitTimeout() == StagePolicy.OnWaitTimeout.EXECUTE;
  }

  /** For a run outside its flight. */
  Ownership unowned() {
    return coordinator.unowned();
  }

  FlightTimeoutException timedOut(LocalFlight flight) {
    return new FlightTimeoutException(
        "flight "
            + flight.key()
            + ": its owner had no outcome within follower-max-wait ("
            + flight.stage().policy().followerMaxWait().toMillis()
            + " ms); the flight goes on. Raise stages."
            + flight.key().stage()
            + ".follower-max-wait above what the task takes, or set on-wait-timeout: execute");
  }

  /** The failure as its caller gets it: as it was for who ran the task, told for everybody else. */
  Throwable failure(FlightKey key, Outcome.Failed failed, boolean mine) {
    if (mine && failed.original() != null) {
      return failed.original();
    }
    return new FlightFailedException(
        "flight "
            + key
            + " failed: "
            + failed.errorType()
            + " ("
            + failed.errorCode()
            + ")"
            + (failed.errorMessage() == null ? "" : ": " + failed.errorMessage()),
        failed.errorType(),
        failed.errorCode(),
        failed.errorMessage(),
        failed.retryable(),
        failed.original());
  }

  void count(FlightKey key, @Nullable Source source, boolean success, long elapsedNanos) {
    count(stage(key), source, success, elapsedNanos);
  }

  private static void count(
      Stage stage, @Nullable Source source, boolean success, long elapsedNanos) {
    if (source == null) {
      stage.metrics().calledInVain();
      return;
    }
    stage.metrics().called(source, success);
    if (source != Source.REPLAYED_L1 && source != Source.EXECUTED && source != Source.DEGRADED) {
      stage.metrics().waited(elapsedNanos);
    }
  }

  private Stage stage(FlightKey key) {
    Stage known = stages.get(key.stage());
    return known != null
        ? known
        : stages.computeIfAbsent(
            key.stage(), name -> new Stage(policies.apply(name), metrics.stage(name)));
  }

  private FlightCancelledException interrupted(FlightKey key, InterruptedException e) {
    Thread.currentThread().interrupt();
    stage(key).metrics().calledInVain();
    return new FlightCancelledException(
        "flight " + key + ": its caller was interrupted while it waited; the flight goes on", e);
  }

  private static FlightCancelledException closedException(FlightKey key) {
    return new FlightCancelledException("flight " + key + ": this SoloFlight was closed");
  }

  @SuppressWarnings({"unchecked", "TypeParameterUnusedInFormals"})
  private static <E extends Throwable> RuntimeException sneaky(Throwable e) throws E {
    throw (E) e;
  }
}
