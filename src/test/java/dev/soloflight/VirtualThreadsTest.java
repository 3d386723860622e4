package dev.soloflight;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.soloflight.support.TestRedis;
import dev.soloflight.support.WithRedis;
import java.lang.reflect.InvocationTargetException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Predicate;
import jdk.jfr.Recording;
import jdk.jfr.consumer.RecordedEvent;
import jdk.jfr.consumer.RecordedFrame;
import jdk.jfr.consumer.RecordingFile;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * DESIGN 4: works on virtual threads, and never holds the thread that carries them. Runs where the
 * JDK has them.
 */
@WithRedis
class VirtualThreadsTest {
  private static final String PINNED = "jdk.VirtualThreadPinned";
  private static final Duration LONG = Duration.ofMillis(20);
  private static final int CALLERS = 3_000;

  private final AtomicInteger runs = new AtomicInteger();
  @TempDir private Path directory;
  private TestRedis redis;
  private ExecutorService virtual;

  @BeforeEach
  void onVirtualThreads(TestRedis redis) {
    this.redis = redis;
    virtual = newVirtualThreads();
    assumeTrue(
        virtual != null,
        "Java "
            + Runtime.version().feature()
            + " has no virtual threads; to run this test, run the tests on Java 21 or later");
  }

  @AfterEach
  void stop() {
    if (virtual != null) {
      virtual.shutdownNow();
    }
  }

  /** Null where there are none. */
  private static ExecutorService newVirtualThreads() {
    try {
      return (ExecutorService)
          Executors.class.getMethod("newVirtualThreadPerTaskExecutor").invoke(null);
    } catch (NoSuchMethodException | IllegalAccessException e) {
      return null;
    } catch (InvocationTargetException e) {
      // A preview on Java 19 and 20.
      return null;
    }
  }

  private SoloFlight.Builder builder(FlightMode mode) {
    return SoloFlight.builder()
        .mode(mode)
        .redisUri(redis.uri())
        .commandTimeout(Duration.ofSeconds(10))
        .followerMaxWait(Duration.ofMinutes(1));
  }

  /** What was recorded while the action ran, of events with such a frame. */
  private List<RecordedEvent> pinnedWhile(Predicate<RecordedFrame> where, ThrowingRunnable action)
      throws Exception {
    Path file = directory.resolve("pinned.jfr");
    try (Recording recording = new Recording()) {
      recording.enable(PINNED).withThreshold(LONG).withStackTrace();
      recording.start();
      action.run();
      recording.stop();
      recording.dump(file);
    }
    List<RecordedEvent> events = new ArrayList<>();
    for (RecordedEvent event : RecordingFile.readAllEvents(file)) {
      if (event.getEventType().getName().equals(PINNED)
          && event.getStackTrace() != null
          && event.getStackTrace().getFrames().stream().anyMatch(where)) {
        events.add(event);
      }
    }
    return events;
  }

  interface ThrowingRunnable {
    void run() throws Exception;
  }

  private static boolean ours(RecordedFrame frame) {
    String type = frame.getMethod().getType().getName();
    return type.startsWith("dev.soloflight.internal.") || type.equals(SoloFlight.class.getName());
  }

  /** Whatever is run for the first time has its classes loaded, and that may hold the carrier. */
  private void assertNotPinned(SoloFlight solo, ThrowingRunnable action) throws Exception {
    FlightKey warm = FlightKey.of("s", "warm up", System.identityHashCode(solo));
    CountDownLatch waiting = new CountDownLatch(1);
    Future<String> leader =
        virtual.submit(
            () ->
                solo.execute(
                    warm,
                    String.class,
                    c -> {
                      waiting.await();
                      return c.idempotencyKey();
                    }));
    Future<String> waiter =
        virtual.submit(
            () -> {
              waiting.countDown();
              return solo.execute(warm, String.class, FlightContext::idempotencyKey);
            });
    assertThat(leader.get(20, TimeUnit.SECONDS)).isEqualTo(waiter.get(20, TimeUnit.SECONDS));
    assertThat(pinnedWhile(VirtualThreadsTest::ours, action))
        .as("virtual threads that held their carrier for %s ms or longer", LONG.toMillis())
        .isEmpty();
  }

  static final class Pinning {
    /** Nothing on a stack with a native frame can leave its carrier: here, the initialization. */
    static final long UNTIL = park();

    private static long park() {
      long until = System.nanoTime() + Duration.ofMillis(200).toNanos();
      while (System.nanoTime() - until < 0) {
        LockSupport.parkNanos(until - System.nanoTime());
      }
      return until;
    }
  }

  @Test
  void a_thread_that_holds_its_carrier_would_be_seen() throws Exception {
    List<RecordedEvent> pinned =
        pinnedWhile(
            frame -> frame.getMethod().getType().getName().endsWith("Pinning"),
            () -> virtual.submit(() -> Pinning.UNTIL).get(20, TimeUnit.SECONDS));
    assertThat(pinned).isNotEmpty();
  }

  @ParameterizedTest
  @EnumSource(FlightMode.class)
  void thousands_of_callers_of_one_flight_share_one_execution(FlightMode mode) throws Exception {
    FlightKey key = FlightKey.of("s", "virtual", mode);
    try (SoloFlight solo = builder(mode).build()) {
      assertNotPinned(
          solo,
          () -> {
            CountDownLatch allThere = new CountDownLatch(CALLERS);
            List<Future<String>> calls = new ArrayList<>();
            for (int i = 0; i < CALLERS; i++) {
              calls.add(
                  virtual.submit(
                      () -> {
                        allThere.countDown();
                        return solo.execute(
                            key,
                            String.class,
                            c -> {
                              allThere.await();
                              return "answer " + runs.incrementAndGet();
                            });
                      }));
            }
            for (Future<String> call : calls) {
              assertThat(call.get(60, TimeUnit.SECONDS)).isEqualTo("answer 1");
            }
          });
    }
    assertThat(runs).hasValue(1);
  }

  @ParameterizedTest
  @EnumSource(FlightMode.class)
  void thousands_of_callers_of_many_flights_execute_each_once(FlightMode mode) throws Exception {
    int flights = CALLERS / 5;
    try (SoloFlight one = builder(mode).build();
        SoloFlight two = builder(mode).build()) {
      List<SoloFlight> nodes = mode == FlightMode.LOCAL ? List.of(one) : List.of(one, two);
      assertNotPinned(
          one,
          () -> {
            List<Future<String>> calls = new ArrayList<>();
            for (int i = 0; i < CALLERS; i++) {
              SoloFlight node = nodes.get((i / flights) % nodes.size());
              int flight = i % flights;
              calls.add(
                  virtual.submit(
                      () ->
                          node.execute(
                              FlightKey.of("s", "virtual", flight),
                              String.class,
                              c -> {
                                runs.incrementAndGet();
                                // The key a task passes to its provider is made on this thread.
                                return c.idempotencyKey().isBlank() ? "none" : "answer " + flight;
                              })));
            }
            for (int i = 0; i < CALLERS; i++) {
              assertThat(calls.get(i).get(60, TimeUnit.SECONDS)).isEqualTo("answer " + i % flights);
            }
          });
    }
    assertThat(runs).hasValue(flights);
  }
}
