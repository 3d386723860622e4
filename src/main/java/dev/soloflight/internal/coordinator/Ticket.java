package dev.soloflight.internal.coordinator;

import dev.soloflight.internal.store.Acquired;

/** What a pursuit ends in. */
public sealed interface Ticket {
  /** Whether it came after waiting for an owner on another node. */
  boolean followed();

  /** Run the task. */
  record Own(Ownership ownership, boolean followed) implements Ticket {}

  /** Serve this. */
  record Success(Acquired.ReplaySuccess stored, boolean followed) implements Ticket {}

  /** Serve this. */
  record Failure(Acquired.ReplayFailure stored, boolean followed) implements Ticket {}
}
