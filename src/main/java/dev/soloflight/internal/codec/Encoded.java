package dev.soloflight.internal.codec;

/**
 * A result as it is stored (DESIGN 6).
 *
 * @param codec the steps it went through, and the type it was
 * @param rawSize its size in bytes before compression
 * @param checksum SHA-256 over the raw bytes, in hex
 * @param payload Base64, in ASCII
 */
public record Encoded(
    String codec,
    int rawSize,
    String checksum,
    @SuppressWarnings("ArrayRecordComponent") byte[] payload) {}
