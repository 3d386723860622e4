package dev.soloflight.internal.coordinator;

import dev.soloflight.internal.store.FlightStore;
import dev.soloflight.internal.time.Timers;
import io.github.resilience4j.circuitbreaker.CircuitBreaker;
import io.github.resilience4j.circuitbreaker.CircuitBreakerConfig;
import java.time.Duration;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Hybrid mode's circuit breaker (DESIGN 5). While it is open no call asks Redis, so a dead Redis
 * costs nothing; a ping of our own, not a caller, finds out when it is back.
 *
 * <p>A Redis that answers pings and refuses everything else opens it again and again; the log hears
 * of that once a minute.
 */
final class RedisHealth {
  private static final Logger log = LoggerFactory.getLogger(RedisHealth.class);
  private static final long PROBE_MILLIS = 500;
  private static final long SETTLED_NANOS = TimeUnit.SECONDS.toNanos(5);
  private static final long QUIET_NANOS = TimeUnit.MINUTES.toNanos(1);

  private final FlightStore store;
  private final Timers timers;
  private final CircuitBreaker breaker;
  private volatile String lastFailure = "";

  private final ReentrantLock lock = new ReentrantLock();
  // Guarded by the lock.
  private boolean announced;
  private long quietUntilNanos;

  RedisHealth(FlightStore store, Timers timers) {
    this.store = store;
    this.timers = timers;
    this.quietUntilNanos = timers.nanoTime();
    this.breaker =
        CircuitBreaker.of(
            "soloflight-redis",
            CircuitBreakerConfig.custom()
                .slidingWindowSize(6)
                .minimumNumberOfCalls(3)
                .failureRateThreshold(50)
                .waitDurationInOpenState(Duration.ofDays(1))
                .build());
    breaker
        .getEventPublisher()
        .onStateTransition(
            event -> {
              if (event.getStateTransition().getToState() == CircuitBreaker.State.OPEN) {
                announceOutage();
                probeLater();
              } else if (event.getStateTransition().getToState() == CircuitBreaker.State.CLOSED) {
                // It answers a ping; whether it does more, the next calls tell.
                timers.after(SETTLED_NANOS, this::announceReturn);
              }
            });
  }

  boolean reachable() {
    return breaker.getState() == CircuitBreaker.State.CLOSED;
  }

  void answered() {
    breaker.onSuccess(0, TimeUnit.NANOSECONDS);
  }

  void failed(Throwable e) {
    lastFailure = ClusterCoordinator.whatIsAmiss(e);
    breaker.onError(0, TimeUnit.NANOSECONDS, e);
  }

  private void announceOutage() {
    lock.lock();
    try {
      if (announced || timers.nanoTime() - quietUntilNanos < 0) {
        return;
      }
      announced = true;
      quietUntilNanos = timers.nanoTime() + QUIET_NANOS;
    } finally {
      lock.unlock();
    }
    log.warn("{}: calls are collapsed inside this JVM only until it is back", lastFailure);
  }

  private void announceReturn() {
    lock.lock();
    try {
      if (!announced || !reachable()) {
        return;
      }
      announced = false;
    } finally {
      lock.unlock();
    }
    log.info("Redis is back: calls are coordinated across the cluster again");
  }

  private void probeLater() {
    long delayMillis = PROBE_MILLIS / 2 + ThreadLocalRandom.current().nextLong(PROBE_MILLIS);
    timers.after(TimeUnit.MILLISECONDS.toNanos(delayMillis), this::probe);
  }

  private void probe() {
    store
        .ping()
        .thenAccept(
            alive -> {
              if (alive) {
                breaker.transitionToClosedState();
              } else {
                announceOutage();
                probeLater();
              }
            });
  }
}
