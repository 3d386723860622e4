package dev.soloflight.internal.coordinator;

import static org.assertj.core.api.Assertions.assertThat;

import dev.soloflight.FlightKey;
import dev.soloflight.internal.metrics.FlightMetrics;
import dev.soloflight.internal.policy.ConfigLoader;
import dev.soloflight.internal.policy.ConfigSource;
import dev.soloflight.internal.policy.SoloFlightConfig;
import dev.soloflight.internal.store.Commit;
import dev.soloflight.internal.store.LettuceFlightStore;
import dev.soloflight.internal.time.SystemTimers;
import dev.soloflight.support.FaultyStore;
import dev.soloflight.support.FaultyStore.Step;
import dev.soloflight.support.TestRedis;
import dev.soloflight.support.WithRedis;
import io.lettuce.core.api.sync.RedisCommands;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;

/** DESIGN 3.2: sent twice, same effect; on a real Redis, with the wake-up at the worst moment. */
@WithRedis
class ToldTwiceTest {
  @Test
  void a_wake_up_between_the_answer_and_its_ticket_does_not_release_what_was_handed_out(
      TestRedis server, RedisCommands<String, String> redis) throws Exception {
    FlightKey key = FlightKey.of("s", "told twice");
    String record = "soloflight:{default:" + key.id() + "}";
    SoloFlightConfig config =
        ConfigLoader.load(ConfigSource.builtIn().withOverrides(Map.of("redis.uri", server.uri())))
            .config();
    SystemTimers timers = new SystemTimers("soloflight-test-timer");
    SimpleMeterRegistry registry = new SimpleMeterRegistry();
    FaultyStore store = new FaultyStore(new LettuceFlightStore(config, "told-twice", timers));
    ClusterCoordinator coordinator =
        new ClusterCoordinator(
            store,
            timers,
            new FlightMetrics(registry),
            true,
            Duration.ofMinutes(1),
            Duration.ofSeconds(1));
    try {
      // A stage's meters are made when it first counts something: here, while a damaged record's
      // answer is being made a ticket.
      redis.hset(record, Map.of("v", "2", "status", "SUCCEEDED"));
      redis.pexpire(record, 60_000);
      AtomicBoolean woken = new AtomicBoolean();
      registry
          .config()
          .onMeterAdded(
              meter -> {
                if (woken.compareAndSet(false, true)) {
                  coordinator.wakeUps().onWake(key);
                }
              });
      Ticket ticket = coordinator.pursue(key, config.stage("s")).next(0).get(10, TimeUnit.SECONDS);

      assertThat(ticket).isInstanceOf(Ticket.Own.class);
      Ownership ownership = ((Ticket.Own) ticket).ownership();
      // Sent after the second asking on the same connection: when it is answered, so is that.
      assertThat(ownership.confirm().get(10, TimeUnit.SECONDS)).isTrue();
      assertThat(woken).as("woken at the worst moment").isTrue();
      assertThat(store.sent(Step.ACQUIRE)).as("asked twice").isEqualTo(2);
      assertThat(store.sent(Step.RELEASE)).isZero();
      assertThat(redis.hget(record, "status")).isEqualTo("RUNNING");
      byte[] payload = "dg==".getBytes(StandardCharsets.US_ASCII);
      assertThat(
              ownership
                  .complete(new Commit.Success("string", 1, "", payload, 60_000), Long.MAX_VALUE)
                  .get(10, TimeUnit.SECONDS))
          .isInstanceOf(Settlement.Published.class);
      assertThat(redis.hget(record, "status")).isEqualTo("SUCCEEDED");
    } finally {
      coordinator.close();
      store.close();
      timers.close();
    }
  }
}
