package dev.soloflight.support;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.soloflight.support.TcpProxy.Direction;
import java.io.IOException;
import java.net.ConnectException;
import java.net.Socket;
import java.net.SocketException;
import java.net.SocketTimeoutException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class TcpProxyTest {
  private static final int PATIENT_MILLIS = 5_000;
  private static final int IMPATIENT_MILLIS = 200;
  private static final int END = -1;

  private static RedisProcess redis;

  private TcpProxy proxy;
  private Socket client;

  @BeforeAll
  static void startRedis() {
    redis = RedisProcess.start();
  }

  @AfterAll
  static void stopRedis() {
    redis.close();
  }

  @BeforeEach
  void connect() throws IOException {
    proxy = TcpProxy.to(redis);
    client = new Socket(RedisProcess.HOST, proxy.port());
    client.setSoTimeout(PATIENT_MILLIS);
    assertPasses(client);
  }

  @AfterEach
  void disconnect() throws IOException {
    client.close();
    proxy.close();
  }

  @Test
  void cut_ends_open_connections_and_welcomes_new_ones() throws IOException {
    proxy.cut();

    assertThat(isOver(client)).isTrue();
    try (Socket next = new Socket(RedisProcess.HOST, proxy.port())) {
      assertPasses(next);
    }
    assertThat(proxy.accepted()).isEqualTo(2);
  }

  @Test
  void refuse_lets_nobody_in_until_lifted_and_leaves_open_connections_alone() throws IOException {
    proxy.refuse(true);

    assertThatThrownBy(() -> new Socket(RedisProcess.HOST, proxy.port()))
        .isInstanceOf(ConnectException.class);
    assertPasses(client);
    proxy.refuse(false);
    try (Socket next = new Socket(RedisProcess.HOST, proxy.port())) {
      assertPasses(next);
    }
  }

  @Test
  void delay_holds_bytes_back_each_way_and_healing_lets_them_through() throws IOException {
    proxy.delay(Duration.ofMillis(100));
    long start = System.nanoTime();
    assertPasses(client);
    assertThat(Duration.ofNanos(System.nanoTime() - start))
        .isGreaterThanOrEqualTo(Duration.ofMillis(200));

    proxy.delay(Duration.ofHours(1));
    assertNothingComesBack();
    proxy.heal();
    client.setSoTimeout(PATIENT_MILLIS);
    assertReply(client);
  }

  @Test
  void half_close_ends_what_the_client_reads_but_not_what_it_sends() throws IOException {
    proxy.halfClose();

    assertThat(client.getInputStream().read()).isEqualTo(END);
    send(client, "SET half-closed 1");
    await().until(() -> redis.sync().exists("half-closed") == 1);
  }

  @Test
  void a_blackhole_towards_the_server_swallows_commands() throws IOException {
    proxy.blackhole(Direction.TO_SERVER);

    send(client, "SET swallowed 1");
    assertNothingComesBack();
    assertThat(redis.sync().exists("swallowed")).isZero();
  }

  @Test
  void a_blackhole_towards_the_client_swallows_replies_only() throws IOException {
    proxy.blackhole(Direction.TO_CLIENT);

    send(client, "SET reply-lost 1");
    await().until(() -> redis.sync().exists("reply-lost") == 1);
    assertNothingComesBack();
  }

  @Test
  void healing_closes_a_connection_that_has_lost_bytes_and_keeps_the_others() throws IOException {
    try (Socket idle = new Socket(RedisProcess.HOST, proxy.port())) {
      idle.setSoTimeout(PATIENT_MILLIS);
      assertPasses(idle);
      proxy.blackhole(Direction.TO_CLIENT);
      assertNothingComesBack();

      proxy.heal();

      client.setSoTimeout(PATIENT_MILLIS);
      assertThat(isOver(client)).isTrue();
      assertPasses(idle);
    }
  }

  private void assertNothingComesBack() throws IOException {
    client.setSoTimeout(IMPATIENT_MILLIS);
    send(client, "PING");
    assertThatThrownBy(() -> client.getInputStream().read())
        .isInstanceOf(SocketTimeoutException.class);
  }

  private static void assertPasses(Socket socket) throws IOException {
    send(socket, "PING");
    assertReply(socket);
  }

  private static void assertReply(Socket socket) throws IOException {
    assertThat(new String(socket.getInputStream().readNBytes(7), StandardCharsets.US_ASCII))
        .isEqualTo("+PONG\r\n");
  }

  private static void send(Socket socket, String command) throws IOException {
    socket.getOutputStream().write((command + "\r\n").getBytes(StandardCharsets.US_ASCII));
  }

  private static boolean isOver(Socket socket) throws IOException {
    try {
      return socket.getInputStream().read() == END;
    } catch (SocketException e) {
      return true; // Reset.
    }
  }
}
