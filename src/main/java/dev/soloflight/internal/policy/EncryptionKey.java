package dev.soloflight.internal.policy;

/**
 * A key that payloads are encrypted with.
 *
 * @param id names it in records
 * @param secret 32 bytes
 */
public record EncryptionKey(String id, @SuppressWarnings("ArrayRecordComponent") byte[] secret) {
  /** The secret stays out of logs. */
  @Override
  public String toString() {
    return "EncryptionKey[" + id + "]";
  }
}
