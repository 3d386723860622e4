package dev.soloflight.internal.store;

import java.util.List;

/**
 * What forget answers.
 *
 * @param removed whether there was a flight
 * @param ownerToken the tombstone's token
 * @param waiters the nodes to wake
 */
public record Forgot(boolean removed, long ownerToken, List<String> waiters) {
  public Forgot {
    waiters = List.copyOf(waiters);
  }
}
