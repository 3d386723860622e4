package dev.soloflight.support;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.lettuce.core.MigrateArgs;
import io.lettuce.core.cluster.SlotHash;
import io.lettuce.core.cluster.models.partitions.ClusterPartitionParser;
import io.lettuce.core.cluster.models.partitions.Partitions;
import io.lettuce.core.cluster.models.partitions.RedisClusterNode;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.awaitility.core.ConditionFactory;

/** A Redis Cluster of three primaries, each with as many replicas as asked for. */
public final class RedisClusterOf3 implements AutoCloseable {
  private static final int PRIMARIES = 3;
  private static final int NODE_TIMEOUT_MILLIS = 2_000;

  private final List<RedisProcess> nodes = new ArrayList<>();

  private RedisClusterOf3() {}

  /** Three primaries. */
  public static RedisClusterOf3 start() {
    return replicas(0);
  }

  /** Three primaries with so many replicas each, every one in sync with its primary. */
  public static RedisClusterOf3 replicas(int perPrimary) {
    RedisClusterOf3 cluster = new RedisClusterOf3();
    boolean formed = false;
    try {
      cluster.form(perPrimary);
      formed = true;
    } finally {
      if (!formed) {
        cluster.close();
      }
    }
    return cluster;
  }

  /** Every node's address in one string, separated by commas, for a cluster client. */
  public String uri() {
    return nodes.stream()
        .map(node -> RedisProcess.HOST + ":" + node.port())
        .collect(Collectors.joining(",", "redis://", ""));
  }

  /** Every node's own address. */
  public List<String> uris() {
    return nodes.stream().map(RedisProcess::uri).toList();
  }

  /** All nodes: first those that began as primaries, then those that began as replicas. */
  public List<RedisProcess> nodes() {
    return List.copyOf(nodes);
  }

  /** The primary that a key belongs to, as the living nodes see it. */
  public RedisProcess primaryOf(String key) {
    return primaryOf(SlotHash.getSlot(key));
  }

  /** The primary that a slot belongs to, as the living nodes see it. */
  public RedisProcess primaryOf(int slot) {
    return node(view().getPartitionBySlot(slot));
  }

  /** A primary that a key does not belong to. */
  public RedisProcess otherPrimaryThan(RedisProcess primary) {
    return view().stream()
        .filter(node -> !node.getSlots().isEmpty())
        .map(this::node)
        .filter(node -> node != primary)
        .findFirst()
        .orElseThrow();
  }

  /** Kills a primary that has a replica and waits until that replica has taken its slots. */
  public RedisProcess killAndFailOver(RedisProcess primary) {
    int slot = anySlotOf(primary);
    replicaOf(primary); // Fails where there is none.
    primary.kill9();
    return awaitNewPrimary(slot, primary);
  }

  /** An orderly change of roles (CLUSTER FAILOVER): nothing dies, nothing is lost. */
  public RedisProcess failOver(RedisProcess primary) {
    int slot = anySlotOf(primary);
    replicaOf(primary).sync().clusterFailover(false);
    return awaitNewPrimary(slot, primary);
  }

  /** Moves a slot with its keys to another primary. */
  public void migrateSlot(int slot, RedisProcess to) {
    SlotMigration migration = beginMigration(slot, to);
    migration.moveKeys();
    migration.finish();
  }

  /** A slot on its way: until its end, clients are asked to try the target (ASK). */
  public SlotMigration beginMigration(int slot, RedisProcess to) {
    RedisProcess from = primaryOf(slot);
    to.sync().clusterSetSlotImporting(slot, from.sync().clusterMyId());
    from.sync().clusterSetSlotMigrating(slot, to.sync().clusterMyId());
    return new SlotMigration(slot, from, to);
  }

  @Override
  public void close() {
    nodes.forEach(RedisProcess::close);
  }

  private void form(int replicasPerPrimary) {
    int size = PRIMARIES * (1 + replicasPerPrimary);
    for (int i = 0; i < size; i++) {
      RedisProcess node =
          RedisProcess.builder()
              .clusterEnabled()
              .config("cluster-node-timeout " + NODE_TIMEOUT_MILLIS)
              // A replica that has fallen behind may be promoted too.
              .config("cluster-replica-validity-factor 0")
              .start();
      node.sync().clusterSetConfigEpoch(i + 1);
      nodes.forEach(other -> other.sync().clusterMeet(RedisProcess.HOST, node.port()));
      nodes.add(node);
    }
    for (int i = 0; i < PRIMARIES; i++) {
      int first = SlotHash.SLOT_COUNT * i / PRIMARIES;
      int end = SlotHash.SLOT_COUNT * (i + 1) / PRIMARIES;
      nodes.get(i).sync().clusterAddSlots(IntStream.range(first, end).toArray());
    }
    awaitCluster()
        .untilAsserted(
            () ->
                assertThat(nodes)
                    .allSatisfy(
                        node ->
                            assertThat(node.sync().clusterInfo())
                                .contains("cluster_state:ok", "cluster_known_nodes:" + size)));
    for (int i = PRIMARIES; i < size; i++) {
      nodes.get(i).sync().clusterReplicate(nodes.get(i % PRIMARIES).sync().clusterMyId());
    }
    List<RedisProcess> replicas = nodes.subList(PRIMARIES, size);
    awaitCluster()
        .untilAsserted(
            () -> {
              assertThat(replicas)
                  .allSatisfy(
                      replica ->
                          assertThat(replica.sync().info("replication"))
                              .contains("master_link_status:up"));
              assertThat(nodes)
                  .allSatisfy(
                      node ->
                          assertThat(viewOf(node))
                              .filteredOn(seen -> seen.getSlaveOf() != null)
                              .hasSameSizeAs(replicas));
            });
  }

  private RedisProcess awaitNewPrimary(int slot, RedisProcess old) {
    awaitCluster()
        .untilAsserted(
            () ->
                assertThat(living())
                    .allSatisfy(
                        node -> {
                          assertThat(node.sync().clusterInfo()).contains("cluster_state:ok");
                          assertThat(ownerSeenBy(node, slot)).isNotSameAs(old);
                        }));
    return primaryOf(slot);
  }

  private RedisProcess ownerSeenBy(RedisProcess node, int slot) {
    return node(viewOf(node).getPartitionBySlot(slot));
  }

  private int anySlotOf(RedisProcess primary) {
    return view().stream()
        .filter(node -> node.getUri().getPort() == primary.port() && !node.getSlots().isEmpty())
        .map(node -> node.getSlots().get(0))
        .findFirst()
        .orElseThrow(() -> new IllegalArgumentException(primary + " owns no slot: no primary"));
  }

  private RedisProcess replicaOf(RedisProcess primary) {
    String id = primary.sync().clusterMyId();
    return view().stream()
        .filter(node -> id.equals(node.getSlaveOf()))
        .map(this::node)
        .filter(RedisProcess::isAlive)
        .findFirst()
        .orElseThrow(
            () -> new IllegalStateException(primary + " has no replica: start with replicas(1)"));
  }

  private RedisProcess node(RedisClusterNode seen) {
    return nodes.stream()
        .filter(node -> node.port() == seen.getUri().getPort())
        .findFirst()
        .orElseThrow();
  }

  private List<RedisProcess> living() {
    return nodes.stream().filter(RedisProcess::isAlive).toList();
  }

  private Partitions view() {
    return viewOf(living().get(0));
  }

  private static Partitions viewOf(RedisProcess node) {
    return ClusterPartitionParser.parse(node.sync().clusterNodes());
  }

  private static ConditionFactory awaitCluster() {
    return await().atMost(Duration.ofSeconds(30)).pollInterval(Duration.ofMillis(50));
  }

  /** A slot between two primaries. */
  public final class SlotMigration {
    private static final int BATCH = 100;
    private static final int TIMEOUT_MILLIS = 5_000;

    private final int slot;
    private final RedisProcess from;
    private final RedisProcess to;

    private SlotMigration(int slot, RedisProcess from, RedisProcess to) {
      this.slot = slot;
      this.from = from;
      this.to = to;
    }

    /** Moves the keys that the slot has now; may be called again. */
    public void moveKeys() {
      while (true) {
        List<String> keys = from.sync().clusterGetKeysInSlot(slot, BATCH);
        if (keys.isEmpty()) {
          return;
        }
        from.sync()
            .migrate(
                RedisProcess.HOST, to.port(), 0, TIMEOUT_MILLIS, MigrateArgs.Builder.keys(keys));
      }
    }

    /** The target owns the slot, and every primary knows it; clients are sent there (MOVED). */
    public void finish() {
      String owner = to.sync().clusterMyId();
      to.sync().clusterSetSlotNode(slot, owner);
      from.sync().clusterSetSlotNode(slot, owner);
      awaitNewPrimary(slot, from);
    }
  }
}
