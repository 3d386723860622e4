package dev.soloflight.chaos;

import static org.awaitility.Awaitility.await;

import dev.soloflight.support.RedisClusterOf3;
import dev.soloflight.support.RedisProcess;
import io.lettuce.core.cluster.SlotHash;
import java.time.Duration;
import java.util.List;
import java.util.Random;

/** Three primaries with a replica each. */
final class ClusterTopology implements Topology {
  private final RedisClusterOf3 cluster = RedisClusterOf3.replicas(1);

  @Override
  public String uri() {
    return cluster.uri();
  }

  @Override
  public List<RedisProcess> primaries() {
    return cluster.nodes().stream()
        .filter(RedisProcess::isAlive)
        .filter(node -> node.sync().info("replication").contains("role:master"))
        .toList();
  }

  @Override
  public RedisProcess primaryOf(String redisKey) {
    return cluster.primaryOf(redisKey);
  }

  @Override
  public boolean proxied() {
    return false;
  }

  @Override
  public int maxSilenceMillis() {
    return 1_000; // The others wait for 2 s.
  }

  @Override
  public void addFaults(FaultMenu menu, FaultLog log, Random random) {
    menu.add(1, FaultKind.FAILOVER, () -> failOver(log, random))
        .add(3, FaultKind.MIGRATION, () -> migrate(log, random));
  }

  @Override
  public void mustHappen(FaultLog log, Random random) throws InterruptedException {
    failOver(log, random);
    migrate(log, random);
  }

  private void failOver(FaultLog log, Random random) throws InterruptedException {
    RedisProcess old = cluster.primaryOf(random.nextInt(SlotHash.SLOT_COUNT));
    log.onAll(FaultKind.FAILOVER, () -> cluster.killAndFailOver(old));
    old.restartWithData();
    await()
        .atMost(Duration.ofSeconds(60))
        .pollInterval(Duration.ofMillis(100))
        .ignoreExceptions() // Who becomes a replica hangs up first.
        .until(() -> old.sync().info("replication").contains("master_link_status:up"));
  }

  /** A hot flight's slot, with its keys, while it is asked for. */
  private void migrate(FaultLog log, Random random) throws InterruptedException {
    int slot = SlotHash.getSlot(RedisKeys.of(ChaosKey.draw(random)));
    RedisProcess to = cluster.otherPrimaryThan(cluster.primaryOf(slot));
    log.onAll(
        FaultKind.MIGRATION,
        () -> {
          RedisClusterOf3.SlotMigration migration = cluster.beginMigration(slot, to);
          Thread.sleep(random.nextInt(500));
          migration.moveKeys();
          Thread.sleep(random.nextInt(500));
          migration.moveKeys();
          migration.finish();
        });
  }

  @Override
  public void close() {
    cluster.close();
  }
}
