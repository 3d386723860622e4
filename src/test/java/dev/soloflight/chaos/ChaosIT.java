package dev.soloflight.chaos;

import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Runs the fault bench once, as the system properties say ({@link ChaosSetting}). */
class ChaosIT {
  @Test
  @Timeout(value = 12, unit = TimeUnit.HOURS) // It lasts as long as asked for.
  void what_is_promised_holds_whatever_dies() throws Exception {
    ChaosSetting setting = ChaosSetting.fromSystemProperties();
    HistoryChecker checked = HistoryChecker.check(ChaosDriver.run(setting));
    System.out.println(checked.summary());
    System.out.println(checked.line(setting.seed()));
    if (!checked.passed()) {
      throw new AssertionError(
          checked.line(setting.seed())
              + "\n"
              + checked.report()
              + "\nThe whole history is in "
              + setting.directory()
              + "\nRepeat it: "
              + setting.command());
    }
  }
}
