package dev.soloflight.support;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

/** What every child process of a test needs: signals, a sure death, nothing left behind. */
final class Processes {
  private Processes() {}

  /** SIGKILL, and waits until the process is gone; a paused one dies too. */
  static void kill9(Process process) {
    process.destroyForcibly();
    awaitExit(process);
  }

  /** SIGTERM, and waits until the process is gone. */
  static void terminate(Process process) {
    process.destroy();
    awaitExit(process);
  }

  static void pause(Process process) {
    signal(process, "STOP");
  }

  static void resume(Process process) {
    signal(process, "CONT");
  }

  /** Runs an action when this JVM ends, unless the returned handle has been closed before. */
  static ExitHook onJvmExit(Runnable action) {
    Thread hook = new Thread(action, "test-exit-hook");
    Runtime.getRuntime().addShutdownHook(hook);
    return () -> {
      try {
        Runtime.getRuntime().removeShutdownHook(hook);
      } catch (IllegalStateException e) {
        // The JVM is ending: the hook runs anyway, and finds nothing left to do.
      }
    };
  }

  /** A pending action for the end of this JVM. */
  interface ExitHook extends AutoCloseable {
    @Override
    void close();
  }

  static void deleteTree(Path root) {
    List<Path> deepestFirst;
    try (Stream<Path> tree = Files.walk(root)) {
      deepestFirst = tree.sorted(Comparator.reverseOrder()).toList();
    } catch (NoSuchFileException e) {
      return;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    for (Path path : deepestFirst) {
      try {
        Files.deleteIfExists(path);
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    }
  }

  private static void awaitExit(Process process) {
    try {
      if (!process.waitFor(20, TimeUnit.SECONDS)) {
        throw new IllegalStateException("process " + process.pid() + " is still alive after 20 s");
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException("interrupted while process " + process.pid() + " ends", e);
    }
  }

  /** By the shell, whose own {@code kill} is there even where no such program is installed. */
  private static void signal(Process process, String name) {
    try {
      Process kill =
          new ProcessBuilder("sh", "-c", "kill -" + name + " " + process.pid()).inheritIO().start();
      awaitExit(kill);
      if (kill.exitValue() != 0) {
        throw new IllegalStateException("SIG" + name + " did not reach process " + process.pid());
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
