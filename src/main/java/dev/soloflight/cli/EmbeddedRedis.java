package dev.soloflight.cli;

import java.io.File;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import redis.embedded.core.ExecutableProvider;

/**
 * A redis-server out of the jar, on a free port of the loopback address, that keeps nothing on
 * disk. {@link #close}, or the end of this JVM, stops it and deletes its folder.
 */
final class EmbeddedRedis implements AutoCloseable {
  private static final String HOST = InetAddress.getLoopbackAddress().getHostAddress();
  private static final int PORT_ATTEMPTS = 5;
  private static final long START_NANOS = TimeUnit.SECONDS.toNanos(10);

  private final Path folder;
  private final Process process;
  private final int port;
  private final Thread exitHook = new Thread(this::stop, "soloflight-demo-redis-stop");

  private EmbeddedRedis(Path folder, Process process, int port) {
    this.folder = folder;
    this.process = process;
    this.port = port;
    Runtime.getRuntime().addShutdownHook(exitHook);
  }

  /**
   * Starts a server and waits until it answers.
   *
   * @throws CliException if there is none for this system, or it does not start
   */
  static EmbeddedRedis start() throws InterruptedException {
    try {
      for (int attempt = 1; attempt <= PORT_ATTEMPTS; attempt++) {
        EmbeddedRedis redis = launch(freePort());
        if (redis.answers()) {
          return redis;
        }
        redis.close(); // somebody else took the port
      }
      throw refused("it does not answer");
    } catch (IOException | RuntimeException e) {
      if (e instanceof CliException known) {
        throw known;
      }
      throw refused(String.valueOf(e.getMessage()));
    }
  }

  /** For the default user, without a password. */
  String uri() {
    return "redis://" + HOST + ":" + port;
  }

  @Override
  public void close() {
    stop();
    try {
      Runtime.getRuntime().removeShutdownHook(exitHook);
    } catch (IllegalStateException e) {
      // The JVM is going down and runs the hook anyway.
    }
  }

  private static EmbeddedRedis launch(int port) throws IOException {
    Path folder = Files.createTempDirectory("soloflight-demo-redis-");
    try {
      File binary = ExecutableProvider.newJarResourceProvider(folder.toFile()).get();
      List<String> command =
          List.of(
              binary.getPath(),
              "--bind",
              HOST,
              "--port",
              Integer.toString(port),
              "--save",
              "",
              "--appendonly",
              "no");
      Process process =
          new ProcessBuilder(command)
              .directory(folder.toFile())
              .redirectErrorStream(true)
              .redirectOutput(folder.resolve("redis.log").toFile())
              .start();
      return new EmbeddedRedis(folder, process, port);
    } catch (IOException | RuntimeException e) {
      deleteTree(folder);
      throw e;
    }
  }

  private boolean answers() throws InterruptedException {
    long end = System.nanoTime() + START_NANOS;
    while (process.isAlive() && System.nanoTime() - end < 0) {
      if (pong() && process.isAlive()) {
        return true;
      }
      TimeUnit.MILLISECONDS.sleep(20);
    }
    return false;
  }

  private boolean pong() {
    try (Socket socket = new Socket()) {
      socket.connect(new InetSocketAddress(HOST, port), 500);
      socket.setSoTimeout(500);
      socket.getOutputStream().write("PING\r\n".getBytes(StandardCharsets.US_ASCII));
      byte[] reply = socket.getInputStream().readNBytes(5);
      return new String(reply, StandardCharsets.US_ASCII).equals("+PONG");
    } catch (IOException e) {
      return false;
    }
  }

  private void stop() {
    process.destroyForcibly();
    try {
      process.waitFor(5, TimeUnit.SECONDS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    deleteTree(folder);
  }

  private static void deleteTree(Path root) {
    try (Stream<Path> tree = Files.walk(root)) {
      tree.sorted(Comparator.reverseOrder()).map(Path::toFile).forEach(File::delete);
    } catch (IOException e) {
      // Gone already, or left to whoever cleans the folder of temporary files.
    }
  }

  private static int freePort() throws IOException {
    try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      return socket.getLocalPort();
    }
  }

  private static CliException refused(String why) {
    return CliException.failed(
        "the embedded Redis does not start on this machine ("
            + why
            + "); start a Redis and name it: --redis redis://HOST:PORT");
  }
}
