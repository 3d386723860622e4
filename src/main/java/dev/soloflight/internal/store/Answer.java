package dev.soloflight.internal.store;

/** What the compare-and-set of an owner's step answers (DESIGN 3.4). */
public enum Answer {
  /** Done. */
  OK,
  /** Another owner has the flight, or it is finished. */
  TAKEN,
  /** A tombstone is there. */
  FORGOTTEN,
  /** Nothing is there. */
  GONE
}
