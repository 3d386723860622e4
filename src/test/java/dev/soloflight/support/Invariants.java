package dev.soloflight.support;

import static java.util.stream.Collectors.toUnmodifiableSet;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.lettuce.core.ScanArgs;
import io.lettuce.core.ScanIterator;
import io.lettuce.core.api.sync.RedisKeyCommands;
import java.time.Duration;
import java.util.List;
import java.util.Set;

/** What holds after every test, whatever the test was about. */
public final class Invariants {
  private static final String THREAD_PREFIX = "soloflight";
  private static final Duration THREADS_MAY_TAKE = Duration.ofSeconds(5);
  private static final long NO_TTL = -1;

  private Invariants() {}

  /** Nothing is left in Redis without a TTL. Asks one server: in a cluster, ask every node. */
  public static void everyKeyHasTtl(RedisKeyCommands<String, String> redis) {
    List<String> eternal =
        ScanIterator.scan(redis, ScanArgs.Builder.limit(1_000)).stream()
            .filter(key -> redis.pttl(key) == NO_TTL)
            .toList();
    assertThat(eternal).as("keys in Redis without a TTL").isEmpty();
  }

  /** The threads of library instances that live now. */
  public static Set<Thread> libraryThreads() {
    return Thread.getAllStackTraces().keySet().stream()
        .filter(thread -> thread.getName().startsWith(THREAD_PREFIX))
        .collect(toUnmodifiableSet());
  }

  /** Library instances have ended their threads, those apart that lived before the test. */
  public static void noLibraryThreadLeft(Set<Thread> before) {
    await()
        .atMost(THREADS_MAY_TAKE)
        .pollInterval(Duration.ofMillis(20))
        .untilAsserted(
            () ->
                assertThat(libraryThreads())
                    .as("threads that the test left behind")
                    .isSubsetOf(before));
  }
}
