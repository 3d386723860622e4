package dev.soloflight.internal.coordinator;

import dev.soloflight.internal.store.Acquired;

/** What became of an owner's outcome (DESIGN 3.4). */
public sealed interface Settlement {
  /** It is the flight's outcome, or will be as soon as Redis can be reached again. */
  record Published() implements Settlement {}

  /** It goes to its own callers and to nobody else: the flight was forgotten or lost. */
  record Private() implements Settlement {}

  /** The cluster has another result, which is the one to return. */
  record Superseded(Acquired.ReplaySuccess stored) implements Settlement {}
}
