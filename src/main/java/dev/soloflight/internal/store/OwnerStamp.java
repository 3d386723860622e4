package dev.soloflight.internal.store;

/**
 * What a compare-and-set compares.
 *
 * @param ownerId who owns
 * @param ownerToken the fencing token
 */
public record OwnerStamp(String ownerId, long ownerToken) {}
