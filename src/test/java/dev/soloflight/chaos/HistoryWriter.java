package dev.soloflight.chaos;

import java.io.FileOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.concurrent.locks.ReentrantLock;

/** Writes a history. Each line is with the kernel at once: SIGKILL loses none that was written. */
final class HistoryWriter implements AutoCloseable {
  private final ReentrantLock lock = new ReentrantLock();
  private final String node;
  private final FileOutputStream out;

  HistoryWriter(Path file, String node) {
    this.node = node;
    try {
      out = new FileOutputStream(file.toFile(), true);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  void write(Event.Kind kind, Object... namesAndValues) {
    lock.lock();
    try {
      Event event = Event.of(System.nanoTime(), kind, node, namesAndValues);
      out.write((event + "\n").getBytes(StandardCharsets.UTF_8));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    } finally {
      lock.unlock();
    }
  }

  @Override
  public void close() {
    try {
      out.close();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
