package dev.soloflight.internal.codec;

/** The record holds a result of another type than was asked for. */
public final class ResultTypeMismatchException extends Exception {
  private static final long serialVersionUID = 1L;

  ResultTypeMismatchException(String stored, String asked) {
    super(
        "its result is a "
            + stored
            + ", but a "
            + asked
            + " was asked for; ask for the same type, or make the type part of the key");
  }
}
