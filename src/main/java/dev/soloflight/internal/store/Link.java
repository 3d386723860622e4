package dev.soloflight.internal.store;

import io.lettuce.core.api.AsyncCloseable;
import io.lettuce.core.cluster.api.async.RedisClusterAsyncCommands;

/**
 * One logical connection, whatever the topology.
 *
 * @param commands the commands that standalone, Sentinel and Cluster have in common
 * @param connection what to close
 */
record Link(RedisClusterAsyncCommands<String, byte[]> commands, AsyncCloseable connection) {
  void close() {
    connection.closeAsync();
  }
}
