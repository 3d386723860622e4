package dev.soloflight.internal.coordinator;

import dev.soloflight.FlightKey;
import dev.soloflight.internal.store.FlightStore;
import dev.soloflight.internal.time.Timers;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;

/** Hands the inbox's events to whoever follows that flight on this node. */
final class WakeUps implements FlightStore.WakeListener {
  private final Map<FlightKey, List<Runnable>> followers = new ConcurrentHashMap<>();
  private final Timers timers;

  WakeUps(Timers timers) {
    this.timers = timers;
  }

  void register(FlightKey key, Runnable follower) {
    followers.merge(key, List.of(follower), WakeUps::concat);
  }

  void unregister(FlightKey key, Runnable follower) {
    followers.computeIfPresent(
        key,
        (k, registered) -> {
          List<Runnable> others = registered.stream().filter(f -> f != follower).toList();
          return others.isEmpty() ? null : others;
        });
  }

  int followed() {
    return followers.size();
  }

  @Override
  public void onWake(FlightKey key) {
    followers.getOrDefault(key, List.of()).forEach(Runnable::run);
  }

  /** Everybody looks again; many of them spread out, so that Redis is not asked all at once. */
  @Override
  public void onWakeAll() {
    List<Runnable> all = new ArrayList<>();
    followers.values().forEach(all::addAll);
    long spreadNanos = TimeUnit.MILLISECONDS.toNanos(Math.min(1_000, all.size() / 10));
    for (Runnable follower : all) {
      if (spreadNanos == 0) {
        follower.run();
      } else {
        timers.after(ThreadLocalRandom.current().nextLong(spreadNanos), follower);
      }
    }
  }

  private static List<Runnable> concat(List<Runnable> some, List<Runnable> more) {
    List<Runnable> all = new ArrayList<>(some);
    all.addAll(more);
    return List.copyOf(all);
  }
}
