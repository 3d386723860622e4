package dev.soloflight.support;

import com.fasterxml.jackson.databind.ObjectMapper;
import dev.soloflight.AsyncFlightTask;
import dev.soloflight.FlightKey;
import dev.soloflight.FlightResult;
import dev.soloflight.FlightTask;
import dev.soloflight.internal.codec.FlightCodec;
import dev.soloflight.internal.codec.ResultCodec;
import dev.soloflight.internal.codec.ResultMapper;
import dev.soloflight.internal.coordinator.ClusterCoordinator;
import dev.soloflight.internal.guard.Guards;
import dev.soloflight.internal.local.LocalFlights;
import dev.soloflight.internal.metrics.FlightMetrics;
import dev.soloflight.internal.policy.ConfigLoader;
import dev.soloflight.internal.policy.ConfigSource;
import dev.soloflight.internal.policy.SoloFlightConfig;
import dev.soloflight.internal.store.LettuceFlightStore;
import dev.soloflight.internal.time.SystemTimers;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicInteger;

/** A node put together by hand, with a store that can be disturbed. Everything in it is real. */
public final class TestNode implements AutoCloseable {
  private static final AtomicInteger NODES = new AtomicInteger();

  private final SystemTimers timers = new SystemTimers("soloflight-test-timer");
  private final ExecutorService executor = Executors.newCachedThreadPool();
  private final SimpleMeterRegistry registry = new SimpleMeterRegistry();
  private final FaultyStore store;
  private final ClusterCoordinator coordinator;
  private final LocalFlights flights;

  /** Opens a node with these settings over the defaults; mode is hybrid unless they say else. */
  public TestNode(String redisUri, Map<String, String> settings) {
    Map<String, String> all = new HashMap<>(settings);
    all.put("redis.uri", redisUri);
    SoloFlightConfig config = ConfigLoader.load(ConfigSource.builtIn().withOverrides(all)).config();
    store =
        new FaultyStore(
            new LettuceFlightStore(config, "test-node-" + NODES.incrementAndGet(), timers));
    FlightMetrics metrics = new FlightMetrics(registry);
    coordinator =
        new ClusterCoordinator(
            store,
            timers,
            metrics,
            config.mode() == dev.soloflight.FlightMode.HYBRID,
            config.pollFallbackInterval(),
            config.redis().commandTimeout());
    ObjectMapper mapper = ResultMapper.create(config.maxResultBytes());
    flights =
        new LocalFlights(
            coordinator,
            new FlightCodec(
                new ResultCodec(mapper, config.maxResultBytes()), config.encryptionKeys()),
            mapper.getTypeFactory(),
            new Guards(timers),
            metrics,
            timers,
            executor,
            config::stage,
            config.l1MaxEntries());
  }

  public FaultyStore store() {
    return store;
  }

  public <T> FlightResult<T> call(FlightKey key, Class<T> type, FlightTask<T> task) {
    return flights.call(key, type, task);
  }

  public <T> CompletableFuture<FlightResult<T>> callAsync(
      FlightKey key, Class<T> type, AsyncFlightTask<T> task) {
    return flights.callAsync(key, type, task);
  }

  /** The same call from a thread of its own. */
  public <T> CompletableFuture<FlightResult<T>> inThread(
      FlightKey key, Class<T> type, FlightTask<T> task) {
    CompletableFuture<FlightResult<T>> result = new CompletableFuture<>();
    executor.execute(
        () -> {
          try {
            result.complete(flights.call(key, type, task));
          } catch (Throwable e) {
            result.completeExceptionally(e);
          }
        });
    return result;
  }

  public boolean forget(FlightKey key) {
    return flights.forget(key);
  }

  /** What this counter says. */
  public double count(String name, String... tags) {
    return registry.find(name).tags(tags).counters().stream()
        .mapToDouble(counter -> counter.count())
        .sum();
  }

  @Override
  public void close() {
    store.heal();
    flights.close();
    store.close();
    timers.close();
    executor.shutdownNow();
  }
}
