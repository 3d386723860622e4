package dev.soloflight.internal.store;

import dev.soloflight.internal.policy.SoloFlightConfig.RedisSettings;
import io.lettuce.core.AbstractRedisClient;
import io.lettuce.core.ClientOptions;
import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisURI;
import io.lettuce.core.SocketOptions;
import io.lettuce.core.TimeoutOptions;
import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.cluster.ClusterClientOptions;
import io.lettuce.core.cluster.ClusterTopologyRefreshOptions;
import io.lettuce.core.cluster.RedisClusterClient;
import io.lettuce.core.codec.ByteArrayCodec;
import io.lettuce.core.codec.RedisCodec;
import io.lettuce.core.codec.StringCodec;
import io.lettuce.core.resource.ClientResources;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * Opens connections to whatever the URI names: a standalone server, the primary behind Sentinels,
 * or a Cluster (several URIs separated by commas, or one node that says it belongs to a Cluster).
 */
final class Connector implements AutoCloseable {
  private static final RedisCodec<String, byte[]> CODEC =
      RedisCodec.of(StringCodec.UTF8, ByteArrayCodec.INSTANCE);

  private final List<RedisURI> uris;
  private final ClientResources resources;
  private final boolean autoReconnect;
  private final Duration connectTimeout;
  private final ReentrantLock lock = new ReentrantLock();
  private @Nullable RedisClient single;
  private @Nullable RedisClusterClient cluster;
  private boolean closed;

  /**
   * Connects nothing yet.
   *
   * @param autoReconnect whether a lost connection comes back by itself; in a Cluster each does: a
   *     node is connected to when first written to, and until then a connection that does not
   *     reconnect would reject every command
   * @param commandTimeout how long a command on these connections may take
   */
  Connector(
      RedisSettings settings,
      ClientResources resources,
      boolean autoReconnect,
      Duration commandTimeout) {
    this.uris = settings.seeds().stream().map(seed -> uri(seed, commandTimeout)).toList();
    this.resources = resources;
    this.autoReconnect = autoReconnect;
    this.connectTimeout = settings.commandTimeout();
  }

  CompletionStage<Link> connect() {
    lock.lock();
    try {
      if (closed) {
        return CompletableFuture.failedFuture(new IllegalStateException("closed"));
      }
      return uris.size() > 1 || cluster != null ? connectCluster() : connectSingle();
    } finally {
      lock.unlock();
    }
  }

  private CompletionStage<Link> connectSingle() {
    if (single == null) {
      single = RedisClient.create(resources);
      single.setOptions(apply(ClientOptions.builder()).autoReconnect(autoReconnect).build());
    }
    return single
        .connectAsync(CODEC, uris.get(0))
        .thenCompose(
            connection ->
                connection
                    .async()
                    .clusterInfo()
                    .handle((info, e) -> info != null && info.contains("cluster_state"))
                    .thenCompose(isCluster -> accept(connection, isCluster)));
  }

  private CompletionStage<Link> accept(
      StatefulRedisConnection<String, byte[]> connection, boolean isCluster) {
    if (!isCluster) {
      return CompletableFuture.completedFuture(new Link(connection.async(), connection));
    }
    return connection
        .closeAsync()
        .thenCompose(
            ignored -> {
              lock.lock();
              try {
                return closed
                    ? CompletableFuture.failedFuture(new IllegalStateException("closed"))
                    : connectCluster();
              } finally {
                lock.unlock();
              }
            });
  }

  @SuppressWarnings(
      "deprecation") // the one way to name the triggers that every supported Lettuce has
  private CompletionStage<Link> connectCluster() {
    RedisClusterClient client = cluster;
    if (client == null) {
      client = RedisClusterClient.create(resources, uris);
      client.setOptions(
          ((ClusterClientOptions.Builder) apply(ClusterClientOptions.builder()))
              .topologyRefreshOptions(
                  ClusterTopologyRefreshOptions.builder()
                      .enableAdaptiveRefreshTrigger(
                          ClusterTopologyRefreshOptions.RefreshTrigger.values())
                      .adaptiveRefreshTriggersTimeout(Duration.ofMillis(500))
                      .enablePeriodicRefresh(Duration.ofSeconds(30))
                      .build())
              .build());
      cluster = client;
    }
    RedisClusterClient connecting = client;
    return connecting
        .refreshPartitionsAsync()
        .thenCompose(ignored -> connecting.connectAsync(CODEC))
        .thenApply(connection -> new Link(connection.async(), connection));
  }

  /** A Cluster is asked anew who has which slots; anything else has nothing to ask for. */
  void refreshTopology() {
    RedisClusterClient client;
    lock.lock();
    try {
      client = closed ? null : cluster;
    } finally {
      lock.unlock();
    }
    if (client != null) {
      client.refreshPartitionsAsync();
    }
  }

  private ClientOptions.Builder apply(ClientOptions.Builder options) {
    return options
        .requestQueueSize(100_000)
        .socketOptions(
            SocketOptions.builder().connectTimeout(connectTimeout).keepAlive(true).build())
        .timeoutOptions(TimeoutOptions.enabled());
  }

  @Override
  public void close() {
    lock.lock();
    try {
      closed = true;
      shutdown(single);
      shutdown(cluster);
    } finally {
      lock.unlock();
    }
  }

  private static void shutdown(@Nullable AbstractRedisClient client) {
    if (client != null) {
      client.shutdownAsync(0, 1, TimeUnit.SECONDS).toCompletableFuture().join();
    }
  }

  private static RedisURI uri(String seed, Duration commandTimeout) {
    RedisURI parsed = RedisURI.create(seed);
    parsed.setTimeout(commandTimeout);
    parsed.setClientName("soloflight");
    return parsed;
  }
}
