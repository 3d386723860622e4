package dev.soloflight.support;

import dev.soloflight.FlightKey;
import io.lettuce.core.ScriptOutputType;
import io.lettuce.core.SetArgs;
import io.lettuce.core.cluster.api.sync.RedisClusterCommands;
import java.time.Duration;
import java.util.Map;

/** The records on a real server, standalone or Cluster, of the default prefix and namespace. */
public final class RedisRecords implements FlightRecords {
  private static final String AGE =
      """
      for _, field in ipairs({'startedAt', 'heartbeatAt', 'finishedAt', 'forgottenUntil'}) do
        local at = redis.call('HGET', KEYS[1], field)
        if at then
          redis.call('HSET', KEYS[1], field, string.format('%.0f', at - ARGV[1]))
        end
      end
      local ttl = redis.call('PTTL', KEYS[1])
      if ttl >= 0 then
        redis.call('PEXPIRE', KEYS[1], string.format('%.0f', ttl - ARGV[1]))
      end
      return 1
      """;

  private final RedisClusterCommands<String, String> redis;

  public RedisRecords(RedisClusterCommands<String, String> redis) {
    this.redis = redis;
  }

  /** Where a flight's record is kept. */
  public static String redisKey(FlightKey key) {
    return "soloflight:{default:" + key.id() + "}";
  }

  @Override
  public Map<String, String> read(FlightKey key) {
    return redis.type(redisKey(key)).equals("hash") ? redis.hgetall(redisKey(key)) : Map.of();
  }

  @Override
  public long ttlMillis(FlightKey key) {
    return redis.pttl(redisKey(key));
  }

  @Override
  public void put(FlightKey key, String field, String value) {
    redis.hset(redisKey(key), field, value);
  }

  @Override
  public void remove(FlightKey key, String field) {
    redis.hdel(redisKey(key), field);
  }

  @Override
  public void overwriteWithString(FlightKey key) {
    redis.set(redisKey(key), "another application's", new SetArgs());
  }

  @Override
  public void lose(FlightKey key) {
    redis.del(redisKey(key));
  }

  @Override
  public void age(FlightKey key, Duration by) {
    Object aged =
        redis.eval(
            AGE,
            ScriptOutputType.INTEGER,
            new String[] {redisKey(key)},
            Long.toString(by.toMillis()));
    if (aged == null) {
      throw new IllegalStateException(key + " did not age");
    }
  }
}
