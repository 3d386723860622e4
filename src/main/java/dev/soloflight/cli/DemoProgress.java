package dev.soloflight.cli;

import java.io.PrintWriter;
import java.util.concurrent.TimeUnit;
import picocli.CommandLine.Help.Ansi;

/** One line that changes on a terminal, a plain line now and then elsewhere; both on stderr. */
final class DemoProgress {
  private static final long TERMINAL_NANOS = TimeUnit.MILLISECONDS.toNanos(100);
  private static final long PLAIN_NANOS = TimeUnit.SECONDS.toNanos(2);

  private final PrintWriter err;
  private final boolean terminal = Ansi.AUTO.enabled();
  private final long beginNanos = System.nanoTime();
  private long shownNanos = beginNanos - PLAIN_NANOS;
  private boolean open;

  DemoProgress(PrintWriter err) {
    this.err = err;
  }

  long elapsedMillis() {
    return TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - beginNanos);
  }

  /** Something worth a line of its own. */
  void say(String text) {
    clear();
    err.printf("%5.1f s  %s%n", elapsedMillis() / 1000.0, text);
    err.flush();
  }

  /** Where it stands; shown at most every so often. */
  void show(int sent, int answered, int all, int modelCalls) {
    long now = System.nanoTime();
    if (now - shownNanos < (terminal ? TERMINAL_NANOS : PLAIN_NANOS)) {
      return;
    }
    shownNanos = now;
    String text =
        "asked %d of %d, answered %d, model called %d times"
            .formatted(sent, all, answered, modelCalls);
    if (!terminal) {
      say(text);
      return;
    }
    err.printf("\r\u001b[2K%5.1f s  %s", elapsedMillis() / 1000.0, text);
    err.flush();
    open = true;
  }

  /** Leaves the line that changes. */
  void clear() {
    if (open) {
      err.print("\r\u001b[2K");
      err.flush();
      open = false;
    }
  }
}
