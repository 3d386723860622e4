package dev.soloflight.chaos;

import dev.soloflight.CoordinationException;
import dev.soloflight.FlightFailedException;
import dev.soloflight.FlightKey;
import dev.soloflight.FlightResult;
import dev.soloflight.SoloFlight;
import java.nio.charset.StandardCharsets;
import java.util.Random;
import java.util.concurrent.CompletionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;

/** Makes calls and forgets, and writes down what was asked and what came back. */
final class ChaosCalls {
  private static final int MAX_ASYNC = 60;

  private final SoloFlight solo;
  private final HistoryWriter history;
  private final ChaosTasks tasks;
  private final String node;
  private final long maxWaitNanos;
  private final AtomicLong numbers = new AtomicLong();
  private final ReentrantLock lock = new ReentrantLock();
  private final Condition answered = lock.newCondition();
  private int inTheAir; // Guarded by the lock: asynchronous calls.

  ChaosCalls(SoloFlight solo, HistoryWriter history, String node, String maxWaitMillis) {
    this.solo = solo;
    this.history = history;
    this.node = node;
    this.tasks = new ChaosTasks(history, node);
    this.maxWaitNanos = TimeUnit.MILLISECONDS.toNanos(Long.parseLong(maxWaitMillis));
  }

  void callBlocking(Random random) {
    ChaosKey key = ChaosKey.draw(random);
    callBlocking(key, ChaosTasks.Plan.draw(random, key));
  }

  private void callBlocking(ChaosKey key, ChaosTasks.Plan plan) {
    String call = asked(key);
    try {
      answered(
          call,
          key.bytes()
              ? solo.call(
                  key.flight(), byte[].class, context -> utf8(tasks.run(call, key, plan, context)))
              : solo.call(
                  key.flight(), String.class, context -> tasks.run(call, key, plan, context)));
    } catch (Throwable e) {
      failed(call, e);
    }
  }

  void callAsync(Random random) throws InterruptedException {
    lock.lock();
    try {
      while (inTheAir >= MAX_ASYNC) {
        answered.await();
      }
    } finally {
      lock.unlock();
    }
    ChaosKey key = ChaosKey.draw(random);
    callAsync(key, ChaosTasks.Plan.draw(random, key));
  }

  /** One call besides those by chance. */
  void callAside(ChaosKey key, long millis) {
    callAsync(key, new ChaosTasks.Plan(millis, 100, ChaosTasks.Plan.Ending.VALUE));
  }

  private void callAsync(ChaosKey key, ChaosTasks.Plan plan) {
    lock.lock();
    try {
      inTheAir++;
    } finally {
      lock.unlock();
    }
    String call = asked(key);
    if (key.bytes()) {
      solo.callAsync(
              key.flight(),
              byte[].class,
              context -> tasks.start(call, key, plan, context, ChaosCalls::utf8))
          .whenComplete((result, e) -> landed(call, result, e));
    } else {
      solo.callAsync(
              key.flight(),
              String.class,
              context -> tasks.start(call, key, plan, context, text -> text))
          .whenComplete((result, e) -> landed(call, result, e));
    }
  }

  private void landed(String call, FlightResult<?> result, Throwable e) {
    try {
      if (e == null) {
        answered(call, result);
      } else {
        failed(call, e instanceof CompletionException && e.getCause() != null ? e.getCause() : e);
      }
    } finally {
      lock.lock();
      try {
        inTheAir--;
        answered.signalAll();
      } finally {
        lock.unlock();
      }
    }
  }

  /** Until every asynchronous call has its answer. */
  void awaitAnswers() throws InterruptedException {
    lock.lock();
    try {
      while (inTheAir > 0) {
        answered.await();
      }
    } finally {
      lock.unlock();
    }
  }

  void forget(Random random) {
    ChaosKey key = ChaosKey.draw(random);
    String forget = node + "!" + numbers.incrementAndGet();
    history.write(Event.Kind.FORGET, "forget", forget, "key", key.name());
    boolean done = false;
    try {
      FlightKey flight = key.flight();
      solo.forget(flight);
      done = true;
    } catch (CoordinationException e) {
      // Redis could not be told: it may be forgotten or not.
    } finally {
      history.write(Event.Kind.FORGOT, "forget", forget, "done", done);
    }
  }

  private String asked(ChaosKey key) {
    String call = node + "#" + numbers.incrementAndGet();
    history.write(
        Event.Kind.ASKED,
        "call",
        call,
        "key",
        key.name(),
        "deadline",
        System.nanoTime() + maxWaitNanos);
    return call;
  }

  private void answered(String call, FlightResult<?> result) {
    String value =
        result.value() instanceof byte[] bytes
            ? new String(bytes, StandardCharsets.UTF_8)
            : String.valueOf(result.value());
    history.write(
        Event.Kind.ANSWERED,
        "call",
        call,
        "source",
        result.source(),
        "token",
        result.ownerToken(),
        "exec",
        ChaosTasks.execution(value),
        "hash",
        ChaosTasks.hash(value));
  }

  private void failed(String call, Throwable e) {
    String code = "";
    String message = e.getMessage();
    if (e instanceof FlightFailedException failed) {
      code = failed.errorCode();
      message = failed.errorMessage();
    }
    String exec = message != null && message.startsWith(ChaosTasks.MARK) ? message : "";
    history.write(
        Event.Kind.ANSWERED,
        "call",
        call,
        "error",
        e.getClass().getSimpleName(),
        "code",
        code,
        "exec",
        exec,
        "said",
        exec.isEmpty() ? e : "");
  }

  private static byte[] utf8(String text) {
    return text.getBytes(StandardCharsets.UTF_8);
  }
}
