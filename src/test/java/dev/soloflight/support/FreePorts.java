package dev.soloflight.support;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.util.concurrent.ThreadLocalRandom;

/**
 * Ports for servers that must come back on the same port. They lie below the range from which the
 * system takes ports for outgoing connections: while a server is down, no client can take its port.
 */
final class FreePorts {
  private static final int FIRST = 10_000;
  private static final int LAST = 21_999;

  /** A cluster node listens here too, above its own port. */
  private static final int CLUSTER_BUS_OFFSET = 10_000;

  private FreePorts() {}

  /** A port that is free now, as is its cluster bus port. */
  static int next() {
    for (int attempt = 0; attempt < 1_000; attempt++) {
      int port = ThreadLocalRandom.current().nextInt(FIRST, LAST + 1);
      if (isFree(port) && isFree(port + CLUSTER_BUS_OFFSET)) {
        return port;
      }
    }
    throw new IllegalStateException("no free port from " + FIRST + " to " + LAST);
  }

  private static boolean isFree(int port) {
    try (ServerSocket socket = new ServerSocket()) {
      socket.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), port));
      return true;
    } catch (IOException e) {
      return false;
    }
  }
}
