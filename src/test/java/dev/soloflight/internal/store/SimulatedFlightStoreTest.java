package dev.soloflight.internal.store;

import static org.assertj.core.api.Assertions.assertThat;

import dev.soloflight.FlightKey;
import dev.soloflight.support.FlightRecords;
import dev.soloflight.support.SimulatedFlightStore;
import dev.soloflight.support.VirtualTimers;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** The store that stands in for Redis in virtual time obeys the protocol as Redis does. */
class SimulatedFlightStoreTest extends FlightStoreContract {
  private final VirtualTimers clock = new VirtualTimers();
  private final SimulatedFlightStore.Server server = new SimulatedFlightStore.Server(clock);

  @Override
  FlightStore node(String nodeId) {
    return server.node(nodeId);
  }

  @Override
  FlightRecords records() {
    return server;
  }

  @Test
  void the_lease_ends_at_its_last_millisecond_not_before() {
    FlightKey key = FlightKey.of("lease", 1);
    FlightStore node = node("node-a");
    get(node.acquire(key, asking("A")));
    clock.advance(Duration.ofMillis(LEASE));
    assertThat(get(node.acquire(key, asking("B"))))
        .isInstanceOfSatisfying(
            Acquired.FollowerWait.class, wait -> assertThat(wait.waitMillis()).isEqualTo(1));
    clock.advance(Duration.ofMillis(1));
    assertThat(get(node.acquire(key, asking("B")))).isInstanceOf(Acquired.OwnerTakeover.class);
  }

  @Test
  void a_record_ends_with_its_ttl() {
    FlightKey key = FlightKey.of("ttl", 1);
    FlightStore node = node("node-a");
    get(node.acquire(key, asking("A")));
    clock.advance(Duration.ofMillis(RUNNING_TTL - 1));
    assertThat(get(node.inspect(key))).isPresent();
    clock.advance(Duration.ofMillis(1));
    assertThat(get(node.inspect(key))).isEmpty();
    assertThat(get(node.flights(1))).isEmpty();
  }

  @Test
  void an_event_reaches_the_node_that_listens_and_no_other() {
    FlightKey key = FlightKey.of("wake", 1);
    List<FlightKey> woken = new ArrayList<>();
    node("node-a")
        .listen(
            new FlightStore.WakeListener() {
              @Override
              public void onWake(FlightKey flight) {
                woken.add(flight);
              }

              @Override
              public void onWakeAll() {}
            });
    node("node-b").wake(key, List.of("node-a", "node-c"));
    clock.advance(Duration.ZERO);
    assertThat(woken).containsExactly(key);
  }
}
