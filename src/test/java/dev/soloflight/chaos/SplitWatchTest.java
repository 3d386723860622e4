package dev.soloflight.chaos;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.soloflight.support.RedisProcess;
import dev.soloflight.support.SentinelSetup;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class SplitWatchTest {
  @Test
  void a_deposed_primary_that_lives_is_a_fault_until_it_is_a_replica(@TempDir Path directory) {
    Path file = directory.resolve("driver.history");
    try (SentinelSetup setup = SentinelSetup.start(2);
        HistoryWriter history = new HistoryWriter(file, "driver");
        SplitWatch watch = new SplitWatch(setup, new FaultLog(history))) {
      RedisProcess killed = setup.primary();
      setup.failover();
      killed.restartWithData();
      awaitReplica(killed); // Until then the sentinels know of one replica less.
      RedisProcess deposed = setup.primary();
      setup.depose();
      await()
          .atMost(Duration.ofSeconds(60))
          .until(
              () -> {
                List<Fault> faults = History.read(List.of(file)).faults();
                return !faults.isEmpty() && faults.get(0).toNanos() != Long.MAX_VALUE;
              });
      List<Fault> faults = History.read(List.of(file)).faults();
      assertThat(faults).hasSize(1);
      assertThat(faults.get(0).kind()).isEqualTo(FaultKind.SPLIT);
      assertThat(deposed.sync().info("replication")).contains("role:slave");
    }
  }

  private static void awaitReplica(RedisProcess server) {
    await()
        .atMost(Duration.ofSeconds(60))
        .ignoreExceptions()
        .until(() -> server.sync().info("replication").contains("role:slave"));
  }
}
