package dev.soloflight.support;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisCommandExecutionException;
import io.lettuce.core.RedisException;
import io.lettuce.core.SetArgs;
import java.io.IOException;
import java.net.ConnectException;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import org.junit.jupiter.api.Test;

class RedisProcessTest {
  /** A JVM that ends without closing its server. */
  static final class Careless {
    private Careless() {}

    public static void main(String[] args) {
      RedisProcess redis = RedisProcess.start();
      System.out.println("port " + redis.port());
      System.out.println("directory " + redis.directory());
      System.exit(0);
    }
  }

  @Test
  void restarts_on_its_port_with_what_was_appended_and_without_it_when_told_so() {
    try (RedisProcess redis = RedisProcess.builder().appendOnly().start()) {
      int port = redis.port();
      redis.sync().set("k", "v", SetArgs.Builder.ex(60));
      redis.kill9();
      assertThat(redis.isAlive()).isFalse();

      redis.restartWithData();
      assertThat(redis.sync().get("k")).isEqualTo("v");

      redis.restartEmpty();
      assertThat(redis.sync().dbsize()).isZero();
      assertThat(redis.port()).isEqualTo(port);
    }
  }

  @Test
  void without_append_only_restarts_with_what_was_saved_and_no_more() {
    try (RedisProcess redis = RedisProcess.start()) {
      redis.sync().set("saved", "1");
      redis.sync().save();
      redis.sync().set("unsaved", "1");

      redis.restartWithData();

      assertThat(redis.sync().keys("*")).containsExactly("saved");
    }
  }

  @Test
  void close_leaves_neither_process_nor_directory() {
    RedisProcess redis = RedisProcess.start();
    redis.pause();

    redis.close();

    assertThat(redis.isAlive()).isFalse();
    assertThat(redis.directory()).doesNotExist();
  }

  @Test
  void the_end_of_the_jvm_leaves_neither_process_nor_directory() {
    try (NodeProcess node = NodeProcess.of(Careless.class).start()) {
      int port = Integer.parseInt(valueOf(node, "port "));
      Path directory = Path.of(valueOf(node, "directory "));

      assertThat(node.awaitExit(Duration.ofSeconds(30))).isZero();

      assertThat(directory).doesNotExist();
      assertThatThrownBy(() -> new Socket(RedisProcess.HOST, port))
          .isInstanceOf(ConnectException.class);
    }
  }

  @Test
  void answers_nothing_while_paused_and_everything_after() throws IOException {
    try (RedisProcess redis = RedisProcess.start();
        Socket socket = new Socket(RedisProcess.HOST, redis.port())) {
      redis.pause();
      socket.setSoTimeout(200);
      socket.getOutputStream().write("PING\r\n".getBytes(StandardCharsets.US_ASCII));
      assertThatThrownBy(() -> socket.getInputStream().read())
          .isInstanceOf(SocketTimeoutException.class);

      redis.resume();
      socket.setSoTimeout(5_000);
      assertThat(socket.getInputStream().read()).isEqualTo('+');
    }
  }

  @Test
  void counts_commands_since_the_last_reset() {
    try (RedisProcess redis = RedisProcess.start()) {
      redis.sync().get("a");
      redis.resetStats();
      assertThat(redis.commandCount("get")).isZero();
      redis.sync().get("a");
      redis.sync().getrange("a", 0, 1);
      assertThat(redis.commandCount("GET")).isEqualTo(1);
    }
  }

  @Test
  void a_port_that_is_taken_is_named() {
    try (RedisProcess redis = RedisProcess.start()) {
      assertThatThrownBy(() -> RedisProcess.builder().port(redis.port()).start())
          .isInstanceOf(IllegalStateException.class)
          .hasMessageContaining("port " + redis.port() + " is taken");
    }
  }

  @Test
  void a_faulty_configuration_is_shown_in_the_words_of_the_server() {
    assertThatThrownBy(() -> RedisProcess.builder().config("no-such-setting 1").start())
        .isInstanceOf(IllegalStateException.class)
        .hasMessageContaining("no-such-setting");
  }

  @Test
  void a_password_is_required_and_is_in_the_uri_and_users_outlive_a_restart() {
    try (RedisProcess redis =
        RedisProcess.builder()
            .requirePass("s3cret")
            .users("reader on >secret ~* +@read +@connection")
            .maxMemory("8mb", "noeviction")
            .start()) {
      assertThat(redis.sync().set("k", "v")).isEqualTo("OK");
      assertThatThrownBy(() -> ping("redis://127.0.0.1:" + redis.port()))
          .isInstanceOf(RedisException.class);

      redis.restartEmpty();

      assertThat(ping("redis://reader:secret@127.0.0.1:" + redis.port())).isEqualTo("PONG");
      assertThat(ping(redis.uri())).isEqualTo("PONG");
    }
  }

  @Test
  void an_acl_user_may_do_what_its_rules_say_and_no_more() {
    try (RedisProcess redis = RedisProcess.start();
        AclUser user = AclUser.create(redis, "app", "~app:*", "+@all", "-xread");
        TestConnection connection = new TestConnection(user.uri())) {
      assertThat(connection.sync().set("app:1", "v")).isEqualTo("OK");
      assertThatThrownBy(() -> connection.sync().set("other", "v"))
          .isInstanceOf(RedisCommandExecutionException.class)
          .hasMessageContaining("NOPERM");

      user.change("-set");
      assertThatThrownBy(() -> connection.sync().set("app:1", "v"))
          .isInstanceOf(RedisCommandExecutionException.class)
          .hasMessageContaining("NOPERM");
    }
  }

  private static String valueOf(NodeProcess node, String name) {
    return node.awaitLine("^" + name, Duration.ofSeconds(30)).substring(name.length());
  }

  private static String ping(String uri) {
    try (RedisClient client = RedisClient.create(TestConnection.resources(), uri)) {
      return client.connect().sync().ping();
    }
  }
}
