package dev.soloflight.support;

import dev.soloflight.FlightKey;
import dev.soloflight.FlightResult;
import dev.soloflight.SoloFlight;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * A JVM of callers. Reads lines of {@code KEY CALLERS TASK_MILLIS} and makes so many calls at once;
 * prints {@code READY}, {@code RUN key pid token}, {@code ANSWER key source value millis} or {@code
 * FAILED key type: message}, and {@code DONE key}.
 */
public final class CallerNode {
  private CallerNode() {}

  public static void main(String[] args) throws Exception {
    SoloFlight solo = SoloFlight.open(Path.of(args[0]));
    ExecutorService callers = Executors.newFixedThreadPool(100);
    say("READY");
    BufferedReader in =
        new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
    for (String line = in.readLine(); line != null; line = in.readLine()) {
      String[] words = line.split(" ", -1);
      if (words[0].equals("CLOSE")) {
        solo.close();
        say("CLOSED");
        continue;
      }
      FlightKey key = FlightKey.of("s", words[0]);
      int calls = Integer.parseInt(words[1]);
      AtomicInteger left = new AtomicInteger(calls);
      for (int i = 0; i < calls; i++) {
        callers.execute(
            () -> {
              one(solo, key, words[0], Long.parseLong(words[2]));
              if (left.decrementAndGet() == 0) {
                say("DONE " + words[0]);
              }
            });
      }
    }
    System.exit(0);
  }

  private static void one(SoloFlight solo, FlightKey key, String name, long taskMillis) {
    long pid = ProcessHandle.current().pid();
    try {
      FlightResult<String> result =
          solo.call(
              key,
              String.class,
              c -> {
                say("RUN " + name + " " + pid + " " + c.ownerToken() + " " + c.attempt());
                Thread.sleep(Duration.ofMillis(taskMillis).toMillis());
                return pid + "/" + c.ownerToken();
              });
      say(
          "ANSWER "
              + name
              + " "
              + result.source()
              + " "
              + result.value()
              + " "
              + result.elapsed().toMillis());
    } catch (RuntimeException e) {
      say("FAILED " + name + " " + e);
    }
  }

  private static synchronized void say(String line) {
    System.out.println(line);
    System.out.flush();
  }
}
