package dev.soloflight.cli;

import dev.soloflight.internal.policy.SoloFlightConfig;
import java.io.IOException;
import java.io.PrintWriter;
import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.ThreadLocalRandom;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** Shows what SoloFlight is for: real JVMs, a real Redis, real HTTP. */
@Command(
    name = "demo",
    description = {
      "Replays recorded calls on a cluster of JVMs and counts what the model was really asked.",
      "Starts a Redis and a small model endpoint of its own unless given one."
    })
final class DemoCommand implements Callable<Integer> {
  private static final int MAX_NODES = 32;
  private static final Duration LEAST_LATENCY = Duration.ofMillis(1200);
  private static final Duration MOST_LATENCY = Duration.ofMillis(2400);

  /** The model thinks longer about the call whose owner is killed meanwhile. */
  private static final Duration KILLED_LATENCY = Duration.ofSeconds(4);

  @Option(
      names = "--redis",
      paramLabel = "URI",
      description = "A Redis to use. Without it: an embedded one on a free port.")
  private @Nullable String redis;

  @Option(
      names = "--nodes",
      paramLabel = "N",
      defaultValue = "3",
      description = "How many JVMs (default ${DEFAULT-VALUE}).")
  private int nodes;

  @Option(
      names = "--requests",
      paramLabel = "FILE",
      description = "The calls, one JSON a line (default config/demo/interview-requests.jsonl).")
  private Path requests = DemoRequests.SHIPPED;

  @Option(
      names = "--model-url",
      paramLabel = "URL",
      description = {
        "An OpenAI-compatible endpoint, up to and with /v1; costs money where it does.",
        "Key and model from OPENAI_API_KEY and OPENAI_MODEL."
      })
  private @Nullable String modelUrl;

  @Option(
      names = "--config",
      paramLabel = "FILE",
      description = "The nodes' soloflight.yml. Without it: the defaults.")
  private @Nullable Path config;

  @Option(
      names = "--kill-owner",
      description = "In the end, kill the JVM that owns a flight while it calls the model.")
  private boolean killOwner;

  @Option(names = "--json", description = "End with one JSON object on stdout.")
  private boolean json;

  @Spec private CommandSpec spec = CommandSpec.create();

  @Override
  public Integer call() throws Exception {
    check();
    List<DemoRequest> recorded = read();
    PrintWriter out = spec.commandLine().getOut();
    DemoProgress progress = new DemoProgress(spec.commandLine().getErr());
    DemoReport report;
    // Checked before anything is started.
    SoloFlightConfig settings =
        load(Map.of("redis.uri", redis == null ? "redis://127.0.0.1:6379" : redis));
    String namespace =
        settings.namespace()
            + "-demo-"
            + Long.toString(ThreadLocalRandom.current().nextLong(1L << 40), 36);
    try (EmbeddedRedis own = redis == null ? EmbeddedRedis.start() : null;
        ModelEndpoint model =
            modelUrl == null ? ModelEndpoint.start(0, DemoCommand::latency) : null) {
      String uri = own == null ? String.valueOf(redis) : own.uri();
      Map<String, String> overrides = new LinkedHashMap<>();
      overrides.put("redis.uri", uri);
      // A namespace of its own: an earlier demo's replays, and anybody's flights, stay out of it.
      overrides.put("namespace", namespace);
      SoloFlightConfig used = load(overrides);
      progress.say(
          "Redis: "
              + (own == null ? "as given" : uri + " (embedded)")
              + ", model: "
              + (model == null ? modelUrl : model.baseUrl() + " (local)"));
      DemoWire.Setup setup =
          new DemoWire.Setup(
              config == null ? null : config.toString(),
              overrides,
              model == null ? String.valueOf(modelUrl) : model.baseUrl(),
              model != null);
      try (DemoRun run = DemoRun.start(nodes, setup, used, model, progress)) {
        run.replay(recorded);
        if (killOwner) {
          run.killOwner();
        }
        report = run.report();
      }
    } catch (IOException e) {
      throw CliException.failed("the demo cannot run: " + e.getMessage());
    }
    progress.clear();
    if (json) {
      out.println(Json.line(report.toJson()));
      report.failures().forEach(progress::say);
    } else {
      report.lines().forEach(out::println);
    }
    return report.asPromised() ? 0 : 1;
  }

  private void check() {
    if (nodes < 1 || nodes > MAX_NODES) {
      throw CliException.usage("--nodes is " + nodes + "; expected 1 to " + MAX_NODES);
    }
    if (killOwner && nodes < 2) {
      throw CliException.usage("--kill-owner needs a node that takes over: --nodes 2 or more");
    }
    if (modelUrl != null) {
      try {
        URI uri = URI.create(modelUrl);
        if (uri.getHost() == null || !String.valueOf(uri.getScheme()).matches("https?")) {
          throw new IllegalArgumentException("no http URL");
        }
      } catch (IllegalArgumentException e) {
        throw CliException.usage(
            "--model-url is '" + modelUrl + "'; expected for example https://host/v1");
      }
    }
  }

  private List<DemoRequest> read() {
    try {
      return DemoRequests.read(requests);
    } catch (IOException e) {
      throw CliException.usage(
          "--requests " + requests + " cannot be read (" + e.getClass().getSimpleName() + ")");
    } catch (IllegalArgumentException e) {
      throw CliException.usage(String.valueOf(e.getMessage()));
    }
  }

  private SoloFlightConfig load(Map<String, String> overrides) {
    return ConnectionOptions.load(config, overrides).config();
  }

  private static Duration latency(String prompt) {
    return prompt.contains(DemoRun.KILLED_QUESTION)
        ? KILLED_LATENCY
        : ModelEndpoint.between(LEAST_LATENCY, MOST_LATENCY).apply(prompt);
  }
}
