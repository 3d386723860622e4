package dev.soloflight.chaos;

import dev.soloflight.FlightContext;
import dev.soloflight.FlightFailedException;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Function;

/** The expensive calls: each run has a name that is in its value, and in its failure's message. */
final class ChaosTasks {
  /** What a run's name begins with. */
  static final String MARK = "run-";

  /** How a run is to go. */
  record Plan(long millis, int size, Ending ending) {
    /** How a run is to end. */
    enum Ending {
      VALUE,
      RETRYABLE_FAILURE,
      FAILURE,
      ERROR
    }

    static Plan draw(Random random, ChaosKey key) {
      return new Plan(millis(random, key), size(random), ending(random, key));
    }

    private static long millis(Random random, ChaosKey key) {
      int kind = random.nextInt(100);
      if (key.stage().equals("quick")) {
        return 1L + random.nextInt(kind < 80 ? 20 : 150);
      }
      return kind < 60
          ? 1L + random.nextInt(100)
          : kind < 90 ? 100L + random.nextInt(600) : 700L + random.nextInt(1_800);
    }

    private static int size(Random random) {
      int kind = random.nextInt(100);
      return kind < 80
          ? 10 + random.nextInt(2_000)
          : kind < 97 ? 2_000 + random.nextInt(60_000) : 100_000 + random.nextInt(900_000);
    }

    private static Ending ending(Random random, ChaosKey key) {
      int kind = random.nextInt(100);
      if (!key.stage().equals("frail")) {
        return kind < 98 ? Ending.VALUE : Ending.FAILURE;
      }
      return kind < 60
          ? Ending.VALUE
          : kind < 85 ? Ending.RETRYABLE_FAILURE : kind < 95 ? Ending.FAILURE : Ending.ERROR;
    }
  }

  private final HistoryWriter history;
  private final String node;
  private final AtomicLong numbers = new AtomicLong();
  private final ScheduledExecutorService timer =
      Executors.newSingleThreadScheduledExecutor(
          body -> {
            Thread thread = new Thread(body, "chaos-tasks");
            thread.setDaemon(true);
            return thread;
          });

  ChaosTasks(HistoryWriter history, String node) {
    this.history = history;
    this.node = node;
  }

  /** On the caller's thread. */
  String run(String call, ChaosKey key, Plan plan, FlightContext context)
      throws InterruptedException {
    String exec = began(call, key, context);
    try {
      Thread.sleep(plan.millis());
    } catch (InterruptedException e) {
      ended(exec, Execution.Outcome.CANCELLED, "", context);
      throw e;
    }
    return end(exec, plan, context);
  }

  /** On no thread while it lasts. */
  <T> CompletableFuture<T> start(
      String call, ChaosKey key, Plan plan, FlightContext context, Function<String, T> form) {
    String exec = began(call, key, context);
    AtomicBoolean over = new AtomicBoolean();
    CompletableFuture<T> value =
        new CompletableFuture<>() {
          @Override
          public boolean cancel(boolean mayInterruptIfRunning) {
            if (over.compareAndSet(false, true)) {
              ended(exec, Execution.Outcome.CANCELLED, "", context);
            }
            return super.cancel(mayInterruptIfRunning);
          }

          @Override
          public <U> CompletableFuture<U> newIncompleteFuture() {
            return new CompletableFuture<>();
          }
        };
    timer.schedule(
        () -> {
          if (over.compareAndSet(false, true)) {
            try {
              value.complete(form.apply(end(exec, plan, context)));
            } catch (Throwable e) {
              value.completeExceptionally(e);
            }
          }
        },
        plan.millis(),
        TimeUnit.MILLISECONDS);
    return value;
  }

  private String began(String call, ChaosKey key, FlightContext context) {
    String exec = MARK + node + "." + numbers.incrementAndGet();
    history.write(
        Event.Kind.BEGAN,
        "exec",
        exec,
        "call",
        call,
        "key",
        key.name(),
        "token",
        context.ownerToken(),
        "attempt",
        context.attempt(),
        "idem",
        context.idempotencyKey());
    context.onOwnershipLost(() -> history.write(Event.Kind.LOST, "exec", exec));
    return exec;
  }

  private String end(String exec, Plan plan, FlightContext context) {
    switch (plan.ending()) {
      case RETRYABLE_FAILURE -> {
        ended(exec, Execution.Outcome.RETRYABLE, "", context);
        throw FlightFailedException.of("BUSY", exec, true);
      }
      case FAILURE -> {
        ended(exec, Execution.Outcome.FAILED, "", context);
        throw new IllegalStateException(exec);
      }
      case ERROR -> {
        ended(exec, Execution.Outcome.FAILED, "", context);
        throw new AssertionError(exec);
      }
      case VALUE -> {
        // Told apart below; a value follows.
      }
    }
    String value = value(exec, plan.size());
    ended(exec, Execution.Outcome.OK, hash(value), context);
    return value;
  }

  private void ended(String exec, Execution.Outcome outcome, String hash, FlightContext context) {
    history.write(
        Event.Kind.ENDED,
        "exec",
        exec,
        "outcome",
        outcome,
        "hash",
        hash,
        "token",
        context.ownerToken());
  }

  private static String value(String exec, int size) {
    StringBuilder value = new StringBuilder(exec.length() + 1 + size).append(exec).append('|');
    Random filler = new Random(exec.hashCode());
    while (value.length() < size) {
      value.append((char) ('a' + filler.nextInt(26)));
    }
    return value.toString();
  }

  /** The run that a value is of. */
  static String execution(String value) {
    int bar = value.indexOf('|');
    return bar < 0 ? "none" : value.substring(0, bar);
  }

  static String hash(String value) {
    try {
      byte[] sha =
          MessageDigest.getInstance("SHA-256").digest(value.getBytes(StandardCharsets.UTF_8));
      return HexFormat.of().formatHex(sha, 0, 6);
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException(e);
    }
  }
}
