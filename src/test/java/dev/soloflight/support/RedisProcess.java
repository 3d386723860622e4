package dev.soloflight.support;

import static org.awaitility.Awaitility.await;

import io.lettuce.core.api.sync.RedisCommands;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.awaitility.core.ConditionTimeoutException;
import org.jspecify.annotations.Nullable;

/**
 * One redis-server process of a test's own, on a free port of the loopback address, in a directory
 * of its own. {@link #close} kills the process and deletes the directory; so does the end of the
 * JVM. Which program is started: {@link RedisBinary}.
 */
public final class RedisProcess implements AutoCloseable {
  static final String HOST = InetAddress.getLoopbackAddress().getHostAddress();

  private static final Duration START_TIMEOUT = Duration.ofSeconds(20);
  private static final int PORT_ATTEMPTS = 5;

  private final Path directory;
  private final boolean sentinel;
  private final @Nullable String password;
  private final int port;
  private final TestConnection connection;
  private final Processes.ExitHook exitHook;
  private volatile @Nullable Process process;

  private RedisProcess(Builder builder, int port) {
    this.port = port;
    directory = builder.writeDirectory();
    sentinel = builder.sentinel;
    password = builder.password;
    connection = new TestConnection(uri());
    exitHook = Processes.onJvmExit(this::killAndDelete);
  }

  /** An empty server without a password that keeps nothing on disk. */
  public static RedisProcess start() {
    return builder().start();
  }

  /** What {@link #start()} starts, to be changed. */
  public static Builder builder() {
    return new Builder();
  }

  /** For the default user, password included where there is one. */
  public String uri() {
    return "redis://" + (password == null ? "" : ":" + password + "@") + HOST + ":" + port;
  }

  /** Stays the same over restarts. */
  public int port() {
    return port;
  }

  /** Where this server keeps its files. */
  public Path directory() {
    return directory;
  }

  /** Whether the process lives; a paused one does. */
  public boolean isAlive() {
    return process().isAlive();
  }

  /** The tests' own connection, as the default user; it outlives restarts, not {@link #close}. */
  public RedisCommands<String, String> sync() {
    return connection.sync();
  }

  /** How often the server has run a command, e.g. {@code evalsha}, since the last reset. */
  public long commandCount(String command) {
    return connection.commandCount(command);
  }

  /** Sets every command's count to zero. */
  public void resetStats() {
    connection.resetStats();
  }

  /** SIGKILL: as a crash of the machine. */
  public void kill9() {
    Processes.kill9(process());
  }

  /** SIGTERM: as an orderly shutdown. */
  public void stop() {
    Processes.terminate(process());
  }

  /** SIGSTOP: connections stay open, nothing is answered. */
  public void pause() {
    Processes.pause(process());
  }

  /** SIGCONT, after {@link #pause}. */
  public void resume() {
    Processes.resume(process());
  }

  /** Killed if alive, then started on the same port without its data; users and identity stay. */
  public void restartEmpty() {
    kill9();
    for (String data : List.of("dump.rdb", "appendonly.aof", "appendonlydir")) {
      Processes.deleteTree(directory.resolve(data));
    }
    restart();
  }

  /**
   * Killed if alive, then started on the same port with what it had written to disk: all of it with
   * {@link Builder#appendOnly}, else what the last SAVE wrote.
   */
  public void restartWithData() {
    kill9();
    restart();
  }

  @Override
  public void close() {
    try {
      connection.close();
    } finally {
      killAndDelete();
    }
    exitHook.close(); // Last: what an interrupt leaves undone, the end of the JVM does.
  }

  @Override
  public String toString() {
    return (sentinel ? "sentinel" : "redis") + " on port " + port;
  }

  private Process process() {
    return Objects.requireNonNull(process, "started before anybody else sees it");
  }

  private void restart() {
    if (!launch()) {
      throw new IllegalStateException("port " + port + " was taken while its server was down");
    }
  }

  /** True once it answers; false if the port belongs to somebody else; throws on anything else. */
  private boolean launch() {
    List<String> command = new ArrayList<>();
    command.add(RedisBinary.path().toString());
    command.add(directory.resolve("redis.conf").toString());
    command.addAll(List.of("--port", Integer.toString(port)));
    if (sentinel) {
      command.add("--sentinel");
    }
    Process started;
    try {
      started =
          new ProcessBuilder(command)
              .directory(directory.toFile())
              .redirectErrorStream(true)
              .redirectOutput(log().toFile())
              .start();
    } catch (IOException e) {
      throw new UncheckedIOException("redis-server does not start: " + command, e);
    }
    process = started;
    try {
      await()
          .pollInterval(Duration.ofMillis(10))
          .atMost(START_TIMEOUT)
          .until(() -> !started.isAlive() || (saysItIsReady() && answersPing()));
    } catch (ConditionTimeoutException e) {
      throw new IllegalStateException(
          "redis-server is not ready after " + START_TIMEOUT + ", it says:\n" + readLog(), e);
    }
    if (started.isAlive()) {
      return true;
    }
    String said = readLog();
    if (said.contains("Address already in use")) {
      return false;
    }
    throw new IllegalStateException(
        "redis-server ended with code " + started.exitValue() + ", it says:\n" + said);
  }

  /** A PING alone could be answered by another server on a port that ours failed to get. */
  private boolean saysItIsReady() {
    String said = readLog();
    return said.contains("Ready to accept connections") || said.contains("Sentinel ID is");
  }

  private boolean answersPing() {
    try (Socket socket = new Socket()) {
      socket.connect(new InetSocketAddress(HOST, port), 1_000);
      socket.setSoTimeout(1_000);
      socket.getOutputStream().write("PING\r\n".getBytes(StandardCharsets.US_ASCII));
      String reply = new String(socket.getInputStream().readNBytes(5), StandardCharsets.US_ASCII);
      // Asked for a password it is up as well; only one that loads its data is not.
      return reply.equals("+PONG") || reply.equals("-NOAU") || reply.equals("-NOPE");
    } catch (IOException e) {
      return false;
    }
  }

  private Path log() {
    return directory.resolve("redis.log");
  }

  private String readLog() {
    try {
      return Files.readString(log(), StandardCharsets.UTF_8);
    } catch (IOException e) {
      return "(no log: " + e + ")";
    }
  }

  private void killAndDelete() {
    Process running = process;
    if (running != null) {
      Processes.kill9(running);
    }
    Processes.deleteTree(directory);
  }

  /** How a server is to be started. */
  public static final class Builder {
    private final List<String> config = new ArrayList<>();
    private final List<String> users = new ArrayList<>();
    private @Nullable String password;
    private boolean sentinel;
    private int port;

    private Builder() {}

    /** Lines as they would stand in redis.conf; a later line wins. */
    public Builder config(String... lines) {
      config.addAll(List.of(lines));
      return this;
    }

    /** The default user's password. */
    public Builder requirePass(String password) {
      this.password = password;
      return config("requirepass " + password, "masterauth " + password);
    }

    /** ACL users kept in an aclfile, each as in {@code "reader on >secret ~* +@read"}. */
    public Builder users(String... rules) {
      users.addAll(List.of(rules));
      return this;
    }

    /** A node of a cluster that has no slots yet. */
    public Builder clusterEnabled() {
      return config("cluster-enabled yes", "cluster-config-file nodes.conf");
    }

    /** A replica of another server without a password. */
    public Builder replicaOf(RedisProcess primary) {
      return config("replicaof " + HOST + " " + primary.port());
    }

    /** Every write goes to disk before it is answered. */
    public Builder appendOnly() {
      return config("appendonly yes", "appendfsync always");
    }

    /** A limit as in {@code "2mb"}, and what to do there, as in {@code "noeviction"}. */
    public Builder maxMemory(String limit, String policy) {
      return config("maxmemory " + limit, "maxmemory-policy " + policy);
    }

    /** A port of the caller's choosing, instead of a free one. */
    public Builder port(int port) {
      this.port = port;
      return this;
    }

    /** A sentinel instead of a data server; {@link #config} says what it monitors. */
    Builder sentinel() {
      sentinel = true;
      return this;
    }

    /** Starts it and waits until it answers. */
    public RedisProcess start() {
      for (int attempt = 1; attempt <= PORT_ATTEMPTS; attempt++) {
        RedisProcess redis = new RedisProcess(this, port > 0 ? port : FreePorts.next());
        boolean ready = false;
        try {
          ready = redis.launch();
        } finally {
          if (!ready) {
            redis.close();
          }
        }
        if (ready) {
          return redis;
        }
        if (port > 0) {
          throw new IllegalStateException(
              "port " + port + " is taken: free it, or let the port be chosen");
        }
        // Somebody took the free port before us.
      }
      throw new IllegalStateException("no free port in " + PORT_ATTEMPTS + " attempts");
    }

    private Path writeDirectory() {
      try {
        Path directory = Files.createTempDirectory("soloflight-redis-");
        List<String> lines = new ArrayList<>(List.of("bind " + HOST, "dir " + directory));
        if (!sentinel) {
          lines.addAll(
              List.of("save \"\"", "repl-diskless-sync yes", "repl-diskless-sync-delay 0"));
        }
        if (!users.isEmpty()) {
          List<String> acl = new ArrayList<>();
          if (password != null) {
            acl.add("user default on >" + password + " ~* &* +@all");
          }
          users.forEach(user -> acl.add("user " + user));
          Files.write(directory.resolve("users.acl"), acl);
          lines.add("aclfile " + directory.resolve("users.acl"));
        }
        lines.addAll(config);
        Files.write(directory.resolve("redis.conf"), lines);
        return directory;
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    }
  }
}
