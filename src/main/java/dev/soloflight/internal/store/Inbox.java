package dev.soloflight.internal.store;

import dev.soloflight.FlightKey;
import dev.soloflight.internal.time.Timers;
import io.lettuce.core.RedisCommandExecutionException;
import io.lettuce.core.ScriptOutputType;
import io.lettuce.core.StreamMessage;
import io.lettuce.core.XReadArgs;
import io.lettuce.core.XReadArgs.StreamOffset;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Reads one node's inbox on a connection of its own, however many flights the node follows (DESIGN
 * 3.5).
 *
 * <p>A loop without a thread: refresh the stream and its TTL, read, hand out, again. After any
 * error it connects anew, reads from 0 and lets everybody look again: a wake-up too many is
 * harmless, a lost one costs a poll interval. Every error is answered by another try, with jitter;
 * only {@link #close} ends the loop.
 */
final class Inbox implements AutoCloseable {
  private static final Logger log = LoggerFactory.getLogger(Inbox.class);
  private static final String START = "0-0";
  private static final int READ_COUNT = 512;
  private static final long FIRST_RETRY_MILLIS = 100;
  private static final long LAST_RETRY_MILLIS = 2_000;
  private static final long REFUSED_RETRY_MILLIS = 30_000;

  private final String key;
  private final Connector connector;
  private final Timers timers;
  private final long blockMillis;
  private final String ttlMillis;
  private final FlightStore.WakeListener listener;

  private volatile boolean closed;
  private final AtomicReference<@Nullable Link> link = new AtomicReference<>();
  // Touched by the loop alone, whose steps follow one another.
  private String lastId = START;
  private long refreshedAtNanos;
  private long retryMillis = FIRST_RETRY_MILLIS;
  private boolean complained;

  Inbox(
      String key,
      Connector connector,
      Timers timers,
      Duration streamBlockTimeout,
      FlightStore.WakeListener listener) {
    this.key = key;
    this.connector = connector;
    this.timers = timers;
    this.blockMillis = streamBlockTimeout.toMillis();
    this.ttlMillis = Long.toString(Math.max(60_000, 5 * blockMillis));
    this.listener = listener;
  }

  void start() {
    connector
        .connect()
        .whenComplete(
            (opened, e) -> {
              if (opened == null) {
                retry(e);
              } else if (closed) {
                opened.close();
              } else {
                link.set(opened);
                lastId = START;
                refresh(opened);
              }
            });
  }

  private void refresh(Link current) {
    refreshedAtNanos = timers.nanoTime();
    Scripts.<List<Object>>run(
            current,
            Script.INBOX,
            ScriptOutputType.MULTI,
            key,
            ttlMillis.getBytes(StandardCharsets.US_ASCII))
        .whenComplete(
            (reply, e) -> {
              if (e != null) {
                retry(e);
                return;
              }
              if (Scripts.text(reply.get(0)).equals("CREATED")) {
                // Whatever was announced before this moment was announced to nobody.
                lastId = START;
                listener.onWakeAll();
              }
              read(current);
            });
  }

  @SuppressWarnings("unchecked") // the generic varargs of xread
  private void read(Link current) {
    if (closed) {
      return;
    }
    current
        .commands()
        .xread(
            XReadArgs.Builder.block(blockMillis).count(READ_COUNT), StreamOffset.from(key, lastId))
        .whenComplete(
            (messages, e) -> {
              if (e != null) {
                retry(e);
                return;
              }
              if (complained) {
                complained = false;
                log.info("inbox {} is read again; wake-ups arrive by event", key);
              }
              retryMillis = FIRST_RETRY_MILLIS;
              handOut(messages);
              if (timers.nanoTime() - refreshedAtNanos
                  >= TimeUnit.MILLISECONDS.toNanos(blockMillis)) {
                refresh(current);
              } else {
                read(current);
              }
            });
  }

  private void handOut(@Nullable List<StreamMessage<String, byte[]>> messages) {
    if (messages == null) {
      return;
    }
    for (StreamMessage<String, byte[]> message : messages) {
      lastId = message.getId();
      byte[] flight = message.getBody().get("flight");
      if (flight != null && flight.length > 0) {
        try {
          listener.onWake(FlightKey.parse(new String(flight, StandardCharsets.UTF_8)));
        } catch (RuntimeException e) {
          log.warn("inbox {}: an event could not be used and is skipped", key, e);
        }
      }
    }
  }

  private void retry(Throwable cause) {
    disconnect();
    if (closed) {
      return;
    }
    boolean refused = Scripts.rootOf(cause) instanceof RedisCommandExecutionException;
    if (!complained) {
      complained = true;
      log.warn(
          "inbox {} cannot be read ({}); followers on this node poll until it can",
          key,
          Scripts.describe(cause));
    }
    long base = refused ? REFUSED_RETRY_MILLIS : retryMillis;
    retryMillis = Math.min(LAST_RETRY_MILLIS, retryMillis * 2);
    long delayMillis = base / 2 + ThreadLocalRandom.current().nextLong(base / 2 + 1);
    timers.after(
        TimeUnit.MILLISECONDS.toNanos(delayMillis),
        () -> {
          if (!closed) {
            start();
          }
        });
  }

  @Override
  public void close() {
    closed = true;
    disconnect();
  }

  private void disconnect() {
    Link open = link.getAndSet(null);
    if (open != null) {
      open.close();
    }
  }
}
