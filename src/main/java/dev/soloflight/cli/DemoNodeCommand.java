package dev.soloflight.cli;

import dev.soloflight.FlightKey;
import dev.soloflight.SoloFlight;
import dev.soloflight.cli.DemoWire.Answered;
import dev.soloflight.cli.DemoWire.Call;
import dev.soloflight.cli.DemoWire.Counted;
import dev.soloflight.cli.DemoWire.Event;
import dev.soloflight.cli.DemoWire.Failed;
import dev.soloflight.cli.DemoWire.ModelCalled;
import dev.soloflight.cli.DemoWire.Order;
import dev.soloflight.cli.DemoWire.Ready;
import dev.soloflight.cli.DemoWire.Setup;
import dev.soloflight.interview.AiClient;
import dev.soloflight.interview.InterviewAiInvoker;
import dev.soloflight.interview.LangChain4jAiClient;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;

/**
 * One node of the demo's cluster: takes calls from stdin and makes them as a service would. Ends
 * with its stdin, so that it never outlives the demo.
 */
@Command(name = DemoNodeCommand.NAME, hidden = true, description = "A node of the demo's cluster.")
final class DemoNodeCommand implements Callable<Integer> {
  static final String NAME = "demo-node";

  /** An endpoint that wants a key finds it here. */
  static final String API_KEY = "OPENAI_API_KEY";

  /** Which model a given endpoint is asked for. */
  static final String MODEL = "OPENAI_MODEL";

  private static final String WARM_UP = "demo-warm-up";

  private final PrintStream out = new PrintStream(System.out, true, StandardCharsets.UTF_8);

  @Override
  public Integer call() throws Exception {
    BufferedReader in =
        new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
    if (!(next(in) instanceof Setup setup)) {
      throw CliException.usage("demo-node is started by demo; run that instead");
    }
    SimpleMeterRegistry meters = new SimpleMeterRegistry();
    ExecutorService callers = Executors.newCachedThreadPool();
    try (SoloFlight soloFlight = open(setup, meters)) {
      AiClient model =
          LangChain4jAiClient.builder(environment(MODEL, "demo"))
              .baseUrl(setup.modelUrl())
              .apiKey(environment(API_KEY, "none"))
              .build();
      // Connects and loads classes, which would else be part of the first call.
      soloFlight.execute(
          FlightKey.of(WARM_UP, ProcessHandle.current().pid()), String.class, flight -> "warm");
      say(new Ready());
      for (Order order = next(in); order != null; order = next(in)) {
        if (order instanceof Call call) {
          callers.execute(() -> make(call, soloFlight, model, setup.typed()));
        } else {
          say(counted(meters));
        }
      }
    } finally {
      callers.shutdownNow();
    }
    return 0;
  }

  private static SoloFlight open(Setup setup, SimpleMeterRegistry meters) {
    SoloFlight.Builder builder = SoloFlight.builder().meterRegistry(meters);
    if (setup.configFile() != null) {
      builder.config(Path.of(setup.configFile()));
    }
    setup.settings().forEach(builder::set);
    return builder.build();
  }

  private static @Nullable Order next(BufferedReader in) throws IOException {
    String line = in.readLine();
    return line == null ? null : DemoWire.readOrder(line);
  }

  private void make(Call call, SoloFlight soloFlight, AiClient model, boolean typed) {
    AiClient watched =
        request -> {
          say(new ModelCalled(call.id()));
          return model.chat(request);
        };
    InterviewAiInvoker invoker = new InterviewAiInvoker(soloFlight, watched);
    Event event;
    try {
      Class<?> type = typed ? DemoAnswer.class : String.class;
      event = new Answered(call.id(), call.request().send(invoker, type));
    } catch (RuntimeException e) {
      event = new Failed(call.id(), e.getClass().getSimpleName() + ": " + e.getMessage());
    }
    say(event);
  }

  private static Counted counted(SimpleMeterRegistry meters) {
    Map<String, Long> bySource = new TreeMap<>();
    for (Counter counter : meters.find("soloflight.calls").counters()) {
      long calls = (long) counter.count();
      String source = counter.getId().getTag("source");
      if (calls > 0 && source != null && !WARM_UP.equals(counter.getId().getTag("stage"))) {
        bySource.merge(source, calls, Long::sum);
      }
    }
    double takeovers =
        meters.find("soloflight.takeovers").counters().stream().mapToDouble(Counter::count).sum();
    return new Counted(bySource, (long) takeovers);
  }

  private static String environment(String name, String otherwise) {
    String value = System.getenv(name);
    return value == null || value.isBlank() ? otherwise : value;
  }

  /** One line at a time, whichever thread says it. */
  private void say(Event event) {
    out.println(DemoWire.write(event));
  }
}
