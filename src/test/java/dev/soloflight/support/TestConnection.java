package dev.soloflight.support;

import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisURI;
import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.api.sync.RedisCommands;
import io.lettuce.core.resource.ClientResources;
import io.lettuce.core.resource.DefaultClientResources;
import io.lettuce.core.resource.Delay;
import java.time.Duration;
import java.util.Locale;
import java.util.concurrent.locks.ReentrantLock;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * A test's own connection to one server, opened when first asked for. It reconnects within a moment
 * of the server's return; a command gives up after 5 s.
 */
final class TestConnection implements AutoCloseable {
  static final Duration COMMAND_TIMEOUT = Duration.ofSeconds(5);

  private final ReentrantLock lock = new ReentrantLock();
  private final String uri;
  private @Nullable RedisClient client;
  private @Nullable StatefulRedisConnection<String, String> connection;

  TestConnection(String uri) {
    this.uri = uri;
  }

  /** Threads for the tests' own connections, shared by all of them; daemons, never closed. */
  static ClientResources resources() {
    return Shared.RESOURCES;
  }

  RedisCommands<String, String> sync() {
    lock.lock();
    try {
      if (connection == null) {
        RedisURI redisUri = RedisURI.create(uri);
        redisUri.setTimeout(COMMAND_TIMEOUT);
        client = RedisClient.create(resources(), redisUri);
        connection = client.connect();
      }
      return connection.sync();
    } finally {
      lock.unlock();
    }
  }

  /** How often the server has run a command, e.g. {@code evalsha}, since the last reset. */
  long commandCount(String command) {
    String name = Pattern.quote(command.toLowerCase(Locale.ROOT));
    Matcher matcher =
        Pattern.compile("(?m)^cmdstat_" + name + ":calls=(\\d+)")
            .matcher(sync().info("commandstats"));
    return matcher.find() ? Long.parseLong(matcher.group(1)) : 0;
  }

  void resetStats() {
    sync().configResetstat();
  }

  @Override
  public void close() {
    lock.lock();
    try {
      if (client != null) {
        client.shutdown(Duration.ZERO, Duration.ofSeconds(2));
      }
      client = null;
      connection = null;
    } finally {
      lock.unlock();
    }
  }

  private static final class Shared {
    static final ClientResources RESOURCES =
        DefaultClientResources.builder()
            .ioThreadPoolSize(2)
            .computationThreadPoolSize(2)
            .reconnectDelay(Delay.constant(Duration.ofMillis(50)))
            .build();
  }
}
