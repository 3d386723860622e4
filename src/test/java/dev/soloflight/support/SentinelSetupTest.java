package dev.soloflight.support;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.lettuce.core.RedisClient;
import io.lettuce.core.SetArgs;
import io.lettuce.core.api.sync.RedisCommands;
import java.time.Duration;
import org.junit.jupiter.api.Test;

class SentinelSetupTest {
  @Test
  void a_replica_is_promoted_when_the_primary_dies_and_clients_find_it() {
    try (SentinelSetup setup = SentinelSetup.start(1);
        RedisClient client = RedisClient.create(TestConnection.resources(), setup.uri())) {
      RedisCommands<String, String> redis = client.connect().sync();
      RedisProcess first = setup.primary();
      redis.set("k", "v", SetArgs.Builder.ex(600));
      assertThat(redis.waitForReplication(1, 5_000)).isEqualTo(1);

      RedisProcess second = setup.failover();

      assertThat(first.isAlive()).isFalse();
      assertThat(second).isNotSameAs(first).isSameAs(setup.primary());
      await()
          .atMost(Duration.ofSeconds(20))
          .ignoreExceptions()
          .untilAsserted(() -> assertThat(redis.get("k")).isEqualTo("v"));
    }
  }
}
