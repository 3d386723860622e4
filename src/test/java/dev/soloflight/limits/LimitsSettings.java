package dev.soloflight.limits;

import dev.soloflight.StageSettings;
import java.time.Duration;

/** Stages that the nodes of a test must have in common. */
final class LimitsSettings {
  static final Duration INTERVAL = Duration.ofSeconds(2);

  private LimitsSettings() {}

  /** Nothing is kept in L1, so that a heap is what waits. */
  static void patient(StageSettings stage) {
    stage
        .heartbeatInterval(Duration.ofSeconds(20))
        .takeoverDetect(Duration.ofMinutes(2))
        .runningTtl(Duration.ofMinutes(5))
        .l1Ttl(Duration.ZERO);
  }

  static void beating(StageSettings stage) {
    patient(stage);
    stage.heartbeatInterval(INTERVAL);
  }

  /** So that Redis does not hold all of a million results. */
  static void brief(StageSettings stage) {
    stage
        .heartbeatInterval(Duration.ofSeconds(2))
        .takeoverDetect(Duration.ofSeconds(8))
        .runningTtl(Duration.ofSeconds(10))
        .resultTtl(Duration.ofSeconds(10));
  }
}
