package dev.soloflight.internal.policy;

/** A value that cannot be read; becomes one line of the report. Stays in this package. */
final class BadValueException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  private final String expected;

  /** Says what would be right, without repeating the value: it may be a password. */
  BadValueException(String expected) {
    super(expected, null, false, false);
    this.expected = expected;
  }

  String expected() {
    return expected;
  }
}
