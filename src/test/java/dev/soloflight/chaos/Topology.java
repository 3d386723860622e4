package dev.soloflight.chaos;

import dev.soloflight.support.RedisProcess;
import java.util.List;
import java.util.Random;

/** The Redis of a run, and the faults that only this kind of Redis can have. */
interface Topology extends AutoCloseable {
  /** Where clients connect. */
  String uri();

  /** The servers that take writes now. */
  List<RedisProcess> primaries();

  /** The server that has a key now. */
  RedisProcess primaryOf(String redisKey);

  /** Whether all traffic of a node can go through a proxy. */
  boolean proxied();

  /** How long a server may be silent without being replaced. */
  int maxSilenceMillis();

  /** Adds the faults that replace, lose or move servers. */
  void addFaults(FaultMenu menu, FaultLog log, Random random);

  /** The fault that a run is to have once at least. */
  void mustHappen(FaultLog log, Random random) throws InterruptedException;

  @Override
  void close();

  static Topology start(String name) {
    return switch (name) {
      case "standalone" -> new StandaloneTopology();
      case "sentinel" -> new SentinelTopology();
      case "cluster" -> new ClusterTopology();
      default ->
          throw new IllegalArgumentException(
              "chaos.topology is standalone, sentinel or cluster, not " + name);
    };
  }
}
