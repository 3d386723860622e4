package dev.soloflight.internal.local;

import dev.soloflight.FlightConfigException;
import dev.soloflight.FlightKey;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Deque;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The flights whose tasks led to this code, innermost first: what tells a task that it asks for its
 * own key (DESIGN 4).
 */
record Chain(LocalFlight flight, @Nullable Chain outer) {

  /** Refuses a key that one of these tasks is executing already. */
  static void refuseOwnKey(@Nullable Chain chain, FlightKey key) {
    List<String> road = new ArrayList<>();
    for (Chain link = chain; link != null; link = link.outer) {
      road.add(link.flight.key().toString());
      if (link.flight.key().equals(key)) {
        Collections.reverse(road);
        throw new FlightConfigException(
            "flight "
                + key
                + " is asked for by its own task and would wait for itself: "
                + String.join(" -> ", road)
                + " -> "
                + key
                + "; call the work directly, or give the inner call a key of its own");
      }
    }
  }

  /** Refuses to wait for a flight whose task waits, on another thread, for one of these. */
  static void refuseCircle(@Nullable Chain chain, LocalFlight wanted) {
    if (chain == null) {
      return;
    }
    chain.flight.awaits().add(wanted);
    Set<LocalFlight> mine = new HashSet<>();
    for (Chain link = chain; link != null; link = link.outer) {
      mine.add(link.flight);
    }
    Set<LocalFlight> seen = new HashSet<>();
    Deque<LocalFlight> open = new ArrayDeque<>(List.of(wanted));
    while (!open.isEmpty()) {
      LocalFlight next = open.pop();
      if (mine.contains(next)) {
        chain.flight.awaits().remove(wanted);
        throw new FlightConfigException(
            "flight "
                + wanted.key()
                + " waits, through its task, for "
                + next.key()
                + ", whose task asks for it now: both would wait for ever; let one of the tasks"
                + " call the work directly");
      }
      if (seen.add(next)) {
        open.addAll(next.awaits());
      }
    }
  }

  /** The wait is over. */
  static void waitOver(@Nullable Chain chain, LocalFlight wanted) {
    if (chain != null) {
      chain.flight.awaits().remove(wanted);
    }
  }
}
