package dev.soloflight.chaos;

import dev.soloflight.CoordinationException;
import dev.soloflight.FlightKey;
import dev.soloflight.SoloFlight;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.LockSupport;

/**
 * A JVM of callers under chaos. Arguments: configuration file, history file, node name, seed, and
 * the settings to write down. Says {@code READY}; reads {@code CALL key millis}, {@code STOP} (no
 * more calls; says {@code QUIET} when the last is answered) and {@code CLOSE} (closes with calls in
 * the air or not; says {@code CLOSED} and ends).
 */
final class ChaosNode {
  private static final int CALLERS = 6;
  private static final long TICK_MILLIS = 20;

  private final SoloFlight solo;
  private final HistoryWriter history;
  private final ChaosCalls calls;
  private final AtomicBoolean stopped = new AtomicBoolean();
  private final CountDownLatch running;
  private final long seed;

  private ChaosNode(String[] args) {
    solo = SoloFlight.open(Path.of(args[0]));
    history = new HistoryWriter(Path.of(args[1]), args[2]);
    seed = Long.parseLong(args[3]);
    List<String> settings = new ArrayList<>();
    for (String setting : args[4].split(",", -1)) {
      settings.addAll(List.of(setting.split("=", 2)));
    }
    if (settings.contains("distributed")) {
      awaitConnection();
    }
    history.write(Event.Kind.STARTED, settings.toArray());
    calls = new ChaosCalls(solo, history, args[2], settings.get(settings.indexOf("wait") + 1));
    running = new CountDownLatch(CALLERS + 2);
  }

  public static void main(String[] args) throws Exception {
    new ChaosNode(args).run();
    System.exit(0);
  }

  /** A JVM's first connection takes longer than a command may; hybrid waits for it by itself. */
  private void awaitConnection() {
    long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(5);
    while (System.nanoTime() < end) {
      try {
        solo.inspect(FlightKey.of("quick", "none"));
        return;
      } catch (CoordinationException e) {
        LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(TICK_MILLIS)); // Not yet.
      }
    }
  }

  private void run() throws Exception {
    Thread clock = new Thread(this::writeStalls, "chaos-clock");
    clock.setDaemon(true);
    clock.start();
    for (int i = 0; i < CALLERS; i++) {
      start(i, calls::callBlocking, 120);
    }
    start(CALLERS, calls::callAsync, 60);
    start(CALLERS + 1, calls::forget, 1_200);
    say("READY");
    BufferedReader in =
        new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
    String told = in.readLine();
    while (told != null && told.startsWith("CALL ")) {
      String[] words = told.split(" ", -1);
      calls.callAside(ChaosKey.of(words[1]), Long.parseLong(words[2]));
      told = in.readLine();
    }
    stopped.set(true);
    if ("STOP".equals(told)) {
      Thread quiet = new Thread(this::sayQuiet, "chaos-quiet");
      quiet.setDaemon(true);
      quiet.start();
      in.readLine(); // CLOSE
    }
    history.write(Event.Kind.CLOSING);
    solo.close();
    awaitQuiet();
    say("CLOSED");
  }

  private void sayQuiet() {
    try {
      awaitQuiet();
      say("QUIET");
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private void awaitQuiet() throws InterruptedException {
    running.await();
    calls.awaitAnswers();
  }

  private interface Step {
    void take(Random random) throws InterruptedException;
  }

  private void start(int number, Step step, int pauseMillis) {
    Random random = new Random(seed * 31 + number);
    Thread thread =
        new Thread(
            () -> {
              try {
                while (!stopped.get()) {
                  pause(random.nextInt(2 * pauseMillis));
                  step.take(random);
                }
              } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
              } finally {
                running.countDown();
              }
            },
            "chaos-caller-" + number);
    thread.setDaemon(true);
    thread.start();
  }

  private void pause(long millis) throws InterruptedException {
    long end = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(millis);
    while (!stopped.get() && System.nanoTime() < end) {
      Thread.sleep(Math.min(TICK_MILLIS, millis));
    }
  }

  /** A process that was not scheduled cannot beat: no fault of the library. */
  private void writeStalls() {
    long last = System.nanoTime();
    while (true) {
      try {
        Thread.sleep(TICK_MILLIS);
      } catch (InterruptedException e) {
        return;
      }
      long now = System.nanoTime();
      if (now - last > Margins.STALL_NANOS) {
        history.write(Event.Kind.STALL, "from", last);
      }
      last = now;
    }
  }

  private static void say(String line) {
    System.out.println(line);
    System.out.flush();
  }
}
