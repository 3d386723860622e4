package dev.soloflight.internal.store;

import dev.soloflight.CoordinationException;
import dev.soloflight.FlightKey;
import dev.soloflight.FlightView;
import dev.soloflight.internal.policy.SoloFlightConfig;
import dev.soloflight.internal.time.SystemTimers;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;

/** Looks at the records of a namespace from outside, for the command line. */
public final class Flights {
  private Flights() {}

  /**
   * The records there are now, the longest to live last. Connects, looks, disconnects.
   *
   * @throws CoordinationException if Redis cannot be reached
   */
  public static List<FlightView> list(SoloFlightConfig config, int limit) {
    try (SystemTimers timers = new SystemTimers("soloflight-cli-timer");
        LettuceFlightStore store = new LettuceFlightStore(config, "cli", timers)) {
      List<CompletableFuture<Optional<FlightView>>> views = new ArrayList<>();
      for (FlightKey key : store.flights(limit).join()) {
        views.add(store.inspect(key));
      }
      return views.stream()
          .flatMap(view -> view.join().stream())
          .sorted(java.util.Comparator.comparing(FlightView::ttl))
          .toList();
    } catch (CompletionException e) {
      if (e.getCause() instanceof StoreUnavailableException unavailable) {
        throw new CoordinationException(String.valueOf(unavailable.getMessage()), unavailable);
      }
      throw e;
    }
  }
}
