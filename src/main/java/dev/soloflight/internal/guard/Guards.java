package dev.soloflight.internal.guard;

import dev.soloflight.FlightKey;
import dev.soloflight.internal.policy.GuardPolicy;
import dev.soloflight.internal.policy.StagePolicy;
import dev.soloflight.internal.time.Timers;
import io.github.resilience4j.bulkhead.Bulkhead;
import io.github.resilience4j.bulkhead.BulkheadConfig;
import io.github.resilience4j.circuitbreaker.CircuitBreaker;
import io.github.resilience4j.circuitbreaker.CircuitBreakerConfig;
import io.github.resilience4j.ratelimiter.RateLimiter;
import io.github.resilience4j.ratelimiter.RateLimiterConfig;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/** The limits of every stage of one instance. */
public final class Guards {
  private final Timers timers;
  private final Map<String, Limits> stages = new ConcurrentHashMap<>();

  public Guards(Timers timers) {
    this.timers = timers;
  }

  /** One execution of this flight's task; limits are asked when it runs. */
  public GuardedCall newCall(FlightKey key, StagePolicy policy) {
    Limits limits =
        policy.guard().equals(GuardPolicy.OFF)
            ? Limits.NONE
            : stages.computeIfAbsent(
                key.stage(),
                stage -> Limits.of("stages." + stage + ".guard.", policy.guard(), timers));
    return new GuardedCall(key, limits, timers);
  }

  /** What one stage's limits keep count in. */
  record Limits(
      String path,
      GuardPolicy policy,
      @Nullable RateLimiter rate,
      @Nullable Bulkhead bulkhead,
      @Nullable CircuitBreaker breaker) {
    static final Limits NONE = new Limits("", GuardPolicy.OFF, null, null, null);

    static Limits of(String path, GuardPolicy policy, Timers timers) {
      GuardPolicy.Rate rate = policy.rate();
      GuardPolicy.Breaker breaker = policy.breaker();
      return new Limits(
          path,
          policy,
          rate == null
              ? null
              : RateLimiter.of(
                  path,
                  RateLimiterConfig.custom()
                      .limitForPeriod(rate.limit())
                      .limitRefreshPeriod(rate.period())
                      .timeoutDuration(Duration.ZERO)
                      .build()),
          policy.maxConcurrent() == 0
              ? null
              : Bulkhead.of(
                  path,
                  BulkheadConfig.custom()
                      .maxConcurrentCalls(policy.maxConcurrent())
                      .maxWaitDuration(Duration.ZERO)
                      .build()),
          breaker == null
              ? null
              : CircuitBreaker.of(
                  path,
                  CircuitBreakerConfig.custom()
                      .failureRateThreshold(breaker.failureRatePercent())
                      .slidingWindowSize(breaker.window())
                      .minimumNumberOfCalls(breaker.window())
                      .waitDurationInOpenState(breaker.openFor())
                      .clock(new MonotonicClock(timers))
                      .currentTimestampFunction(clock -> timers.nanoTime(), TimeUnit.NANOSECONDS)
                      .permittedNumberOfCallsInHalfOpenState(1)
                      .build()));
    }
  }

  /** The wall clock may be set back while a breaker is open; this one never is. */
  private static final class MonotonicClock extends Clock {
    private final Timers timers;

    MonotonicClock(Timers timers) {
      this.timers = timers;
    }

    @Override
    public Instant instant() {
      return Instant.ofEpochSecond(0, timers.nanoTime());
    }

    @Override
    public ZoneId getZone() {
      return ZoneOffset.UTC;
    }

    @Override
    public Clock withZone(ZoneId zone) {
      return this;
    }
  }
}
