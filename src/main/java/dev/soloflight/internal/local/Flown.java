package dev.soloflight.internal.local;

import dev.soloflight.Source;
import org.jspecify.annotations.Nullable;

/**
 * What serving a ticket came to, for its leader.
 *
 * @param outcome the outcome, or null where the ticket was void and the leader waits again
 * @param source where the leader got it from
 */
record Flown(@Nullable Outcome outcome, Source source) {
  static final Flown AGAIN = new Flown(null, Source.EXECUTED);
}
