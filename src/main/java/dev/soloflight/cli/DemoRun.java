package dev.soloflight.cli;

import dev.soloflight.FlightView;
import dev.soloflight.cli.DemoNode.Said;
import dev.soloflight.internal.policy.SoloFlightConfig;
import dev.soloflight.internal.store.Flights;
import java.io.IOException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Drives the nodes: sends each call at its time to its node, and notes what comes back. One thread;
 * what the nodes say comes through a queue.
 */
final class DemoRun implements AutoCloseable {
  /** Recognized by the local endpoint, which takes its time over it. */
  static final String KILLED_QUESTION = "What happens to your lock when its holder dies?";

  private static final long START_NANOS = TimeUnit.SECONDS.toNanos(45);
  private static final long ANSWER_NANOS = TimeUnit.SECONDS.toNanos(90);
  private static final long TICK_NANOS = TimeUnit.MILLISECONDS.toNanos(50);

  private final SoloFlightConfig config;
  private final @Nullable ModelEndpoint model;
  private final DemoProgress progress;
  private final List<DemoNode> nodes = new ArrayList<>();
  private final BlockingQueue<Said> events = new LinkedBlockingQueue<>();
  private final List<Asked> calls = new ArrayList<>();
  private final Map<DemoNode, DemoWire.Counted> counted = new HashMap<>();
  private int planned;
  private int ready;
  private long modelCalledAtNanos;
  private @Nullable Long takeoverMillis;
  private @Nullable DemoNode killed;

  /** A call that was sent, and what came of it. */
  private static final class Asked {
    final DemoRequest request;
    DemoNode node;
    @Nullable String answer;
    @Nullable String error;
    int modelCalls;

    Asked(DemoRequest request, DemoNode node) {
      this.request = request;
      this.node = node;
    }

    boolean open() {
      return answer == null && error == null;
    }
  }

  private DemoRun(SoloFlightConfig config, @Nullable ModelEndpoint model, DemoProgress progress) {
    this.config = config;
    this.model = model;
    this.progress = progress;
  }

  /**
   * Starts the nodes and waits until they can take calls.
   *
   * @param model the local endpoint, or null if another one is asked
   */
  static DemoRun start(
      int count,
      DemoWire.Setup setup,
      SoloFlightConfig config,
      @Nullable ModelEndpoint model,
      DemoProgress progress)
      throws IOException, InterruptedException {
    DemoRun run = new DemoRun(config, model, progress);
    try {
      for (int number = 1; number <= count; number++) {
        DemoNode node = DemoNode.start(number, run.events::add, progress::say);
        run.nodes.add(node);
        node.send(setup);
      }
      run.handleUntil(() -> run.ready == count, START_NANOS);
      if (run.ready < count) {
        throw CliException.failed("the nodes did not start; what they said stands above");
      }
    } catch (IOException | InterruptedException | RuntimeException e) {
      run.close();
      throw e;
    }
    progress.say(
        count
            + " nodes, JVMs "
            + String.join(", ", run.nodes.stream().map(node -> "" + node.pid()).toList()));
    return run;
  }

  /** Sends the calls, each at its time, and waits for the answers. */
  void replay(List<DemoRequest> requests) throws InterruptedException {
    planned = requests.size();
    long begin = System.nanoTime();
    for (DemoRequest request : requests) {
      long due = begin + TimeUnit.MILLISECONDS.toNanos(request.atMillis());
      handleUntil(() -> System.nanoTime() - due >= 0, Long.MAX_VALUE);
      ask(request, nodes.get((request.node() - 1) % nodes.size()));
    }
    awaitAnswers();
  }

  /**
   * One more flight: its owner is killed while it calls the model and all others wait. Whoever had
   * asked the dead node asks another, as a gateway would.
   */
  void killOwner() throws InterruptedException {
    count();
    DemoNode owner = nodes.get(0);
    DemoRequest request =
        new DemoRequest(
            0,
            1,
            DemoRequest.Call.EVALUATE,
            "iv-0312-takeover",
            "1",
            KILLED_QUESTION,
            "It has a lease; whoever waits takes over when the lease ends.",
            null,
            "systems-interviewer",
            "");
    planned += nodes.size();
    Asked first = ask(request, owner);
    handleUntil(() -> first.modelCalls > 0 || !first.open(), ANSWER_NANOS);
    for (DemoNode node : nodes.subList(1, nodes.size())) {
      ask(request.onNode(node.number()), node);
    }
    handleUntil(this::allOthersWait, ANSWER_NANOS);
    if (!first.open()) {
      throw CliException.failed("the model answered before its caller could be killed");
    }
    modelCalledAtNanos = 0;
    killed = owner;
    long killedAtNanos = System.nanoTime();
    owner.kill();
    progress.say("node 1 killed in mid-call (SIGKILL); nobody told the others");
    DemoNode other = nodes.get(1);
    first.node = other;
    other.send(new DemoWire.Call(calls.indexOf(first), request.onNode(other.number())));
    handleUntil(() -> modelCalledAtNanos != 0, ANSWER_NANOS);
    if (modelCalledAtNanos != 0) {
      long millis = TimeUnit.NANOSECONDS.toMillis(modelCalledAtNanos - killedAtNanos);
      takeoverMillis = millis;
      progress.say(
          "taken over after "
              + millis
              + " ms; takeover-detect is "
              + config.stage(request.call().stage()).takeoverDetect().toMillis()
              + " ms");
    }
    awaitAnswers();
  }

  /** Asks the nodes for their counters and adds everything up. */
  DemoReport report() throws InterruptedException {
    count();
    Map<String, Long> bySource = new TreeMap<>();
    long takeovers = 0;
    for (DemoWire.Counted node : counted.values()) {
      node.bySource().forEach((source, number) -> bySource.merge(source, number, Long::sum));
      takeovers += node.takeovers();
    }
    List<String> failures = new ArrayList<>();
    Map<DemoRequest.Identity, String> answers = new HashMap<>();
    Map<DemoRequest.Call, List<Asked>> byCall = new LinkedHashMap<>();
    int differing = 0;
    for (Asked call : calls) {
      byCall.computeIfAbsent(call.request.call(), c -> new ArrayList<>()).add(call);
      if (call.answer == null) {
        failures.add(
            call.request.call().word()
                + " "
                + call.request.session()
                + " on node "
                + call.node.number()
                + ": "
                + (call.error == null ? "no answer" : call.error));
      } else {
        String first = answers.putIfAbsent(call.request.identity(), call.answer);
        differing += first == null || first.equals(call.answer) ? 0 : 1;
      }
    }
    List<DemoReport.StageLine> stages = new ArrayList<>();
    byCall.forEach(
        (call, asked) ->
            stages.add(
                new DemoReport.StageLine(
                    call.stage(), asked.size(), flights(asked), modelCalls(asked))));
    return new DemoReport(
        nodes.size(),
        calls.size(),
        flights(calls),
        model == null ? modelCalls(calls) : model.callCount(),
        differing,
        failures,
        takeovers,
        takeoverMillis,
        bySource,
        stages,
        progress.elapsedMillis());
  }

  @Override
  public void close() {
    DemoNode.closeAll(nodes);
  }

  private static int flights(List<Asked> calls) {
    return (int) calls.stream().map(call -> call.request.identity()).distinct().count();
  }

  private static int modelCalls(List<Asked> calls) {
    return calls.stream().mapToInt(call -> call.modelCalls).sum();
  }

  private Asked ask(DemoRequest request, DemoNode node) {
    Asked call = new Asked(request, node);
    calls.add(call);
    node.send(new DemoWire.Call(calls.size() - 1, request));
    return call;
  }

  private void awaitAnswers() throws InterruptedException {
    handleUntil(() -> calls.stream().noneMatch(Asked::open), ANSWER_NANOS);
  }

  private boolean allOthersWait() {
    return Flights.list(config, 1000).stream()
        .filter(flight -> flight.status().equals("RUNNING"))
        .mapToInt(FlightView::waitingNodes)
        .anyMatch(waiting -> waiting >= nodes.size() - 1);
  }

  /** What the living nodes have counted; a node that is killed next has been asked before. */
  private void count() throws InterruptedException {
    counted.keySet().removeIf(node -> node != killed);
    for (DemoNode node : nodes) {
      if (node != killed) {
        node.send(new DemoWire.Report());
      }
    }
    handleUntil(() -> counted.size() == nodes.size(), START_NANOS);
  }

  private void handleUntil(BooleanSupplier done, long patienceNanos) throws InterruptedException {
    long begin = System.nanoTime();
    while (!done.getAsBoolean() && System.nanoTime() - begin < patienceNanos) {
      Said said = events.poll(TICK_NANOS, TimeUnit.NANOSECONDS);
      if (said != null) {
        handle(said);
      }
      if (planned > 0) {
        int answered = (int) calls.stream().filter(call -> !call.open()).count();
        progress.show(calls.size(), answered, planned, modelCalls(calls));
      }
    }
  }

  private void handle(Said said) {
    DemoWire.Event event = said.event();
    if (event instanceof DemoWire.Ready) {
      ready++;
    } else if (event instanceof DemoWire.ModelCalled called) {
      calls.get(called.id()).modelCalls++;
      modelCalledAtNanos = said.atNanos();
    } else if (event instanceof DemoWire.Answered answered) {
      calls.get(answered.id()).answer = answered.answer();
    } else if (event instanceof DemoWire.Failed failed) {
      calls.get(failed.id()).error = failed.error();
    } else if (event instanceof DemoWire.Counted numbers) {
      counted.put(said.node(), numbers);
    } else if (said.node() != killed) {
      for (Asked call : calls) {
        if (call.node == said.node() && call.open()) {
          call.error = "node " + said.node().number() + " ended";
        }
      }
      if (ready < nodes.size()) {
        throw CliException.failed("a node ended before it was ready; what it said stands above");
      }
    }
  }
}
