package dev.soloflight.cli;

/** The command ends here: its message alone is shown, in place of a stack trace. */
final class CliException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  private final int exitCode;

  private CliException(int exitCode, String message) {
    super(message);
    this.exitCode = exitCode;
  }

  /** What was given cannot be used: exit code 2. */
  static CliException usage(String message) {
    return new CliException(2, message);
  }

  /** What was asked for was tried and did not come about: exit code 1. */
  static CliException failed(String message) {
    return new CliException(1, message);
  }

  int exitCode() {
    return exitCode;
  }
}
