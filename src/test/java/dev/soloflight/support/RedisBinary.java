package dev.soloflight.support;

import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import redis.embedded.core.ExecutableProvider;

/**
 * The redis-server to start: the one that {@value #ENV} names (any Redis or Valkey), else the one
 * that comes with the embedded-redis dependency, extracted once a JVM.
 */
final class RedisBinary {
  static final String ENV = "SOLOFLIGHT_REDIS_SERVER";

  private RedisBinary() {}

  static Path path() {
    return Holder.PATH;
  }

  private static final class Holder {
    static final Path PATH = locate();

    private static Path locate() {
      String given = System.getenv(ENV);
      if (given == null || given.isBlank()) {
        return extract();
      }
      Path path = Path.of(given).toAbsolutePath();
      if (!Files.isExecutable(path)) {
        throw new IllegalStateException(
            ENV + " must name an executable redis-server or valkey-server, but is: " + given);
      }
      return path;
    }

    private static Path extract() {
      try {
        File directory = Files.createTempDirectory("soloflight-redis-binary-").toFile();
        directory.deleteOnExit(); // Registered first, deleted last.
        File binary = ExecutableProvider.newJarResourceProvider(directory).get();
        binary.deleteOnExit();
        return binary.toPath();
      } catch (IOException e) {
        throw new UncheckedIOException("the embedded redis-server could not be extracted", e);
      }
    }
  }
}
