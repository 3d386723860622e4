package dev.soloflight.internal.local;

import com.github.benmanes.caffeine.cache.Cache;
import com.github.benmanes.caffeine.cache.Caffeine;
import com.github.benmanes.caffeine.cache.Expiry;
import dev.soloflight.FlightKey;
import dev.soloflight.internal.time.Timers;
import java.lang.reflect.Type;
import org.jspecify.annotations.Nullable;

/** Outcomes kept in this JVM, each for no longer than its record lives (DESIGN 4). */
final class L1Cache {
  /** An outcome and the type it was computed for. */
  record Entry(Outcome outcome, Type type, long ttlNanos) {}

  private final Cache<FlightKey, Entry> cache;

  L1Cache(int maxEntries, Timers timers) {
    cache =
        Caffeine.newBuilder()
            .maximumSize(maxEntries)
            .ticker(timers::nanoTime)
            .executor(Runnable::run)
            .expireAfter(
                Expiry.<FlightKey, Entry>creating(
                    (key, entry) -> java.time.Duration.ofNanos(entry.ttlNanos())))
            .build();
  }

  @Nullable Entry get(FlightKey key) {
    return cache.getIfPresent(key);
  }

  void put(FlightKey key, Outcome outcome, Type type, long ttlNanos) {
    if (ttlNanos > 0) {
      cache.put(key, new Entry(outcome, type, ttlNanos));
    }
  }

  boolean remove(FlightKey key) {
    return cache.asMap().remove(key) != null;
  }

  void clear() {
    cache.invalidateAll();
  }
}
