package dev.soloflight.internal.store;

import dev.soloflight.support.FlightRecords;
import dev.soloflight.support.Invariants;
import dev.soloflight.support.RedisClusterOf3;
import dev.soloflight.support.RedisRecords;
import dev.soloflight.support.StoreNodes;
import io.lettuce.core.cluster.RedisClusterClient;
import io.lettuce.core.cluster.RedisClusterURIUtil;
import io.lettuce.core.cluster.api.StatefulRedisClusterConnection;
import java.net.URI;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;

/** The protocol on a Redis Cluster: flights of every slot, one connection. */
class LettuceFlightStoreClusterTest extends FlightStoreContract {
  private static RedisClusterOf3 cluster;
  private static RedisClusterClient client;
  private static StatefulRedisClusterConnection<String, String> connection;
  private static StoreNodes nodes;

  @BeforeAll
  static void start() {
    cluster = RedisClusterOf3.start();
    client = RedisClusterClient.create(RedisClusterURIUtil.toRedisURIs(URI.create(cluster.uri())));
    connection = client.connect();
    nodes = new StoreNodes(cluster.uri());
  }

  @AfterAll
  static void stop() {
    nodes.close();
    client.shutdown();
    cluster.close();
  }

  @Override
  FlightStore node(String nodeId) {
    return nodes.open(nodeId);
  }

  @Override
  FlightRecords records() {
    return new RedisRecords(connection.sync());
  }

  @AfterEach
  void every_key_has_a_ttl() {
    cluster.nodes().forEach(node -> Invariants.everyKeyHasTtl(node.sync()));
  }
}
