package dev.soloflight;

import com.fasterxml.jackson.core.type.TypeReference;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.soloflight.internal.codec.FlightCodec;
import dev.soloflight.internal.codec.ResultCodec;
import dev.soloflight.internal.codec.ResultMapper;
import dev.soloflight.internal.coordinator.ClusterCoordinator;
import dev.soloflight.internal.coordinator.Coordinator;
import dev.soloflight.internal.coordinator.LocalCoordinator;
import dev.soloflight.internal.guard.Guards;
import dev.soloflight.internal.local.LocalFlights;
import dev.soloflight.internal.metrics.FlightMetrics;
import dev.soloflight.internal.policy.ConfigLoader;
import dev.soloflight.internal.policy.ConfigSource;
import dev.soloflight.internal.policy.LoadedConfig;
import dev.soloflight.internal.policy.SoloFlightConfig;
import dev.soloflight.internal.store.FlightStore;
import dev.soloflight.internal.store.LettuceFlightStore;
import dev.soloflight.internal.time.SystemTimers;
import dev.soloflight.internal.time.Timers;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.nio.file.Path;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Makes identical expensive calls one call, inside this JVM and across all JVMs that share a Redis.
 *
 * <pre>{@code
 * try (SoloFlight soloFlight = SoloFlight.open(Path.of("config/soloflight.yml"))) {
 *   String review = soloFlight.execute(
 *       FlightKey.of("interview-evaluation", sessionId, questionNumber, answer),
 *       String.class,
 *       flight -> model.ask(prompt, flight.idempotencyKey()));
 * }
 * }</pre>
 *
 * <p>One instance a service; safe to use from any number of threads, virtual ones included. What is
 * promised is in DESIGN 10: one execution a flight while Redis answers and the owner beats; an
 * outcome or a typed error for every caller by its deadline; a dead owner replaced within {@code
 * takeover-detect} + 250 ms; a paid result never thrown away.
 *
 * <p>Results are shared: the same object goes to every caller in this JVM. Treat it as immutable.
 */
public final class SoloFlight implements AutoCloseable {
  private static final Logger log = LoggerFactory.getLogger(SoloFlight.class);

  private final LocalFlights flights;
  private final @Nullable FlightStore store;
  private final Timers timers;
  private final FlightMetrics metrics;
  private final @Nullable ThreadPoolExecutor ownExecutor;
  private final AtomicBoolean closed = new AtomicBoolean();

  private SoloFlight(Builder builder, SoloFlightConfig config) {
    this.timers = new SystemTimers("soloflight-timer");
    this.metrics =
        new FlightMetrics(
            builder.meterRegistry == null ? new SimpleMeterRegistry() : builder.meterRegistry);
    ObjectMapper mapper =
        builder.objectMapper == null
            ? ResultMapper.create(config.maxResultBytes())
            : builder.objectMapper;
    this.ownExecutor = builder.asyncExecutor == null ? newExecutor() : null;
    Executor executor =
        builder.asyncExecutor == null ? Objects.requireNonNull(ownExecutor) : builder.asyncExecutor;
    Coordinator coordinator;
    if (config.mode() == FlightMode.LOCAL) {
      this.store = null;
      coordinator = new LocalCoordinator();
    } else {
      LettuceFlightStore redis = new LettuceFlightStore(config, newNodeId(), timers);
      redis.warmUp();
      this.store = redis;
      coordinator =
          new ClusterCoordinator(
              redis,
              timers,
              metrics,
              config.mode() == FlightMode.HYBRID,
              config.pollFallbackInterval(),
              config.redis().commandTimeout());
    }
    this.flights =
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

  /**
   * Opens an instance configured by a YAML file (DESIGN 8). Connecting to Redis begins at once, in
   * the background; a Redis that is away is no reason to fail.
   *
   * @throws FlightConfigException if the file cannot be read or used; every fault in one message
   */
  public static SoloFlight open(Path yaml) {
    return builder().config(yaml).build();
  }

  /** Begins an instance with the defaults of DESIGN 8. */
  public static Builder builder() {
    return new Builder();
  }

  /**
   * Runs the task, or gets the outcome of whoever runs or ran it. Blocks; if this call is the one
   * that runs the task, it does so on the calling thread.
   *
   * <p>Throws, besides what is listed, whatever the task threw when this call ran it: the task's
   * own exception as it was, checked or not.
   *
   * @return the value, which is null if the task returned null
   * @throws FlightFailedException if the flight failed in another call
   * @throws FlightTimeoutException if an owner elsewhere had no outcome within {@code
   *     follower-max-wait}
   * @throws CoordinationException in distributed mode without Redis; the task did not run
   * @throws FlightCancelledException if this thread was interrupted while waiting, or the instance
   *     is or was closed
   * @throws FlightConfigException if the key's result is of another type, or the key is asked for
   *     from inside its own task
   */
  public <T> @Nullable T execute(FlightKey key, Class<T> type, FlightTask<T> task) {
    return call(key, type, task).value();
  }

  /** Like {@link #execute(FlightKey, Class, FlightTask)}, for a generic type. */
  public <T> @Nullable T execute(FlightKey key, TypeReference<T> type, FlightTask<T> task) {
    return call(key, type, task).value();
  }

  /** Like {@link #execute(FlightKey, Class, FlightTask)}, and tells where the value came from. */
  public <T> FlightResult<T> call(FlightKey key, Class<T> type, FlightTask<T> task) {
    Objects.requireNonNull(key, "key");
    Objects.requireNonNull(type, "type");
    Objects.requireNonNull(task, "task");
    return flights.call(key, type, task);
  }

  /** Like {@link #call(FlightKey, Class, FlightTask)}, for a generic type. */
  public <T> FlightResult<T> call(FlightKey key, TypeReference<T> type, FlightTask<T> task) {
    Objects.requireNonNull(key, "key");
    Objects.requireNonNull(type, "type");
    Objects.requireNonNull(task, "task");
    return flights.call(key, type.getType(), task);
  }

  /**
   * The asynchronous form: holds no thread while waiting. The task is started, and the future
   * completed, on the async executor.
   *
   * <p>The future fails with what {@link #execute} throws. Cancelling it makes this caller go: the
   * task goes on while anybody else waits for it, and is cancelled with the last one.
   */
  public <T> CompletableFuture<FlightResult<T>> callAsync(
      FlightKey key, Class<T> type, AsyncFlightTask<T> task) {
    Objects.requireNonNull(key, "key");
    Objects.requireNonNull(type, "type");
    Objects.requireNonNull(task, "task");
    return flights.callAsync(key, type, task);
  }

  /** Like {@link #callAsync(FlightKey, Class, AsyncFlightTask)}, for a generic type. */
  public <T> CompletableFuture<FlightResult<T>> callAsync(
      FlightKey key, TypeReference<T> type, AsyncFlightTask<T> task) {
    Objects.requireNonNull(key, "key");
    Objects.requireNonNull(type, "type");
    Objects.requireNonNull(task, "task");
    return flights.callAsync(key, type.getType(), task);
  }

  /**
   * Forgets a flight: the next caller, anywhere, executes anew. An execution still at work goes on,
   * for its own callers alone. Another node's L1 cache keeps what it has for its {@code l1.ttl}.
   *
   * @return whether there was anything to forget
   * @throws CoordinationException if Redis could not be told; the result may come back
   */
  public boolean forget(FlightKey key) {
    return flights.forget(Objects.requireNonNull(key, "key"));
  }

  /**
   * The flight's record in Redis as it stands; empty if there is none, and always in local mode.
   *
   * @throws CoordinationException if Redis cannot be reached
   */
  public Optional<FlightView> inspect(FlightKey key) {
    return flights.inspect(Objects.requireNonNull(key, "key"));
  }

  /**
   * Cancels the tasks this node runs and releases their flights, so that a node that waits for one
   * takes over at once; waiting callers get {@link FlightCancelledException}. Waits at most about
   * one command timeout. Calling it again changes nothing.
   */
  @Override
  public void close() {
    if (!closed.compareAndSet(false, true)) {
      return;
    }
    flights.close();
    if (store != null) {
      store.close();
    }
    timers.close();
    metrics.close();
    if (ownExecutor != null) {
      ownExecutor.shutdown();
    }
  }

  /** Daemon threads that go when idle; never more than a few, however many flights wait. */
  private static ThreadPoolExecutor newExecutor() {
    int threads = Math.max(8, 2 * Runtime.getRuntime().availableProcessors());
    AtomicInteger number = new AtomicInteger();
    ThreadPoolExecutor executor =
        new ThreadPoolExecutor(
            threads,
            threads,
            10,
            TimeUnit.SECONDS,
            new LinkedBlockingQueue<>(),
            task -> {
              Thread thread = new Thread(task, "soloflight-async-" + number.incrementAndGet());
              thread.setDaemon(true);
              return thread;
            });
    executor.allowCoreThreadTimeOut(true);
    return executor;
  }

  /** Tells which process it is at 3 a.m.; the random part makes it unique. */
  private static String newNodeId() {
    String host = System.getenv("HOSTNAME");
    String name = host == null ? "node" : host.replaceAll("[^A-Za-z0-9.-]", "-");
    return name
        + "-"
        + ProcessHandle.current().pid()
        + "-"
        + Long.toString(ThreadLocalRandom.current().nextLong(1L << 40), 36);
  }

  /** Collects settings; each overrides the YAML file's. Not safe for concurrent use. */
  public static final class Builder {
    private final Map<String, String> settings = new LinkedHashMap<>();
    private @Nullable Path yaml;
    private @Nullable MeterRegistry meterRegistry;
    private @Nullable ObjectMapper objectMapper;
    private @Nullable Executor asyncExecutor;

    private Builder() {}

    /** Reads this YAML file when built (DESIGN 8). */
    public Builder config(Path file) {
      this.yaml = Objects.requireNonNull(file, "file");
      return this;
    }

    /** Where identical calls are collapsed. */
    public Builder mode(FlightMode mode) {
      return set("mode", mode.name().toLowerCase(java.util.Locale.ROOT));
    }

    /** How Redis is reached, for example {@code redis://127.0.0.1:6379}. */
    public Builder redisUri(String uri) {
      return set("redis.uri", uri);
    }

    /** How long one Redis command may take. */
    public Builder commandTimeout(Duration timeout) {
      return set("redis.command-timeout", millis(timeout));
    }

    /** Keeps services and tenants that share a Redis apart. */
    public Builder namespace(String namespace) {
      return set("namespace", namespace);
    }

    /** First part of every key in Redis. */
    public Builder prefix(String prefix) {
      return set("prefix", prefix);
    }

    /** How long a caller waits for another owner's outcome. */
    public Builder followerMaxWait(Duration wait) {
      return set("follower-max-wait", millis(wait));
    }

    /** The rules of one stage. */
    public Builder stage(String stage, Consumer<StageSettings> rules) {
      StageSettings collected = new StageSettings();
      rules.accept(collected);
      settings.putAll(collected.overrides(stage));
      return this;
    }

    /** Any key of DESIGN 8 by its dotted path, for example {@code l1.ttl} and {@code 10s}. */
    public Builder set(String path, String value) {
      settings.put(Objects.requireNonNull(path, "path"), Objects.requireNonNull(value, "value"));
      return this;
    }

    /** Where meters are registered; without one they are kept by the instance. */
    public Builder meterRegistry(MeterRegistry registry) {
      this.meterRegistry = Objects.requireNonNull(registry, "registry");
      return this;
    }

    /** How results become JSON and back; the default knows records, java.time and Optional. */
    public Builder objectMapper(ObjectMapper mapper) {
      this.objectMapper = Objects.requireNonNull(mapper, "mapper");
      return this;
    }

    /**
     * Where asynchronous tasks are started and futures completed. Beats and wake-ups never depend
     * on it. It is not shut down by {@link SoloFlight#close}.
     */
    public Builder asyncExecutor(Executor executor) {
      this.asyncExecutor = Objects.requireNonNull(executor, "executor");
      return this;
    }

    /**
     * Builds the instance. Connecting to Redis begins at once, in the background; a Redis that is
     * away is no reason to fail.
     *
     * @throws FlightConfigException if the settings cannot work; every fault in one message
     */
    public SoloFlight build() {
      LoadedConfig loaded =
          ConfigLoader.load(
              (yaml == null ? ConfigSource.builtIn() : ConfigSource.file(yaml))
                  .withOverrides(settings));
      loaded.warnings().forEach(warning -> log.warn("{}", warning));
      return new SoloFlight(this, loaded.config());
    }

    private static String millis(Duration duration) {
      return StageSettings.millis(duration) + "ms";
    }
  }
}
