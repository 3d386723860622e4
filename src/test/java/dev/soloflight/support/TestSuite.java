package dev.soloflight.support;

import static org.junit.platform.engine.discovery.DiscoverySelectors.selectClass;
import static org.junit.platform.launcher.core.LauncherDiscoveryRequestBuilder.request;

import java.io.PrintWriter;
import java.nio.charset.StandardCharsets;
import org.junit.platform.launcher.core.LauncherFactory;
import org.junit.platform.launcher.listeners.SummaryGeneratingListener;
import org.junit.platform.launcher.listeners.TestExecutionSummary;

/** Runs test classes in a JVM of their own; exits with 0 if none of their tests failed. */
public final class TestSuite {
  private TestSuite() {}

  public static void main(String[] classes) {
    SummaryGeneratingListener listener = new SummaryGeneratingListener();
    var request = request();
    for (String name : classes) {
      request.selectors(selectClass(name));
    }
    LauncherFactory.create().execute(request.build(), listener);
    TestExecutionSummary summary = listener.getSummary();
    PrintWriter out = new PrintWriter(System.out, true, StandardCharsets.UTF_8);
    summary.printFailuresTo(out);
    out.printf(
        "tests: %d run, %d failed, %d skipped%n",
        summary.getTestsStartedCount(),
        summary.getTestsFailedCount(),
        summary.getTestsSkippedCount() + summary.getTestsAbortedCount());
    System.exit(summary.getTotalFailureCount() == 0 ? 0 : 1);
  }
}
