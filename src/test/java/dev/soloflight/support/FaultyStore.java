package dev.soloflight.support;

import dev.soloflight.FlightKey;
import dev.soloflight.FlightView;
import dev.soloflight.internal.store.AcquireRequest;
import dev.soloflight.internal.store.Acquired;
import dev.soloflight.internal.store.Answer;
import dev.soloflight.internal.store.Commit;
import dev.soloflight.internal.store.Ended;
import dev.soloflight.internal.store.FlightStore;
import dev.soloflight.internal.store.Forgot;
import dev.soloflight.internal.store.OwnerStamp;
import dev.soloflight.internal.store.StoreUnavailableException;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;

/**
 * A real store from which Redis can be taken away at exactly one step, or for exactly one answer.
 */
public final class FaultyStore implements FlightStore {
  /** The steps that can be disturbed. */
  public enum Step {
    ACQUIRE,
    CONFIRM,
    HEARTBEAT,
    COMPLETE,
    RELEASE,
    FORGET,
    PING
  }

  private final FlightStore real;
  private final Map<Step, AtomicInteger> failures = new EnumMap<>(Step.class);
  private final Map<Step, AtomicInteger> lostReplies = new EnumMap<>(Step.class);
  private final Map<Step, Runnable> before = new ConcurrentHashMap<>();
  private final Map<Step, Runnable> after = new ConcurrentHashMap<>();
  private final Map<Step, AtomicInteger> sent = new EnumMap<>(Step.class);

  public FaultyStore(FlightStore real) {
    this.real = real;
    for (Step step : Step.values()) {
      failures.put(step, new AtomicInteger());
      lostReplies.put(step, new AtomicInteger());
      sent.put(step, new AtomicInteger());
    }
  }

  /** The next {@code times} sendings of this step never arrive. */
  public FaultyStore fail(Step step, int times) {
    failures.get(step).set(times);
    return this;
  }

  /** No step arrives until {@link #heal}. */
  public void takeAway() {
    for (Step step : Step.values()) {
      fail(step, Integer.MAX_VALUE);
    }
  }

  /** Redis is back. */
  public void heal() {
    failures.values().forEach(count -> count.set(0));
    lostReplies.values().forEach(count -> count.set(0));
  }

  /** The next {@code times} sendings of this step take effect, their replies are lost. */
  public FaultyStore loseReply(Step step, int times) {
    lostReplies.get(step).set(times);
    return this;
  }

  /** Runs once, right before the next sending of this step. */
  public FaultyStore before(Step step, Runnable action) {
    before.put(step, action);
    return this;
  }

  /** Runs once, when the next reply to this step has come and nobody has heard of it yet. */
  public FaultyStore after(Step step, Runnable action) {
    after.put(step, action);
    return this;
  }

  /** How often this step was sent, in vain or not. */
  public int sent(Step step) {
    return sent.get(step).get();
  }

  private <T> CompletableFuture<T> through(Step step, Supplier<CompletableFuture<T>> send) {
    sent.get(step).incrementAndGet();
    Runnable beforehand = before.remove(step);
    if (beforehand != null) {
      beforehand.run();
    }
    if (use(failures.get(step))) {
      return CompletableFuture.failedFuture(
          new StoreUnavailableException(
              step + " was taken away by the test", null, StoreUnavailableException.Redis.AWAY));
    }
    CompletableFuture<T> reply = send.get();
    Runnable afterwards = after.remove(step);
    if (afterwards != null) {
      // Not on the thread that reads replies: the action may wait for others.
      reply =
          reply.thenApplyAsync(
              answer -> {
                afterwards.run();
                return answer;
              });
    }
    if (use(lostReplies.get(step))) {
      return reply.thenApply(
          ignored -> {
            throw new StoreUnavailableException(
                step + "'s reply was lost by the test", null, StoreUnavailableException.Redis.AWAY);
          });
    }
    return reply;
  }

  private static boolean use(AtomicInteger left) {
    return left.getAndUpdate(n -> n > 0 && n < Integer.MAX_VALUE ? n - 1 : n) > 0;
  }

  @Override
  public CompletableFuture<Acquired> acquire(FlightKey key, AcquireRequest request) {
    return through(Step.ACQUIRE, () -> real.acquire(key, request));
  }

  @Override
  public CompletableFuture<Answer> confirm(FlightKey key, OwnerStamp owner, long runningTtlMillis) {
    return through(Step.CONFIRM, () -> real.confirm(key, owner, runningTtlMillis));
  }

  @Override
  public CompletableFuture<Answer> heartbeat(
      FlightKey key, OwnerStamp owner, long runningTtlMillis) {
    return through(Step.HEARTBEAT, () -> real.heartbeat(key, owner, runningTtlMillis));
  }

  @Override
  public CompletableFuture<Ended> complete(FlightKey key, OwnerStamp owner, Commit commit) {
    return through(Step.COMPLETE, () -> real.complete(key, owner, commit));
  }

  @Override
  public CompletableFuture<Ended> release(
      FlightKey key, OwnerStamp owner, long ttlMillis, String reason) {
    return through(Step.RELEASE, () -> real.release(key, owner, ttlMillis, reason));
  }

  @Override
  public CompletableFuture<Forgot> forget(FlightKey key, String forgetId, long runningTtlMillis) {
    return through(Step.FORGET, () -> real.forget(key, forgetId, runningTtlMillis));
  }

  @Override
  public CompletableFuture<Optional<FlightView>> inspect(FlightKey key) {
    return real.inspect(key);
  }

  @Override
  public CompletableFuture<List<FlightKey>> flights(int limit) {
    return real.flights(limit);
  }

  @Override
  public CompletableFuture<Boolean> ping() {
    return through(Step.PING, real::ping).handle((alive, e) -> e == null && alive);
  }

  @Override
  public void wake(FlightKey key, List<String> waiters) {
    real.wake(key, waiters);
  }

  @Override
  public void listen(WakeListener listener) {
    real.listen(listener);
  }

  @Override
  public String nodeId() {
    return real.nodeId();
  }

  @Override
  public void close() {
    real.close();
  }
}
