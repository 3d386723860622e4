package dev.soloflight.internal.policy;

import dev.soloflight.FlightMode;
import java.time.Duration;
import java.util.List;
import java.util.Map;

/**
 * Everything an instance is configured with (DESIGN 8), validated.
 *
 * @param mode where identical calls are collapsed; LOCAL where {@code distributed-enabled} is false
 * @param redis how Redis is reached
 * @param namespace keeps services and tenants that share a Redis apart
 * @param prefix first part of every key in Redis
 * @param streamBlockTimeout how long one read of the inbox blocks
 * @param pollFallbackInterval how often a follower asks without having been woken
 * @param l1MaxEntries the most entries the L1 cache holds; 0: no L1
 * @param maxResultBytes the largest result that is shared, before compression
 * @param encryptionKeys what payloads are encrypted with, the newest first; empty: not at all
 * @param stages the stages named in the configuration, and the four known ones
 * @param defaults the policy of a stage that is not named; its own name is {@code *}
 */
public record SoloFlightConfig(
    FlightMode mode,
    RedisSettings redis,
    String namespace,
    String prefix,
    Duration streamBlockTimeout,
    Duration pollFallbackInterval,
    int l1MaxEntries,
    int maxResultBytes,
    List<EncryptionKey> encryptionKeys,
    Map<String, StagePolicy> stages,
    StagePolicy defaults) {

  public SoloFlightConfig {
    encryptionKeys = List.copyOf(encryptionKeys);
    stages = Map.copyOf(stages);
  }

  /** The policy of a stage, named in the configuration or not. */
  public StagePolicy stage(String name) {
    return stages.getOrDefault(name, defaults);
  }

  /**
   * How Redis is reached.
   *
   * @param uri {@code redis://}, {@code rediss://}, {@code redis-sentinel://} or {@code
   *     redis-socket://}; several nodes of a Cluster separated by commas
   * @param commandTimeout how long one command, or one attempt to connect, may take
   */
  public record RedisSettings(String uri, Duration commandTimeout) {
    /**
     * One URI for each node to begin with: the seeds of a Cluster one by one, anything else as it
     * is.
     */
    public List<String> seeds() {
      return RedisUris.seeds(uri);
    }

    /** Credentials stay out of logs. */
    @Override
    public String toString() {
      return "RedisSettings[commandTimeout=" + commandTimeout + "]";
    }
  }
}
