package dev.soloflight.internal.metrics;

import dev.soloflight.Source;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tags;
import io.micrometer.core.instrument.Timer;
import java.util.EnumMap;
import java.util.Locale;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;

/**
 * What one instance counts. Tags are the stage and a few fixed words: never a key, never a text.
 *
 * <p>Every call is counted exactly once in {@code soloflight.calls}, by source and outcome; {@code
 * source="none"} are the calls that ended without an outcome of their flight (timeout,
 * cancellation, Redis out of reach).
 */
public final class FlightMetrics implements AutoCloseable {
  private final MeterRegistry registry;
  private final Map<String, StageMetrics> stages = new ConcurrentHashMap<>();
  private final Queue<Gauge> gauges = new ConcurrentLinkedQueue<>();

  /** Registers in this registry. */
  public FlightMetrics(MeterRegistry registry) {
    this.registry = registry;
  }

  /** The meters of one stage; the same object for the same stage. */
  public StageMetrics stage(String stage) {
    return stages.computeIfAbsent(stage, name -> new StageMetrics(registry, name));
  }

  /**
   * A value read when somebody looks. Where instances share a registry, it is that of the first one
   * until it is closed.
   */
  public void gauge(String name, String description, Supplier<Number> value) {
    if (registry.find(name).gauge() == null) {
      gauges.add(
          Gauge.builder(name, value)
              .description(description)
              .strongReference(true)
              .register(registry));
    }
  }

  /** What was counted stays; a gauge would hold, and show, an instance that is no more. */
  @Override
  public void close() {
    gauges.forEach(registry::remove);
    gauges.clear();
  }

  /** The meters of one stage. */
  public static final class StageMetrics {
    private static final String CALLS = "soloflight.calls";

    private final MeterRegistry registry;
    private final Tags tags;
    private final Map<Source, Counter> succeeded = new EnumMap<>(Source.class);
    private final Map<Source, Counter> failed = new EnumMap<>(Source.class);
    private final Counter withoutOutcome;
    private final Timer executionSucceeded;
    private final Timer executionFailed;
    private final Timer wait;
    private final Counter takeovers;
    private final Counter damaged;

    private StageMetrics(MeterRegistry registry, String stage) {
      this.registry = registry;
      this.tags = Tags.of("stage", stage);
      for (Source source : Source.values()) {
        succeeded.put(source, calls(tagOf(source), "success"));
        failed.put(source, calls(tagOf(source), "failure"));
      }
      this.withoutOutcome = calls("none", "failure");
      this.executionSucceeded = timer("soloflight.execution", "success");
      this.executionFailed = timer("soloflight.execution", "failure");
      this.wait =
          Timer.builder("soloflight.wait")
              .description("How long calls waited for an outcome that they did not compute")
              .tags(tags)
              .register(registry);
      this.takeovers = counter("soloflight.takeovers", "Flights taken over by this node");
      this.damaged =
          counter("soloflight.records.damaged", "Records found damaged or unknown, never served");
    }

    private static String tagOf(Source source) {
      return source.name().toLowerCase(Locale.ROOT).replace('_', '-');
    }

    private Counter calls(String source, String outcome) {
      return Counter.builder(CALLS)
          .description("Calls by where their outcome came from")
          .tags(tags.and("source", source, "outcome", outcome))
          .register(registry);
    }

    private Timer timer(String name, String outcome) {
      return Timer.builder(name)
          .description("Executions of the task")
          .tags(tags.and("outcome", outcome))
          .register(registry);
    }

    private Counter counter(String name, String description) {
      return Counter.builder(name).description(description).tags(tags).register(registry);
    }

    /** A call got the flight's outcome. */
    public void called(Source source, boolean success) {
      Counter counter = (success ? succeeded : failed).get(source);
      if (counter != null) {
        counter.increment();
      }
    }

    /** A call ended without an outcome. */
    public void calledInVain() {
      withoutOutcome.increment();
    }

    /** How long a call waited for somebody else's outcome. */
    public void waited(long nanos) {
      wait.record(nanos, TimeUnit.NANOSECONDS);
    }

    /** The task ran. */
    public void executed(long nanos, boolean success) {
      (success ? executionSucceeded : executionFailed).record(nanos, TimeUnit.NANOSECONDS);
    }

    /** This node replaced another owner. */
    public void tookOver() {
      takeovers.increment();
    }

    /** A record could not be used. */
    public void damaged() {
      damaged.increment();
    }

    /** A commit was refused. */
    public void commitRefused(String answer) {
      counted("soloflight.commits.refused", "Outcomes refused by the record", "answer", answer);
    }

    /** An owner learned that it owns no longer. */
    public void ownershipLost(String reason) {
      counted("soloflight.ownership.lost", "Flights lost by this node", "reason", reason);
    }

    private void counted(String name, String description, String tag, String value) {
      Counter.builder(name)
          .description(description)
          .tags(tags.and(tag, value.toLowerCase(Locale.ROOT)))
          .register(registry)
          .increment();
    }
  }
}
