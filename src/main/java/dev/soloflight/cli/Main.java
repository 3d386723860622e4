package dev.soloflight.cli;

import dev.soloflight.CoordinationException;
import dev.soloflight.FlightConfigException;
import java.io.PrintWriter;
import java.nio.charset.StandardCharsets;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.IVersionProvider;

/**
 * The command line (DESIGN 9). Exit codes: 0 it is so, 1 it is not or could not be done, 2 what was
 * given cannot be used. A mistake of the user's is told in one message, without a stack trace.
 */
@Command(
    name = "soloflight",
    mixinStandardHelpOptions = true,
    scope = CommandLine.ScopeType.INHERIT,
    description = "One expensive call, however many times and on however many machines asked for.",
    synopsisSubcommandLabel = "COMMAND",
    versionProvider = Main.Version.class,
    footer = {"", "Exit codes: 0 done, 1 not so or not possible, 2 wrong arguments or settings."},
    subcommands = {
      DemoCommand.class,
      FlightsCommand.class,
      InspectCommand.class,
      ForgetCommand.class,
      DoctorCommand.class,
      DemoNodeCommand.class
    })
public final class Main {
  private Main() {}

  /** Runs one command and ends the JVM with its exit code. */
  public static void main(String[] args) {
    System.exit(run(args, writer(System.out), writer(System.err)));
  }

  /** Runs one command. */
  static int run(String[] args, PrintWriter out, PrintWriter err) {
    // Before the first logger: a person at a terminal wants warnings, on stderr, and no more.
    if (System.getProperty("logback.configurationFile") == null) {
      System.setProperty("logback.configurationFile", "soloflight-cli-logback.xml");
    }
    CommandLine line = new CommandLine(new Main());
    line.setOut(out);
    line.setErr(err);
    line.setCaseInsensitiveEnumValuesAllowed(true);
    line.setParameterExceptionHandler(
        (e, parsed) -> {
          err.println(e.getMessage());
          err.println("Try: " + e.getCommandLine().getCommandSpec().qualifiedName() + " --help");
          return 2;
        });
    line.setExecutionExceptionHandler((e, command, parsed) -> tell(e, err));
    int code = line.execute(args.length == 0 ? new String[] {"--help"} : args);
    out.flush();
    err.flush();
    return code;
  }

  private static int tell(Exception e, PrintWriter err) throws Exception {
    if (e instanceof CliException known) {
      err.println(known.getMessage());
      return known.exitCode();
    }
    if (e instanceof FlightConfigException) {
      err.println(e.getMessage());
      return 2;
    }
    if (e instanceof CoordinationException) {
      err.println(e.getMessage());
      err.println("Try: soloflight doctor");
      return 1;
    }
    throw e;
  }

  private static PrintWriter writer(java.io.PrintStream stream) {
    return new PrintWriter(
        new java.io.OutputStreamWriter(stream, StandardCharsets.UTF_8), /* autoFlush= */ true);
  }

  /** Read from the jar's manifest. */
  static final class Version implements IVersionProvider {
    @Override
    public String[] getVersion() {
      String version = Main.class.getPackage().getImplementationVersion();
      return new String[] {
        "soloflight " + (version == null ? "(not packaged)" : version),
        "Java " + System.getProperty("java.version")
      };
    }
  }
}
