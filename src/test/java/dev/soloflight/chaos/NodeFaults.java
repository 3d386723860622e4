package dev.soloflight.chaos;

import dev.soloflight.support.TcpProxy;
import dev.soloflight.support.TcpProxy.Direction;
import java.time.Duration;
import java.util.Random;

/** Nodes killed, paused, replaced; their network cut, slow, deaf or dumb. */
final class NodeFaults {
  private final Topology topology;
  private final ChaosNodes nodes;
  private final FaultLog log;
  private final Random random;

  NodeFaults(Topology topology, ChaosNodes nodes, FaultLog log, Random random) {
    this.topology = topology;
    this.nodes = nodes;
    this.log = log;
    this.random = random;
  }

  void addTo(FaultMenu menu) {
    menu.add(4, FaultKind.KILL_NODE, this::kill)
        .add(4, FaultKind.PAUSE_NODE, this::pause)
        .add(2, FaultKind.CLOSE_NODE, this::roll);
    if (topology.proxied()) {
      menu.add(2, FaultKind.CUT, this::cut)
          .add(2, FaultKind.DELAY, this::delay)
          .add(1, FaultKind.HALF_CLOSE, () -> network(FaultKind.HALF_CLOSE, TcpProxy::halfClose))
          .add(
              1,
              FaultKind.BLACKHOLE_TO_SERVER,
              () ->
                  network(
                      FaultKind.BLACKHOLE_TO_SERVER, proxy -> proxy.blackhole(Direction.TO_SERVER)))
          .add(
              1,
              FaultKind.BLACKHOLE_TO_CLIENT,
              () ->
                  network(
                      FaultKind.BLACKHOLE_TO_CLIENT,
                      proxy -> proxy.blackhole(Direction.TO_CLIENT)));
    }
  }

  private void kill() throws InterruptedException {
    ChaosNodes.Place place = nodes.any();
    if (random.nextInt(4) > 0) {
      haveItAwaited(place);
    }
    log.onNode(FaultKind.KILL_NODE, place.name(), () -> place.process().kill9());
    nodes.keepLog(place);
    // Its flights are taken over before the start of a JVM keeps the machine busy.
    Thread.sleep(1_000 + random.nextInt(1_500));
    place.process().close();
    nodes.start(place);
    ChaosNodes.awaitReady(place);
  }

  /** It runs a long task that all the others wait for. */
  private void haveItAwaited(ChaosNodes.Place place) throws InterruptedException {
    String key = "slow/held" + random.nextInt(1_000);
    place.process().send("CALL " + key + " 3000");
    Thread.sleep(200);
    nodes.others(place).forEach(other -> other.process().send("CALL " + key + " 10"));
    Thread.sleep(300);
  }

  private void pause() throws InterruptedException {
    ChaosNodes.Place place = nodes.any();
    int millis = 200 + random.nextInt(2_800);
    log.onNode(
        FaultKind.PAUSE_NODE,
        place.name(),
        () -> {
          place.process().pause();
          try {
            Thread.sleep(millis);
          } finally {
            place.process().resume();
          }
        });
  }

  /** One step of a rolling restart, with calls in the air. */
  private void roll() throws InterruptedException {
    ChaosNodes.Place place = nodes.any();
    log.onNode(FaultKind.CLOSE_NODE, place.name(), () -> ChaosNodes.closeOrderly(place));
    nodes.keepLog(place);
    place.process().close();
    nodes.start(place);
    ChaosNodes.awaitReady(place);
  }

  private void cut() throws InterruptedException {
    network(
        FaultKind.CUT,
        proxy -> {
          proxy.refuse(true);
          proxy.cut();
        });
  }

  private void delay() throws InterruptedException {
    Duration delay = Duration.ofMillis(20 + random.nextInt(400));
    network(FaultKind.DELAY, proxy -> proxy.delay(delay));
  }

  private interface OnProxy {
    void apply(TcpProxy proxy);
  }

  private void network(FaultKind kind, OnProxy fault) throws InterruptedException {
    ChaosNodes.Place place = nodes.any();
    int millis = 100 + random.nextInt(2_400);
    log.onNode(
        kind,
        place.name(),
        () -> {
          fault.apply(place.proxy());
          Thread.sleep(millis);
          place.proxy().heal();
        });
  }
}
