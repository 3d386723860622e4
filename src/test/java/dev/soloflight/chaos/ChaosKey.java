package dev.soloflight.chaos;

import dev.soloflight.FlightKey;
import java.util.List;
import java.util.Random;

/** A flight that is asked for: a few are hot, most belong to a long tail. */
record ChaosKey(String stage, String id) {
  /** {@code careful} cancels a task whose ownership is lost; {@code frail} fails often. */
  static final List<String> STAGES = List.of("quick", "slow", "frail", "careful");

  private static final int HOT_PERCENT = 70;
  private static final int HOT = 5;
  private static final int TAIL = 150;

  static ChaosKey draw(Random random) {
    String stage = STAGES.get(random.nextInt(STAGES.size()));
    return random.nextInt(100) < HOT_PERCENT
        ? new ChaosKey(stage, "hot" + random.nextInt(HOT))
        : new ChaosKey(stage, "tail" + random.nextInt(TAIL));
  }

  static ChaosKey of(String name) {
    int slash = name.indexOf('/');
    return new ChaosKey(name.substring(0, slash), name.substring(slash + 1));
  }

  String name() {
    return stage + "/" + id;
  }

  /** Whether the results are bytes, not text: the same on every node. */
  boolean bytes() {
    return id.charAt(id.length() - 1) % 2 == 0;
  }

  FlightKey flight() {
    return FlightKey.of(stage, id);
  }
}
