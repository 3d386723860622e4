package dev.soloflight.support;

import static org.assertj.core.api.Assertions.assertThat;

import io.lettuce.core.SetArgs;
import io.lettuce.core.cluster.RedisClusterClient;
import io.lettuce.core.cluster.RedisClusterURIUtil;
import io.lettuce.core.cluster.SlotHash;
import io.lettuce.core.cluster.api.sync.RedisAdvancedClusterCommands;
import java.net.URI;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

class RedisClusterOf3Test {
  private static final String KEY = "a-key";

  private static RedisClusterOf3 cluster;
  private static RedisClusterClient client;
  private static RedisAdvancedClusterCommands<String, String> redis;

  @BeforeAll
  static void start() {
    cluster = RedisClusterOf3.replicas(1);
    client =
        RedisClusterClient.create(
            TestConnection.resources(), RedisClusterURIUtil.toRedisURIs(URI.create(cluster.uri())));
    redis = client.connect().sync();
  }

  @AfterAll
  static void stop() {
    client.shutdown();
    cluster.close();
  }

  @Test
  void every_slot_answers() {
    String[] keys = IntStream.range(0, 500).mapToObj(i -> "key-" + i).toArray(String[]::new);
    for (String key : keys) {
      redis.set(key, key, SetArgs.Builder.ex(60));
    }
    assertThat(redis.exists(keys)).isEqualTo(keys.length);
    assertThat(cluster.nodes().get(0).sync().clusterInfo())
        .contains("cluster_slots_ok:" + SlotHash.SLOT_COUNT);
    assertThat(cluster.uris()).hasSize(6);
  }

  @Test
  void a_slot_moves_with_its_keys_while_clients_go_on() {
    redis.set(KEY, "before", SetArgs.Builder.ex(60));
    RedisProcess from = cluster.primaryOf(KEY);
    RedisProcess to = cluster.otherPrimaryThan(from);

    RedisClusterOf3.SlotMigration migration = cluster.beginMigration(SlotHash.getSlot(KEY), to);
    assertThat(redis.get(KEY)).isEqualTo("before");
    migration.moveKeys();
    assertThat(redis.get(KEY)).isEqualTo("before");
    migration.finish();

    assertThat(cluster.primaryOf(KEY)).isSameAs(to);
    assertThat(to.sync().get(KEY)).isEqualTo("before");
    assertThat(redis.get(KEY)).isEqualTo("before");
    assertThat(redis.ttl(KEY)).isPositive();

    cluster.migrateSlot(SlotHash.getSlot(KEY), from);
    assertThat(cluster.primaryOf(KEY)).isSameAs(from);
  }

  @Test
  void replicas_take_over_when_told_to_and_when_their_primary_dies() {
    RedisProcess first = cluster.primaryOf(KEY);

    RedisProcess second = cluster.failOver(first);
    assertThat(second).isNotSameAs(first);
    assertThat(second.sync().role().get(0)).isEqualTo("master");

    assertThat(cluster.killAndFailOver(second)).isSameAs(first);
    second.restartEmpty();
    assertThat(first.sync().set(KEY, "after", SetArgs.Builder.ex(60))).isEqualTo("OK");
  }
}
