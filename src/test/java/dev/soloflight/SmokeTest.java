package dev.soloflight;

import static org.assertj.core.api.Assertions.assertThat;

import dev.soloflight.support.TestRedis;
import dev.soloflight.support.WithRedis;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

@WithRedis
class SmokeTest {
  @Test
  void two_nodes_and_many_callers_are_one_execution(TestRedis redis) throws Exception {
    AtomicInteger runs = new AtomicInteger();
    try (SoloFlight a = SoloFlight.builder().redisUri(redis.uri()).build();
        SoloFlight b = SoloFlight.builder().redisUri(redis.uri()).build()) {
      var pool = Executors.newCachedThreadPool();
      List<CompletableFuture<FlightResult<String>>> all = new ArrayList<>();
      FlightKey key = FlightKey.of("s", "k");
      for (int i = 0; i < 20; i++) {
        SoloFlight node = i % 2 == 0 ? a : b;
        all.add(
            CompletableFuture.supplyAsync(
                () ->
                    node.call(
                        key,
                        String.class,
                        c -> {
                          Thread.sleep(500);
                          return "v" + runs.incrementAndGet();
                        }),
                pool));
        all.add(
            node.callAsync(
                key,
                String.class,
                c ->
                    CompletableFuture.supplyAsync(
                        () -> {
                          return "v" + runs.incrementAndGet();
                        },
                        pool)));
      }
      for (var f : all) {
        System.out.println(f.get());
        assertThat(f.get().value()).isEqualTo("v1");
      }
      System.out.println(a.inspect(key));
      System.out.println(a.call(key, String.class, c -> "x"));
      assertThat(a.forget(key)).isTrue();
      System.out.println(b.inspect(key));
      System.out.println(a.call(key, String.class, c -> "x"));
      pool.shutdown();
    }
    assertThat(runs).hasValue(1);
  }
}
