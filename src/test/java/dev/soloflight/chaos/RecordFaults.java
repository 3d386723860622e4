package dev.soloflight.chaos;

import dev.soloflight.support.RedisProcess;
import io.lettuce.core.ScriptOutputType;
import java.util.List;
import java.util.Random;

/** Records and inboxes deleted and damaged, under the callers' eyes. Their TTL stays. */
final class RecordFaults {
  private static final int TRIES = 50;

  /** Each changes a record only if it is there: a fault must not make a key of its own. */
  private static final List<String> DAMAGES =
      List.of(
          "redis.call('HSET', KEYS[1], 'payload', 'bm9ib2R5')",
          "local p = redis.call('HGET', KEYS[1], 'payload')"
              + " redis.call('HSET', KEYS[1], 'payload', p and string.sub(p, 1, #p / 2) or '')",
          "redis.call('HSET', KEYS[1], 'checksum', 'nonsense')",
          "redis.call('HSET', KEYS[1], 'codec', 'rot13')",
          "redis.call('HSET', KEYS[1], 'rawSize', 'many')",
          "redis.call('HSET', KEYS[1], 'status', 'DREAMING')",
          "redis.call('HSET', KEYS[1], 'v', '2')",
          "redis.call('HSET', KEYS[1], 'ownerToken', 'x', 'payload', 'x')",
          "redis.call('HSET', KEYS[1], 'ownerToken', 'x')",
          "redis.call('HDEL', KEYS[1], 'ownerToken', 'attempt')",
          "redis.call('HDEL', KEYS[1], 'heartbeatAt', 'finishedAt', 'payload')",
          "redis.call('HSET', KEYS[1], 'attempt', 'third', 'leaseMillis', 'long')",
          "redis.call('SET', KEYS[1], 'no hash', 'KEEPTTL')");

  private final Topology topology;
  private final FaultLog log;
  private final Random random;

  RecordFaults(Topology topology, FaultLog log, Random random) {
    this.topology = topology;
    this.log = log;
    this.random = random;
  }

  void addTo(FaultMenu menu) {
    menu.add(4, FaultKind.DELETE, this::delete)
        .add(6, FaultKind.CORRUPT, this::corrupt)
        .add(2, FaultKind.INBOX, this::inbox);
  }

  private void delete() throws InterruptedException {
    ChaosKey key = existing();
    log.onKey(
        FaultKind.DELETE,
        key.name(),
        "del",
        () -> change(RedisKeys.of(key), "redis.call('DEL', KEYS[1])"));
  }

  private void corrupt() throws InterruptedException {
    ChaosKey key = existing();
    int damage = random.nextInt(DAMAGES.size());
    log.onKey(
        FaultKind.CORRUPT,
        key.name(),
        "damage-" + damage,
        () -> change(RedisKeys.of(key), DAMAGES.get(damage)));
  }

  private void inbox() throws InterruptedException {
    RedisProcess redis = topology.primaries().get(0);
    List<String> inboxes = redis.sync().keys("soloflight:inbox:*");
    if (inboxes.isEmpty()) {
      return;
    }
    String inbox = inboxes.get(random.nextInt(inboxes.size()));
    boolean delete = random.nextBoolean();
    log.onAll(
        FaultKind.INBOX,
        () ->
            change(
                inbox,
                delete
                    ? "redis.call('DEL', KEYS[1])"
                    : "redis.call('SET', KEYS[1], 'no stream', 'KEEPTTL')"));
  }

  /** A flight that has a record now, if one is found soon. */
  private ChaosKey existing() {
    ChaosKey key = ChaosKey.draw(random);
    for (int i = 0; i < TRIES; i++) {
      String redisKey = RedisKeys.of(key);
      if (topology.primaryOf(redisKey).sync().exists(redisKey) == 1) {
        return key;
      }
      key = ChaosKey.draw(random);
    }
    return key;
  }

  private void change(String redisKey, String body) {
    topology
        .primaryOf(redisKey)
        .sync()
        .eval(
            "if redis.call('EXISTS', KEYS[1]) == 1 then " + body + " end return 1",
            ScriptOutputType.INTEGER,
            redisKey);
  }
}
