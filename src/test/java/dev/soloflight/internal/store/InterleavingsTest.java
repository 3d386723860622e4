package dev.soloflight.internal.store;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.fail;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import dev.soloflight.FlightKey;
import dev.soloflight.internal.metrics.FlightMetrics;
import dev.soloflight.internal.policy.ConfigLoader;
import dev.soloflight.internal.policy.ConfigSource;
import dev.soloflight.internal.policy.StagePolicy;
import dev.soloflight.internal.store.Interleaving.Disturbance;
import dev.soloflight.internal.store.Interleaving.End;
import dev.soloflight.internal.store.Interleaving.Rules;
import dev.soloflight.internal.store.Interleaving.Violation;
import dev.soloflight.support.FlightRecords;
import dev.soloflight.support.RedisRecords;
import dev.soloflight.support.SimulatedFlightStore;
import dev.soloflight.support.StoreNodes;
import dev.soloflight.support.TestRedis;
import dev.soloflight.support.VirtualTimers;
import dev.soloflight.support.WithRedis;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.function.IntUnaryOperator;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Named;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.slf4j.LoggerFactory;

/**
 * DESIGN 10 in every order in which things can happen: the steps of two and three clients, with
 * disturbances at every position. What a violation prints is the run that led to it.
 */
@WithRedis
class InterleavingsTest {
  private static final List<Disturbance> ALL = List.of(Disturbance.values());
  private static final List<End> TWO = List.of(End.SUCCEED, End.SUCCEED);
  private static final List<End> THREE = List.of(End.SUCCEED, End.SUCCEED, End.SUCCEED);
  private static final int SAMPLE = 3_000;
  private static final int THREADS = 4;

  private static final StagePolicy POLICY =
      ConfigLoader.load(
              ConfigSource.builtIn()
                  .withOverrides(
                      Map.of(
                          "stages.s.heartbeat-interval", "3s",
                          "stages.s.takeover-detect", "10s",
                          "stages.s.running-ttl", "15s",
                          "follower-max-wait", "20s")))
          .config()
          .stage("s");
  private static final FlightMetrics METRICS = new FlightMetrics(new SimpleMeterRegistry());
  private static final FlightKey KEY = FlightKey.of("s", "interleaved");
  private static final List<Logger> QUIET =
      List.of(
          (Logger) LoggerFactory.getLogger("dev.soloflight.internal.coordinator"),
          (Logger) LoggerFactory.getLogger("io.micrometer"));

  @BeforeAll
  static void beQuiet() {
    QUIET.forEach(logger -> logger.setLevel(Level.OFF));
  }

  @AfterAll
  static void speak() {
    QUIET.forEach(logger -> logger.setLevel(null));
  }

  /**
   * Every sequence of choices, one after the other: the last choice that has another is changed.
   */
  private static final class Schedules implements IntUnaryOperator {
    private int[] picks = new int[64];
    private int[] sizes = new int[64];
    private int length;
    private int next;

    @Override
    public int applyAsInt(int choices) {
      if (next == length) {
        if (length == picks.length) {
          picks = Arrays.copyOf(picks, 2 * length);
          sizes = Arrays.copyOf(sizes, 2 * length);
        }
        picks[length] = 0;
        sizes[length] = choices;
        length++;
      }
      return picks[next++];
    }

    List<Integer> taken() {
      return IntStream.range(0, next).mapToObj(i -> picks[i]).toList();
    }

    boolean another() {
      next = 0;
      while (length > 0 && picks[length - 1] + 1 == sizes[length - 1]) {
        length--;
      }
      if (length == 0) {
        return false;
      }
      picks[length - 1]++;
      return true;
    }
  }

  private static IntUnaryOperator replay(List<Integer> picks) {
    Iterator<Integer> next = picks.iterator();
    return choices -> next.next();
  }

  private static Interleaving interleaving(
      Interleaving.Place place,
      FlightKey key,
      Rules rules,
      List<End> programs,
      List<Disturbance> disturbances,
      int maxDisturbances,
      IntUnaryOperator picks) {
    return new Interleaving(
        place, key, POLICY, METRICS, rules, programs, disturbances, maxDisturbances, picks);
  }

  private static Interleaving.Place simulated(int clients) {
    SimulatedFlightStore.Server server = new SimulatedFlightStore.Server(new VirtualTimers());
    return new Interleaving.Place(
        IntStream.range(0, clients).mapToObj(i -> server.node("client-" + i)).toList(), server);
  }

  /** What one schedule led to. */
  private record Trace(List<Integer> picks, List<String> steps) {}

  /** All of them, on the simulated store; kept if asked for. */
  private static int explore(
      Rules rules,
      List<End> programs,
      List<Disturbance> disturbances,
      int maxDisturbances,
      List<Trace> kept) {
    Schedules schedules = new Schedules();
    int runs = 0;
    do {
      List<String> steps =
          interleaving(
                  simulated(programs.size()),
                  KEY,
                  rules,
                  programs,
                  disturbances,
                  maxDisturbances,
                  schedules)
              .run();
      runs++;
      if (kept != null) {
        kept.add(new Trace(schedules.taken(), steps));
      }
    } while (schedules.another());
    return runs;
  }

  static Stream<Named<List<End>>> pairs() {
    List<List<End>> pairs = new ArrayList<>();
    for (End one : End.values()) {
      for (End other : End.values()) {
        if (one.compareTo(other) >= 0) {
          pairs.add(List.of(one, other));
        }
      }
    }
    return pairs.stream().map(pair -> Named.of(pair.toString(), pair));
  }

  @ParameterizedTest
  @MethodSource("pairs")
  void two_clients_disturbed_up_to_twice_keep_every_promise(List<End> programs) {
    // Where nobody succeeds nothing can be overwritten or come back: once is enough.
    int disturbances = programs.contains(End.SUCCEED) ? 2 : 1;
    assertThat(explore(new Rules(), programs, ALL, disturbances, null)).isGreaterThan(1_000);
  }

  @Test
  void three_clients_disturbed_once_keep_every_promise() {
    assertThat(explore(new Rules(), THREE, ALL, 1, null)).isGreaterThan(10_000);
  }

  @Test
  void three_clients_disturbed_up_to_four_times_keep_every_promise_in_a_sample() {
    sample(THREE, 4, 20 * SAMPLE, (random, number) -> simulated(3));
  }

  /** Where a sampled run takes place. */
  private interface Places {
    Interleaving.Place at(Random random, int number);
  }

  private static void sample(List<End> programs, int maxDisturbances, int runs, Places places) {
    long seed = new Random().nextLong();
    for (int i = 0; i < runs; i++) {
      Random random = new Random(seed + i);
      try {
        interleaving(
                places.at(random, i),
                FlightKey.of("s", "sampled", i),
                new Rules(),
                programs,
                ALL,
                maxDisturbances,
                random::nextInt)
            .run();
      } catch (Violation e) {
        throw new AssertionError("seed " + (seed + i), e);
      }
    }
  }

  // ---- on the real server

  static Stream<Named<List<End>>> pairsWithSuccess() {
    return pairs().filter(pair -> pair.getPayload().contains(End.SUCCEED));
  }

  @ParameterizedTest
  @MethodSource("pairsWithSuccess")
  void two_clients_disturbed_once_do_on_redis_what_they_do_in_the_simulation(
      List<End> programs, TestRedis server) throws Exception {
    List<Trace> traces = new ArrayList<>();
    explore(new Rules(), programs, ALL, 1, traces);
    assertThat(traces).hasSizeGreaterThan(1_000);
    onRedis(
        server,
        traces.size(),
        (place, i) -> {
          Trace trace = traces.get(i);
          FlightKey key = FlightKey.of("s", "on redis", programs.toString(), i);
          List<String> steps =
              interleaving(place, key, new Rules(), programs, ALL, 1, replay(trace.picks())).run();
          place.records().lose(key);
          if (!steps.equals(trace.steps())) {
            fail(
                "the simulation is wrong\n  "
                    + String.join("\n  ", steps)
                    + "\nsimulated\n  "
                    + String.join("\n  ", trace.steps()));
          }
        });
  }

  @Test
  void three_clients_disturbed_up_to_three_times_keep_every_promise_on_redis_in_a_sample(
      TestRedis server) throws Exception {
    long seed = new Random().nextLong();
    onRedis(
        server,
        SAMPLE,
        (place, i) -> {
          Random random = new Random(seed + i);
          FlightKey key = FlightKey.of("s", "sampled on redis", i);
          try {
            interleaving(place, key, new Rules(), THREE, ALL, 3, random::nextInt).run();
          } catch (Violation e) {
            throw new AssertionError("seed " + (seed + i), e);
          }
          place.records().lose(key);
        });
  }

  /** One run of many. */
  private interface OnRedis {
    void run(Interleaving.Place place, int number);
  }

  private static void onRedis(TestRedis server, int runs, OnRedis one) throws Exception {
    FlightRecords records = new RedisRecords(server.sync());
    ExecutorService threads = Executors.newFixedThreadPool(THREADS);
    try (StoreNodes nodes = new StoreNodes(server.uri())) {
      Interleaving.Place place =
          new Interleaving.Place(
              IntStream.range(0, 3).mapToObj(i -> nodes.open("client-" + i)).toList(), records);
      List<Callable<Void>> shares = new ArrayList<>();
      for (int t = 0; t < THREADS; t++) {
        int first = t;
        shares.add(
            () -> {
              for (int i = first; i < runs; i += THREADS) {
                one.run(place, i);
              }
              return null;
            });
      }
      for (Future<Void> share : threads.invokeAll(shares)) {
        share.get();
      }
    } finally {
      threads.shutdownNow();
    }
  }

  // ---- the explorer sees what is wrong

  private static Arguments broken(String how, String violated, Rules rules) {
    return Arguments.of(Named.of(how, rules), violated);
  }

  static Stream<Arguments> brokenRules() {
    return Stream.of(
        broken(
            "complete ignores the token",
            "4: OK under a token",
            new Rules() {
              @Override
              CompletableFuture<Ended> complete(
                  FlightStore store,
                  FlightRecords records,
                  FlightKey key,
                  OwnerStamp owner,
                  Commit commit) {
                Map<String, String> record = records.read(key);
                return store.complete(key, stampOf(record, owner), commit);
              }
            }),
        broken(
            "heartbeat ignores the token",
            "4: OK under a token",
            new Rules() {
              @Override
              CompletableFuture<Answer> heartbeat(
                  FlightStore store,
                  FlightRecords records,
                  FlightKey key,
                  OwnerStamp owner,
                  long ttl) {
                return store.heartbeat(key, stampOf(records.read(key), owner), ttl);
              }
            }),
        broken(
            "confirm ignores the token",
            "4: OK under a token",
            new Rules() {
              @Override
              CompletableFuture<Answer> confirm(
                  FlightStore store,
                  FlightRecords records,
                  FlightKey key,
                  OwnerStamp owner,
                  long ttl) {
                return store.confirm(key, stampOf(records.read(key), owner), ttl);
              }
            }),
        broken(
            "forget deletes and leaves no tombstone",
            "a forgotten value",
            new Rules() {
              @Override
              CompletableFuture<Forgot> forget(
                  FlightStore store,
                  FlightRecords records,
                  FlightKey key,
                  String forgetId,
                  long ttl) {
                records.lose(key);
                return CompletableFuture.completedFuture(new Forgot(true, 0, List.of()));
              }
            }),
        broken(
            "forget leaves a tombstone for too short",
            "a forgotten value",
            new Rules() {
              @Override
              CompletableFuture<Forgot> forget(
                  FlightStore store,
                  FlightRecords records,
                  FlightKey key,
                  String forgetId,
                  long ttl) {
                records.lose(key);
                return store.forget(key, forgetId, 1_000);
              }
            }),
        broken(
            "acquire takes over from an owner that beats",
            "1: ",
            new Rules() {
              @Override
              CompletableFuture<Acquired> acquire(
                  FlightStore store, FlightRecords records, FlightKey key, AcquireRequest request) {
                if (records.read(key).containsKey("heartbeatAt")) {
                  records.put(key, "heartbeatAt", "0");
                }
                return store.acquire(key, request);
              }
            }),
        broken(
            "acquire gives a resuming owner what it gives everybody",
            "a forgotten value",
            new Rules() {
              @Override
              CompletableFuture<Acquired> acquire(
                  FlightStore store, FlightRecords records, FlightKey key, AcquireRequest request) {
                return store.acquire(
                    key,
                    new AcquireRequest(
                        request.ownerId(),
                        request.idempotencyKey(),
                        request.leaseMillis(),
                        request.runningTtlMillis(),
                        request.maxAttempts(),
                        request.failedTtlMillis(),
                        request.damagedToken(),
                        false));
              }
            }),
        broken(
            "complete gives no TTL",
            "7: ",
            new Rules() {
              @Override
              CompletableFuture<Ended> complete(
                  FlightStore store,
                  FlightRecords records,
                  FlightKey key,
                  OwnerStamp owner,
                  Commit commit) {
                CompletableFuture<Ended> ended = store.complete(key, owner, commit);
                ((SimulatedFlightStore.Server) records).persist(key);
                return ended;
              }
            }),
        broken(
            "an owner does not notice its own silence",
            "a forgotten value",
            new Rules() {
              @Override
              long clientClock(long nanos) {
                return 0;
              }
            }));
  }

  private static OwnerStamp stampOf(Map<String, String> record, OwnerStamp otherwise) {
    return record.containsKey("ownerToken") && !record.get("status").equals("FORGOTTEN")
        ? new OwnerStamp(record.get("ownerId"), Long.parseLong(record.get("ownerToken")))
        : otherwise;
  }

  @ParameterizedTest
  @MethodSource("brokenRules")
  void a_broken_rule_is_found(Rules rules, String violated) {
    try {
      int runs = explore(rules, TWO, ALL, 2, null);
      fail(runs + " runs found nothing wrong");
    } catch (Violation found) {
      assertThat(found)
          .hasMessageStartingWith(violated)
          .as("with its steps")
          .hasMessageContaining("client 0 acquires: OwnerNew\n");
    }
  }

  @Test
  void an_idempotency_key_that_is_proposed_twice_is_found() {
    Rules stubborn =
        new Rules() {
          @Override
          CompletableFuture<Acquired> acquire(
              FlightStore store, FlightRecords records, FlightKey key, AcquireRequest request) {
            return store.acquire(key, request.resume() ? request : proposingTheSame(request));
          }
        };
    assertThatThrownBy(() -> explore(stubborn, List.of(End.FAIL, End.SUCCEED), ALL, 2, null))
        .isInstanceOf(Violation.class)
        .hasMessageContaining("a forgotten value");
  }

  private static AcquireRequest proposingTheSame(AcquireRequest request) {
    return new AcquireRequest(
        request.ownerId(),
        "of " + request.ownerId(),
        request.leaseMillis(),
        request.runningTtlMillis(),
        request.maxAttempts(),
        request.failedTtlMillis(),
        request.damagedToken(),
        request.resume());
  }
}
