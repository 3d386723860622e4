package dev.soloflight;

import static org.assertj.core.api.Assertions.assertThat;

import dev.soloflight.support.TestRedis;
import dev.soloflight.support.WithRedis;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/** DESIGN 3.4: a forgotten execution's own callers get its result, nobody else does. */
@WithRedis
class ForgottenElsewhereTest {
  private static final FlightKey KEY = FlightKey.of("s", "forgotten");

  private SoloFlight here;
  private SoloFlight there;

  @BeforeEach
  void open(TestRedis redis) {
    here = node(redis);
    there = node(redis);
  }

  @AfterEach
  void close() {
    here.close();
    there.close();
  }

  private static SoloFlight node(TestRedis redis) {
    return SoloFlight.builder()
        .redisUri(redis.uri())
        .stage("s", stage -> stage.heartbeatInterval(Duration.ofMillis(50)))
        .build();
  }

  @Test
  @DisplayName("Case 23: an old value does not come back after a forget during its execution")
  void a_caller_that_comes_after_its_node_has_learned_of_a_forget_does_not_join_the_old_execution()
      throws Exception {
    CompletableFuture<String> old = new CompletableFuture<>();
    CountDownLatch begun = new CountDownLatch(1);
    CountDownLatch lost = new CountDownLatch(1);
    CompletableFuture<FlightResult<String>> ownCaller =
        here.callAsync(
            KEY,
            String.class,
            flight -> {
              flight.onOwnershipLost(lost::countDown);
              begun.countDown();
              return old;
            });
    CompletableFuture<FlightResult<String>> waiter =
        here.callAsync(KEY, String.class, flight -> CompletableFuture.completedFuture("waiter's"));
    assertThat(begun.await(10, TimeUnit.SECONDS)).isTrue();
    assertThat(there.forget(KEY)).isTrue();
    assertThat(lost.await(10, TimeUnit.SECONDS)).isTrue();

    FlightResult<String> later =
        here.callAsync(KEY, String.class, flight -> CompletableFuture.completedFuture("new"))
            .get(10, TimeUnit.SECONDS);
    old.complete("old");

    assertThat(later.value()).isEqualTo("new");
    assertThat(ownCaller.get(10, TimeUnit.SECONDS).value()).isEqualTo("old");
    assertThat(waiter.get(10, TimeUnit.SECONDS).value()).isEqualTo("old");
    assertThat(there.execute(KEY, String.class, flight -> "not run")).isEqualTo("new");
  }
}
