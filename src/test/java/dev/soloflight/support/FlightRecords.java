package dev.soloflight.support;

import dev.soloflight.FlightKey;
import java.time.Duration;
import java.util.Map;

/** The records themselves, as a test sees and spoils them past the protocol. */
public interface FlightRecords {
  /** What {@link #ttlMillis} says of a record that never goes. */
  long NO_TTL = -1;

  /** What {@link #ttlMillis} says where there is no record. */
  long NO_RECORD = -2;

  /** The fields; empty where there is nothing, or no hash. */
  Map<String, String> read(FlightKey key);

  /** What is left of the record's life, {@link #NO_TTL} or {@link #NO_RECORD}. */
  long ttlMillis(FlightKey key);

  /** Sets one field. */
  void put(FlightKey key, String field, String value);

  /** Removes one field. */
  void remove(FlightKey key, String field);

  /** The key holds another application's string, which never goes. */
  void overwriteWithString(FlightKey key);

  /** The record is gone, as after an eviction or a failover that lost it. */
  void lose(FlightKey key);

  /**
   * So much time has passed for this record, since all that is in it happened: leases, back-offs
   * and its own life run out, without anybody waiting.
   */
  void age(FlightKey key, Duration by);
}
