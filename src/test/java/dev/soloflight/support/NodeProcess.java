package dev.soloflight.support;

import java.io.BufferedReader;
import java.io.BufferedWriter;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalInt;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Predicate;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * A JVM beside the test's own, with the test class path: one node of a cluster. What it prints on
 * stdout is read line by line; stderr (its logs) is kept for error messages. Dies with {@link
 * #close} and with the test's JVM.
 */
public final class NodeProcess implements AutoCloseable {
  /** Names the libfaketime library where it is in none of the usual places. */
  static final String FAKETIME_ENV = "SOLOFLIGHT_LIBFAKETIME";

  private static final int SHOWN_LINES = 30;

  private final String name;
  private final Process process;
  private final BufferedWriter stdin;
  private final Processes.ExitHook exitHook;

  private final ReentrantLock lock = new ReentrantLock();
  private final Condition changed = lock.newCondition();
  // Guarded by the lock.
  private final List<String> lines = new ArrayList<>();
  private final List<String> errorLines = new ArrayList<>();
  private boolean ended;

  private NodeProcess(String name, Process process) {
    this.name = name;
    this.process = process;
    stdin = process.outputWriter(StandardCharsets.UTF_8);
    exitHook = Processes.onJvmExit(() -> Processes.kill9(process));
    read(process.inputReader(StandardCharsets.UTF_8), lines, true);
    read(process.errorReader(StandardCharsets.UTF_8), errorLines, false);
  }

  /** A node that runs a class's {@code main}. */
  public static Builder of(Class<?> mainClass) {
    return new Builder(mainClass);
  }

  /** Whether {@link Builder#clockOffset} works here: whether libfaketime is installed. */
  public static boolean faketimeAvailable() {
    return faketimeLibrary() != null;
  }

  /** The first line so far, or to come, that a regular expression is found in. */
  public String awaitLine(String regex, Duration atMost) {
    return awaitLine(Pattern.compile(regex).asPredicate(), "/" + regex + "/", atMost);
  }

  /** The first line so far, or to come, that a test likes. */
  public String awaitLine(Predicate<String> test, Duration atMost) {
    return awaitLine(test, "the expected line", atMost);
  }

  /** Every line of stdout so far. */
  public List<String> lines() {
    lock.lock();
    try {
      return List.copyOf(lines);
    } finally {
      lock.unlock();
    }
  }

  /** Every line of stderr so far. */
  public List<String> errorLines() {
    lock.lock();
    try {
      return List.copyOf(errorLines);
    } finally {
      lock.unlock();
    }
  }

  /** Writes a line to the node's stdin. */
  public void send(String line) {
    try {
      stdin.write(line);
      stdin.newLine();
      stdin.flush();
    } catch (IOException e) {
      throw new UncheckedIOException(name + " does not read its stdin:" + output(), e);
    }
  }

  /** SIGKILL: as a crash of the machine. */
  public void kill9() {
    Processes.kill9(process);
  }

  /** SIGTERM: shutdown hooks run. */
  public void stop() {
    Processes.terminate(process);
  }

  /** SIGSTOP: as a very long garbage collection. */
  public void pause() {
    Processes.pause(process);
  }

  /** SIGCONT, after {@link #pause}. */
  public void resume() {
    Processes.resume(process);
  }

  /** Whether the process lives; a paused one does. */
  public boolean isAlive() {
    return process.isAlive();
  }

  public long pid() {
    return process.pid();
  }

  /** The exit code, if the node has ended. */
  public OptionalInt exitCode() {
    return process.isAlive() ? OptionalInt.empty() : OptionalInt.of(process.exitValue());
  }

  /** The exit code, once the node has ended by itself. */
  public int awaitExit(Duration atMost) {
    try {
      if (!process.waitFor(atMost.toMillis(), TimeUnit.MILLISECONDS)) {
        throw new AssertionError(name + " still runs after " + atMost + ":" + output());
      }
      return process.exitValue();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException("interrupted while waiting for the end of " + name, e);
    }
  }

  @Override
  public void close() {
    exitHook.close();
    kill9();
  }

  @Override
  public String toString() {
    return name + " (pid " + pid() + ")";
  }

  private String awaitLine(Predicate<String> test, String wanted, Duration atMost) {
    long nanosLeft = atMost.toNanos();
    lock.lock();
    try {
      for (int next = 0; ; next++) {
        while (next == lines.size()) {
          if (ended) {
            throw new AssertionError(name + " ended without " + wanted + ":" + output());
          }
          if (nanosLeft <= 0) {
            throw new AssertionError(name + ": no " + wanted + " in " + atMost + ":" + output());
          }
          nanosLeft = changed.awaitNanos(nanosLeft);
        }
        if (test.test(lines.get(next))) {
          return lines.get(next);
        }
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException("interrupted while waiting for a line of " + name, e);
    } finally {
      lock.unlock();
    }
  }

  private void read(BufferedReader from, List<String> into, boolean isStdout) {
    Thread reader =
        new Thread(
            () -> {
              try {
                from.lines().forEach(line -> change(() -> into.add(line)));
              } catch (UncheckedIOException e) {
                // The process was killed while it wrote.
              } finally {
                if (isStdout) {
                  change(() -> ended = true);
                }
              }
            },
            "test-node-reader");
    reader.setDaemon(true);
    reader.start();
  }

  private void change(Runnable action) {
    lock.lock();
    try {
      action.run();
      changed.signalAll();
    } finally {
      lock.unlock();
    }
  }

  private String output() {
    return "\nstdout:\n" + tail(lines()) + "\nstderr:\n" + tail(errorLines());
  }

  private static String tail(List<String> lines) {
    return String.join("\n", lines.subList(Math.max(0, lines.size() - SHOWN_LINES), lines.size()));
  }

  private static @Nullable Path faketimeLibrary() {
    String given = System.getenv(FAKETIME_ENV);
    if (given != null && !given.isBlank()) {
      return Path.of(given);
    }
    String machine = System.getProperty("os.arch").equals("amd64") ? "x86_64" : "aarch64";
    return Stream.of("/usr/lib/" + machine + "-linux-gnu", "/usr/lib", "/usr/local/lib")
        .map(directory -> Path.of(directory, "faketime", "libfaketimeMT.so.1"))
        .filter(Files::isReadable)
        .findFirst()
        .orElse(null);
  }

  /** How a node is to be started. */
  public static final class Builder {
    private final Class<?> mainClass;
    private final List<String> args = new ArrayList<>();
    // Small and quick to start: several of them share the machine with the test.
    private final List<String> jvmArgs =
        new ArrayList<>(List.of("-Xmx256m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1"));
    private final Map<String, String> env = new LinkedHashMap<>();
    private Path javaHome = Path.of(System.getProperty("java.home"));

    private Builder(Class<?> mainClass) {
      this.mainClass = mainClass;
    }

    public Builder args(String... args) {
      this.args.addAll(List.of(args));
      return this;
    }

    public Builder jvmArgs(String... args) {
      jvmArgs.addAll(List.of(args));
      return this;
    }

    public Builder env(String name, String value) {
      env.put(name, value);
      return this;
    }

    /** Another Java than the test's own. */
    public Builder javaHome(Path javaHome) {
      this.javaHome = javaHome;
      return this;
    }

    /**
     * The node's wall clock runs that much ahead (or behind, if negative); its monotonic clock is
     * left alone. Only where {@link #faketimeAvailable}.
     */
    public Builder clockOffset(Duration offset) {
      Path library = faketimeLibrary();
      if (library == null) {
        throw new IllegalStateException(
            "no libfaketime: install it, or name the library in " + FAKETIME_ENV);
      }
      return env("LD_PRELOAD", library.toString())
          .env("FAKETIME", String.format("%+ds", offset.toSeconds()))
          .env("FAKETIME_DONT_FAKE_MONOTONIC", "1")
          // Else it takes the JVM's monotonic waits for wall-clock ones, and they end at once.
          .env("FAKETIME_FORCE_MONOTONIC_FIX", "0")
          .env("DONT_FAKE_MONOTONIC", "1");
    }

    /** Starts the JVM, and does not wait for anything. */
    public NodeProcess start() {
      List<String> command = new ArrayList<>();
      command.add(javaHome.resolve("bin").resolve("java").toString());
      command.addAll(jvmArgs);
      command.addAll(List.of("-cp", System.getProperty("java.class.path")));
      command.add(mainClass.getName());
      command.addAll(args);
      ProcessBuilder builder = new ProcessBuilder(command);
      builder.environment().putAll(env);
      try {
        return new NodeProcess(mainClass.getSimpleName(), builder.start());
      } catch (IOException e) {
        throw new UncheckedIOException("the node does not start: " + command, e);
      }
    }
  }
}
