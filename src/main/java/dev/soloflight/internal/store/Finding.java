package dev.soloflight.internal.store;

/**
 * What a look at one thing that SoloFlight needs came to.
 *
 * @param check what was looked at
 * @param state whether it will do
 * @param found what is there
 * @param remedy what to change; empty if nothing
 */
public record Finding(String check, State state, String found, String remedy) {
  /** Whether it will do. */
  public enum State {
    /** Yes. */
    OK,
    /** Yes, at a price that is named. */
    WARNING,
    /** No. */
    FAULT
  }

  /** It will do. */
  public static Finding ok(String check, String found) {
    return new Finding(check, State.OK, found, "");
  }

  /** It works, at a price. */
  public static Finding warning(String check, String found, String remedy) {
    return new Finding(check, State.WARNING, found, remedy);
  }

  /** It cannot work. */
  public static Finding fault(String check, String found, String remedy) {
    return new Finding(check, State.FAULT, found, remedy);
  }
}
