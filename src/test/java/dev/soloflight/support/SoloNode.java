package dev.soloflight.support;

import dev.soloflight.FlightKey;
import dev.soloflight.FlightMode;
import dev.soloflight.FlightResult;
import dev.soloflight.FlightTask;
import dev.soloflight.SoloFlight;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.function.UnaryOperator;

/** A node as its users build it, through the public API alone, with calls from threads of it. */
public final class SoloNode implements AutoCloseable {
  private final SimpleMeterRegistry registry = new SimpleMeterRegistry();
  private final SoloFlight solo;

  /** Stage {@code s} beats often and has patience; nothing is kept in L1. */
  public SoloNode(String redisUri, FlightMode mode) {
    this(redisUri, mode, builder -> builder);
  }

  /** The same, with other settings on top. */
  public SoloNode(
      String redisUri, FlightMode mode, UnaryOperator<SoloFlight.Builder> furtherSettings) {
    solo =
        furtherSettings
            .apply(
                SoloFlight.builder()
                    .redisUri(redisUri)
                    .mode(mode)
                    .meterRegistry(registry)
                    .followerMaxWait(Duration.ofSeconds(60))
                    .stage(
                        "s",
                        rules ->
                            rules
                                .heartbeatInterval(Duration.ofMillis(200))
                                .takeoverDetect(Duration.ofSeconds(45))
                                .runningTtl(Duration.ofSeconds(90))
                                .l1Ttl(Duration.ZERO)
                                .retryOn(java.io.IOException.class)))
            .build();
  }

  public SoloFlight solo() {
    return solo;
  }

  /** The value, from this thread. */
  public FlightResult<String> call(FlightKey key, FlightTask<String> task) {
    return solo.call(key, String.class, task);
  }

  /** The same from a thread of its own. */
  public CompletableFuture<FlightResult<String>> inThread(FlightKey key, FlightTask<String> task) {
    CompletableFuture<FlightResult<String>> result = new CompletableFuture<>();
    Thread thread =
        new Thread(
            () -> {
              try {
                result.complete(call(key, task));
              } catch (Throwable e) {
                result.completeExceptionally(e);
              }
            },
            "a-caller");
    thread.setDaemon(true);
    thread.start();
    return result;
  }

  /** What this counter says. */
  public double count(String name, String... tags) {
    return registry.find(name).tags(tags).counters().stream()
        .mapToDouble(counter -> counter.count())
        .sum();
  }

  /** What this gauge says. */
  public double gauge(String name) {
    return registry.get(name).gauge().value();
  }

  @Override
  public void close() {
    solo.close();
  }
}
