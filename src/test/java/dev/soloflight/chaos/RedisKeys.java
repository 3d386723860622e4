package dev.soloflight.chaos;

/** Where flights are in Redis (DESIGN 3.1). */
final class RedisKeys {
  private RedisKeys() {}

  static String of(ChaosKey key) {
    return "soloflight:{default:" + key.flight().id() + "}";
  }
}
