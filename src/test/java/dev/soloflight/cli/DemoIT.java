package dev.soloflight.cli;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import java.io.File;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.jar.JarFile;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The main job, run as a user runs it: the packaged jar, in a folder where nothing is. */
class DemoIT {
  @TempDir private Path folder;

  private JsonNode demo(String... options) throws Exception {
    List<String> command =
        new ArrayList<>(
            List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-jar",
                System.getProperty("soloflight.jar"),
                "demo",
                "--json"));
    command.addAll(List.of(options));
    File out = folder.resolve("out").toFile();
    File err = folder.resolve("err").toFile();
    Process process =
        new ProcessBuilder(command)
            .directory(folder.toFile())
            .redirectOutput(out)
            .redirectError(err)
            .start();
    int code = process.waitFor();
    String said = Files.readString(out.toPath()) + Files.readString(err.toPath());
    assertThat(code).as(said).isZero();
    assertThat(said).doesNotContain("WARN", "ERROR", "Exception");
    JsonNode report = Json.MAPPER.readTree(out);
    System.out.println(report);
    return report;
  }

  private static void sumsAddUp(JsonNode report) {
    int sources = 0;
    for (JsonNode calls : report.get("bySource")) {
      sources += calls.asInt();
    }
    assertThat(sources).isEqualTo(report.get("calls").asInt());
    assertThat(report.get("savedCalls").asInt())
        .isEqualTo(report.get("calls").asInt() - report.get("modelCalls").asInt());
  }

  @Test
  void twenty_flights_are_paid_for_twenty_times_however_often_they_are_asked_for()
      throws Exception {
    JsonNode report = demo();
    assertThat(report.get("calls").asInt()).isEqualTo(66);
    assertThat(report.get("flights").asInt()).isEqualTo(20);
    assertThat(report.get("modelCalls").asInt()).isEqualTo(20);
    assertThat(report.get("differingAnswers").asInt()).isZero();
    assertThat(report.get("failures").asInt()).isZero();
    assertThat(report.get("takeovers").asInt()).isZero();
    sumsAddUp(report);
  }

  @Test
  void a_killed_owner_is_taken_over_and_everybody_is_answered() throws Exception {
    JsonNode report = demo("--kill-owner");
    assertThat(report.get("takeovers").asInt()).isOne();
    assertThat(report.get("failures").asInt()).isZero();
    assertThat(report.get("differingAnswers").asInt()).isZero();
    assertThat(report.get("modelCalls").asInt()).isEqualTo(report.get("flights").asInt() + 1);
    assertThat(report.get("takeoverMillis").asLong()).isPositive();
    sumsAddUp(report);
  }

  @Test
  void the_lean_jar_holds_the_library_and_configures_nobodys_logging() throws Exception {
    try (JarFile lean = new JarFile(System.getProperty("soloflight.lean.jar"))) {
      List<String> entries = lean.stream().map(entry -> entry.getName()).toList();
      assertThat(entries)
          .contains("dev/soloflight/SoloFlight.class", "lua/acquire.lua")
          .doesNotContain("logback.xml", "logback-test.xml")
          .allMatch(
              entry ->
                  entry.startsWith("dev/")
                      || entry.startsWith("lua/")
                      || entry.startsWith("config/")
                      || entry.startsWith("META-INF/")
                      || entry.equals("soloflight-cli-logback.xml"));
    }
  }
}
