package dev.soloflight.internal.store;

import dev.soloflight.support.FlightRecords;
import dev.soloflight.support.RedisRecords;
import dev.soloflight.support.StoreNodes;
import dev.soloflight.support.TestRedis;
import dev.soloflight.support.WithRedis;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;

/** The protocol on one Redis. */
@WithRedis
class LettuceFlightStoreTest extends FlightStoreContract {
  private final StoreNodes nodes = new StoreNodes(TestRedis.shared().uri());

  @Override
  FlightStore node(String nodeId) {
    return nodes.open(nodeId);
  }

  @Override
  FlightRecords records() {
    return new RedisRecords(TestRedis.shared().sync());
  }

  @BeforeEach
  void scriptsAreUnknown() {
    TestRedis.shared().sync().scriptFlush();
  }

  @AfterEach
  void close() {
    nodes.close();
  }
}
