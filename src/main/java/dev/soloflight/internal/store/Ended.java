package dev.soloflight.internal.store;

import java.util.List;

/**
 * What complete and release answer.
 *
 * @param answer whether it was committed
 * @param waiters the nodes to wake, if it was
 */
public record Ended(Answer answer, List<String> waiters) {
  public Ended {
    waiters = List.copyOf(waiters);
  }
}
