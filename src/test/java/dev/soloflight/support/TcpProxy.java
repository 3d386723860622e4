package dev.soloflight.support;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.time.Duration;
import java.util.HashSet;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * The network between a client and a server: listens on a free port of the loopback address and
 * passes bytes on, until a test switches a fault on.
 */
public final class TcpProxy implements AutoCloseable {
  /** Which way bytes go. */
  public enum Direction {
    TO_SERVER,
    TO_CLIENT
  }

  private static final long MAX_PARK_NANOS = Duration.ofMillis(5).toNanos();

  private final String targetHost;
  private final int targetPort;
  private final int port;
  private final AtomicInteger accepted = new AtomicInteger();
  private final Set<Direction> blackholes = ConcurrentHashMap.newKeySet();
  private volatile long delayNanos;

  private final ReentrantLock lock = new ReentrantLock();
  // Guarded by the lock.
  private final Set<Link> links = new HashSet<>();
  private @Nullable ServerSocket listener;
  private @Nullable Thread acceptor;

  private TcpProxy(String targetHost, int targetPort) {
    this.targetHost = targetHost;
    this.targetPort = targetPort;
    this.port = FreePorts.next();
  }

  /** A faultless way to a server. */
  public static TcpProxy to(String host, int port) {
    TcpProxy proxy = new TcpProxy(host, port);
    proxy.refuse(false);
    return proxy;
  }

  /** A faultless way to a server. */
  public static TcpProxy to(RedisProcess redis) {
    return to(RedisProcess.HOST, redis.port());
  }

  /** Where this proxy listens. */
  public int port() {
    return port;
  }

  /** This proxy as the address of a Redis without a password. */
  public String uri() {
    return "redis://" + RedisProcess.HOST + ":" + port;
  }

  /** How many connections it has accepted so far. */
  public int accepted() {
    return accepted.get();
  }

  /** Closes every connection that is open now; new ones are welcome. */
  public void cut() {
    lock.lock();
    try {
      Set.copyOf(links).forEach(Link::close);
    } finally {
      lock.unlock();
    }
  }

  /** Whether new connections are refused, as by a host on which nothing listens. */
  public void refuse(boolean refuse) {
    Thread leaving = null;
    lock.lock();
    try {
      if (refuse == (listener == null)) {
        return;
      }
      if (refuse) {
        closeQuietly(listener);
        listener = null;
        leaving = acceptor;
      } else {
        ServerSocket opened = new ServerSocket();
        opened.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), port));
        listener = opened;
        acceptor = startThread(() -> acceptAll(opened));
      }
    } catch (IOException e) {
      throw new UncheckedIOException("the proxy cannot listen on its port " + port, e);
    } finally {
      lock.unlock();
    }
    // The kernel listens for as long as a thread is still inside accept.
    if (leaving != null) {
      try {
        leaving.join();
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
      }
    }
  }

  /** Whatever is sent arrives that much later, each way. */
  public void delay(Duration delay) {
    delayNanos = delay.toNanos();
  }

  /**
   * Every client with an open connection is told that nothing more will come; it can still send.
   */
  public void halfClose() {
    lock.lock();
    try {
      Set.copyOf(links).forEach(Link::halfClose);
    } finally {
      lock.unlock();
    }
  }

  /** Connections stay open and are accepted, but nothing arrives any more in that direction. */
  public void blackhole(Direction direction) {
    blackholes.add(direction);
  }

  /** Ends every fault. A connection that has lost bytes is closed, as no network mends it. */
  public void heal() {
    delayNanos = 0;
    blackholes.clear();
    refuse(false);
    lock.lock();
    try {
      Set.copyOf(links).stream().filter(link -> link.lostBytes).forEach(Link::close);
    } finally {
      lock.unlock();
    }
  }

  @Override
  public void close() {
    refuse(true);
    cut();
  }

  private void acceptAll(ServerSocket from) {
    while (true) {
      Socket client;
      try {
        client = from.accept();
      } catch (IOException e) {
        return; // Closed.
      }
      accepted.incrementAndGet();
      lock.lock();
      try {
        if (listener == from) {
          new Link(client).open();
        } else {
          closeQuietly(client);
        }
      } finally {
        lock.unlock();
      }
    }
  }

  private static Thread startThread(Runnable body) {
    Thread thread = new Thread(body, "test-tcp-proxy");
    thread.setDaemon(true);
    thread.start();
    return thread;
  }

  private static void closeQuietly(@Nullable AutoCloseable socket) {
    try {
      if (socket != null) {
        socket.close();
      }
    } catch (Exception e) {
      // It is gone either way.
    }
  }

  /** One connection of a client and the one behind it. */
  private final class Link {
    private final Socket client;
    private final Socket server = new Socket();
    private final AtomicInteger openWays = new AtomicInteger(2);
    private volatile boolean halfClosed;
    private volatile boolean lostBytes;

    Link(Socket client) {
      this.client = client;
    }

    void open() {
      try {
        server.connect(new InetSocketAddress(targetHost, targetPort), 1_000);
        client.setTcpNoDelay(true);
        server.setTcpNoDelay(true);
      } catch (IOException e) {
        close(); // The server is down: so is the way to it.
        return;
      }
      links.add(this);
      startThread(() -> pump(client, server, Direction.TO_SERVER));
      startThread(() -> pump(server, client, Direction.TO_CLIENT));
    }

    void close() {
      closeQuietly(client);
      closeQuietly(server);
      lock.lock();
      try {
        links.remove(this);
      } finally {
        lock.unlock();
      }
    }

    void halfClose() {
      halfClosed = true;
      try {
        client.shutdownOutput();
      } catch (IOException e) {
        close();
      }
    }

    private void pump(Socket from, Socket to, Direction direction) {
      byte[] buffer = new byte[64 * 1024];
      try {
        InputStream in = from.getInputStream();
        OutputStream out = to.getOutputStream();
        int count;
        while ((count = in.read(buffer)) >= 0) {
          awaitDelay();
          if (!swallows(direction)) {
            out.write(buffer, 0, count);
          }
        }
        if (!swallows(direction)) {
          to.shutdownOutput();
        }
      } catch (IOException e) {
        if (!halfClosed || direction == Direction.TO_SERVER) {
          close();
        }
      }
      if (openWays.decrementAndGet() == 0 && !lostBytes) {
        close();
      }
    }

    private boolean swallows(Direction direction) {
      if (blackholes.contains(direction)) {
        lostBytes = true;
        if (!blackholes.contains(direction)) {
          close(); // heal() may have looked at this connection before the loss was noted.
        }
        return true;
      }
      return halfClosed && direction == Direction.TO_CLIENT;
    }

    /** Ends early when the delay is lifted. */
    private void awaitDelay() {
      long start = System.nanoTime();
      long left;
      while ((left = delayNanos - (System.nanoTime() - start)) > 0) {
        LockSupport.parkNanos(Math.min(left, MAX_PARK_NANOS));
      }
    }
  }
}
