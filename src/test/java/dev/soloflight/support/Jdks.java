package dev.soloflight.support;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.Properties;
import java.util.stream.Stream;

/** The JDKs of this machine: the test's own, and those installed beside it. */
public final class Jdks {
  private Jdks() {}

  /** The test's own if it is new enough, else any other that is. */
  public static Optional<Path> atLeast(int feature) {
    Path own = Path.of(System.getProperty("java.home"));
    return Stream.concat(Stream.of(own), beside(own).stream())
        .filter(home -> featureOf(home) >= feature)
        .findFirst();
  }

  private static List<Path> beside(Path own) {
    Path parent = own.toAbsolutePath().getParent();
    if (parent == null) {
      return List.of();
    }
    try (Stream<Path> homes = Files.list(parent)) {
      return homes.sorted().toList();
    } catch (IOException e) {
      return List.of();
    }
  }

  private static int featureOf(Path home) {
    Path release = home.resolve("release");
    if (!Files.isReadable(release) || !Files.isExecutable(home.resolve("bin").resolve("java"))) {
      return 0;
    }
    Properties properties = new Properties();
    try (var in = Files.newBufferedReader(release)) {
      properties.load(in);
      String version = properties.getProperty("JAVA_VERSION", "\"0\"").replace("\"", "");
      return Runtime.Version.parse(version).feature();
    } catch (IOException | IllegalArgumentException e) {
      return 0;
    }
  }
}
