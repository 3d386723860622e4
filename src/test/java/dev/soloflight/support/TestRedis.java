package dev.soloflight.support;

import io.lettuce.core.api.sync.RedisCommands;
import org.testcontainers.DockerClientFactory;
import org.testcontainers.containers.GenericContainer;
import org.testcontainers.utility.DockerImageName;

/**
 * The one standalone Redis that the tests of a JVM share: the one that {@value #ENV} names (its
 * database gets emptied, over and over), else one in a container, else the embedded one.
 */
public final class TestRedis {
  static final String ENV = "SOLOFLIGHT_REDIS_URI";

  private static final String IMAGE = "redis:7-alpine";
  private static final int PORT = 6379;

  private final String uri;
  private final TestConnection connection;

  private TestRedis(String uri, String origin) {
    this.uri = uri;
    connection = new TestConnection(uri);
    System.out.println("Tests use " + origin + " at " + uri.replaceFirst("//.*@", "//***@"));
  }

  /** Started when first asked for; ends with the JVM. */
  public static TestRedis shared() {
    return Shared.INSTANCE;
  }

  public String uri() {
    return uri;
  }

  /** The tests' own connection. */
  public RedisCommands<String, String> sync() {
    return connection.sync();
  }

  /** How often the server has run a command, e.g. {@code evalsha}, since the last reset. */
  public long commandCount(String command) {
    return connection.commandCount(command);
  }

  /** Sets every command's count to zero. */
  public void resetStats() {
    connection.resetStats();
  }

  private static final class Shared {
    static final TestRedis INSTANCE = open();

    private static TestRedis open() {
      String given = System.getenv(ENV);
      if (given != null && !given.isBlank()) {
        return new TestRedis(given, "the Redis that " + ENV + " names");
      }
      if (DockerClientFactory.instance().isDockerAvailable()) {
        try {
          return inContainer();
        } catch (RuntimeException e) {
          System.out.println("Docker answers but " + IMAGE + " does not start: " + e);
        }
      }
      return new TestRedis(RedisProcess.start().uri(), "the redis-server " + RedisBinary.path());
    }

    /** Testcontainers removes it when the JVM ends. */
    @SuppressWarnings("resource")
    private static TestRedis inContainer() {
      GenericContainer<?> container =
          new GenericContainer<>(DockerImageName.parse(IMAGE)).withExposedPorts(PORT);
      container.start();
      return new TestRedis(
          "redis://" + container.getHost() + ":" + container.getMappedPort(PORT),
          IMAGE + " in a container");
    }
  }
}
