package dev.soloflight.cli;

import dev.soloflight.cli.DemoWire.Event;
import dev.soloflight.cli.DemoWire.Order;
import java.io.BufferedReader;
import java.io.BufferedWriter;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.io.OutputStreamWriter;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import java.util.function.Consumer;

/** A node's process, seen from the demo. */
final class DemoNode implements AutoCloseable {
  private final int number;
  private final Process process;
  private final BufferedWriter orders;

  private DemoNode(int number, Process process) {
    this.number = number;
    this.process = process;
    this.orders =
        new BufferedWriter(
            new OutputStreamWriter(process.getOutputStream(), StandardCharsets.UTF_8));
  }

  /** Something a node said, or its end. */
  record Said(DemoNode node, Event event, long atNanos) {}

  /**
   * Starts a JVM like this one.
   *
   * @param events gets what it says, on a thread of its own
   * @param complaints gets its stderr, line by line
   */
  static DemoNode start(int number, Consumer<Said> events, Consumer<String> complaints)
      throws IOException {
    Process process =
        new ProcessBuilder(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-Xmx192m",
                "-XX:+UseSerialGC",
                "-XX:TieredStopAtLevel=1",
                "-cp",
                System.getProperty("java.class.path"),
                Main.class.getName(),
                DemoNodeCommand.NAME)
            .start();
    DemoNode node = new DemoNode(number, process);
    node.read(
        "events",
        process.getInputStream(),
        line -> events.accept(new Said(node, DemoWire.readEvent(line), System.nanoTime())),
        () -> events.accept(new Said(node, new DemoWire.Ended(), System.nanoTime())));
    node.read(
        "complaints",
        process.getErrorStream(),
        line -> complaints.accept("node " + number + ": " + line),
        () -> {});
    return node;
  }

  int number() {
    return number;
  }

  long pid() {
    return process.pid();
  }

  /** Sends an order; a node that has ended does not hear it. */
  void send(Order order) {
    try {
      orders.write(DemoWire.write(order));
      orders.newLine();
      orders.flush();
    } catch (IOException e) {
      // Its end is an event of its own.
    }
  }

  /** SIGKILL: no goodbye, no release. */
  void kill() {
    process.destroyForcibly();
  }

  /** Ends it in an orderly way. */
  @Override
  public void close() {
    try {
      orders.close();
      if (!process.waitFor(5, java.util.concurrent.TimeUnit.SECONDS)) {
        process.destroyForcibly();
      }
    } catch (IOException e) {
      process.destroyForcibly();
    } catch (InterruptedException e) {
      process.destroyForcibly();
      Thread.currentThread().interrupt();
    }
  }

  static void closeAll(List<DemoNode> nodes) {
    for (DemoNode node : nodes) {
      try {
        node.orders.close();
      } catch (IOException e) {
        node.kill();
      }
    }
    nodes.forEach(DemoNode::close);
  }

  private interface LineReader {
    void read(String line) throws IOException;
  }

  private void read(String what, InputStream stream, LineReader reader, Runnable end) {
    Thread thread =
        new Thread(
            () -> {
              try (BufferedReader in =
                  new BufferedReader(new InputStreamReader(stream, StandardCharsets.UTF_8))) {
                for (String line = in.readLine(); line != null; line = in.readLine()) {
                  reader.read(line);
                }
              } catch (IOException e) {
                // A stream of a killed process breaks off; that is its end.
              } finally {
                end.run();
              }
            },
            "soloflight-demo-node-" + number + "-" + what);
    thread.setDaemon(true);
    thread.start();
  }
}
