package dev.soloflight.limits;

import dev.soloflight.FlightKey;
import dev.soloflight.SoloFlight;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.lang.management.ManagementFactory;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * A JVM under a great load. Its argument is the Redis URI; its lines on stdin are
 *
 * <ul>
 *   <li>{@code wait ROUND FLIGHTS CALLERS}: so many asynchronous callers on each of so many
 *       flights, which end when {@code end} is said, or when another node's do. Prints {@code
 *       WAITING threads heap}, then {@code ANSWERED threads heap}.
 *   <li>{@code keys FROM TO}: a flight each, 2,000 in the air. Prints {@code FLOWN threads heap}.
 * </ul>
 *
 * Heap is in bytes, after a collection.
 */
final class LimitsNode {
  private static final int IN_THE_AIR = 2_000;

  private final SimpleMeterRegistry registry = new SimpleMeterRegistry();
  private final SoloFlight solo;
  private volatile CompletableFuture<String> provider = new CompletableFuture<>();

  private LimitsNode(String redisUri) {
    solo =
        SoloFlight.builder()
            .redisUri(redisUri)
            .meterRegistry(registry)
            .commandTimeout(Duration.ofSeconds(10))
            .followerMaxWait(Duration.ofMinutes(5))
            .stage("waits", LimitsSettings::patient)
            .stage("beats", LimitsSettings::beating)
            .stage("flies", LimitsSettings::brief)
            .build();
  }

  public static void main(String[] args) throws Exception {
    LimitsNode node = new LimitsNode(args[0]);
    say("READY");
    BufferedReader in =
        new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
    for (String line = in.readLine(); line != null; line = in.readLine()) {
      String[] words = line.split(" ", -1);
      switch (words[0]) {
        case "wait" -> node.startWaiting(words);
        case "end" -> node.provider.complete("an answer");
        case "keys" -> node.fly(Integer.parseInt(words[1]), Integer.parseInt(words[2]));
        default -> throw new IllegalArgumentException(line);
      }
    }
    System.exit(0);
  }

  private void startWaiting(String[] words) {
    Thread waiting = new Thread(() -> wait(words), "limits-waiting");
    waiting.setDaemon(true);
    waiting.start();
  }

  private void wait(String[] words) {
    int flights = Integer.parseInt(words[3]);
    int callers = Integer.parseInt(words[4]);
    CompletableFuture<String> mine = new CompletableFuture<>();
    provider = mine;
    AtomicInteger started = new AtomicInteger();
    CountDownLatch answered = new CountDownLatch(flights * callers);
    for (int flight = 0; flight < flights; flight++) {
      FlightKey key = FlightKey.of(words[1], words[2], flight);
      for (int caller = 0; caller < callers; caller++) {
        solo.callAsync(
                key,
                String.class,
                c -> {
                  started.incrementAndGet();
                  return mine;
                })
            .whenComplete(
                (result, e) -> {
                  if (e != null) {
                    say("FAILED " + e);
                  }
                  answered.countDown();
                });
      }
    }
    try {
      while (started.get() + followed() < flights) {
        Thread.sleep(10);
      }
      say("WAITING " + threadsAndHeap());
      answered.await();
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    }
    provider = new CompletableFuture<>();
    say("ANSWERED " + threadsAndHeap());
  }

  private int followed() {
    return (int) registry.get("soloflight.flights.followed").gauge().value();
  }

  private void fly(int from, int to) throws InterruptedException {
    Semaphore air = new Semaphore(IN_THE_AIR);
    for (int i = from; i < to; i++) {
      air.acquire();
      solo.callAsync(
              FlightKey.of("flies", i),
              String.class,
              c -> CompletableFuture.completedFuture("an answer"))
          .whenComplete(
              (result, e) -> {
                if (e != null) {
                  say("FAILED " + e);
                }
                air.release();
              });
    }
    air.acquire(IN_THE_AIR);
    say("FLOWN " + threadsAndHeap() + " " + registry.getMeters().size());
  }

  private static String threadsAndHeap() {
    System.gc();
    return Thread.activeCount()
        + " "
        + ManagementFactory.getMemoryMXBean().getHeapMemoryUsage().getUsed();
  }

  private static synchronized void say(String line) {
    System.out.println(line);
    System.out.flush();
  }
}
