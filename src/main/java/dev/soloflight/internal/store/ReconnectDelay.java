package dev.soloflight.internal.store;

import io.lettuce.core.resource.Delay;
import java.time.Duration;
import java.util.concurrent.ThreadLocalRandom;

/**
 * How long a lost connection waits before it is tried again: twice as long each time up to a
 * second, and always a random part of that, so that the clients of a Redis that comes back do not
 * come back at one moment.
 *
 * <p>Lettuce's own equal jitter waits exactly its upper bound from the tenth attempt on, and its
 * lower bound from about the sixtieth on, where its power of two overflows: every client would try
 * a hundred times a second after one minute's outage.
 */
final class ReconnectDelay extends Delay {
  private static final long FIRST_MILLIS = 20;
  private static final long MOST_MILLIS = 1_000;
  private static final int MOST_DOUBLINGS = 6;

  @Override
  public Duration createDelay(long attempt) {
    int doublings = (int) Math.max(0, Math.min(attempt - 1, MOST_DOUBLINGS));
    long most = Math.min(FIRST_MILLIS << doublings, MOST_MILLIS);
    return Duration.ofMillis(ThreadLocalRandom.current().nextLong(most / 2, most + 1));
  }
}
