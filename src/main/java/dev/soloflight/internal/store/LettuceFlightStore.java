package dev.soloflight.internal.store;

import dev.soloflight.FlightKey;
import dev.soloflight.FlightView;
import dev.soloflight.internal.policy.SoloFlightConfig;
import dev.soloflight.internal.time.Timers;
import io.lettuce.core.KeyScanCursor;
import io.lettuce.core.KeyValue;
import io.lettuce.core.RedisCommandExecutionException;
import io.lettuce.core.RedisCommandTimeoutException;
import io.lettuce.core.ScanArgs;
import io.lettuce.core.ScriptOutputType;
import io.lettuce.core.XAddArgs;
import io.lettuce.core.metrics.CommandLatencyRecorder;
import io.lettuce.core.resource.ClientResources;
import io.lettuce.core.resource.DefaultClientResources;
import io.netty.channel.ConnectTimeoutException;
import io.netty.util.HashedWheelTimer;
import io.netty.util.concurrent.DefaultThreadFactory;
import java.net.ConnectException;
import java.nio.channels.ClosedChannelException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The protocol's steps on a real Redis: one connection for commands, one for the inbox, both opened
 * when first needed (DESIGN 3).
 */
public final class LettuceFlightStore implements FlightStore {
  private static final Logger log = LoggerFactory.getLogger(LettuceFlightStore.class);
  private static final int INBOX_MAX_EVENTS = 10_000;
  private static final int SILENT_TIMEOUTS = 3;
  private static final long TOPOLOGY_STANDS_NANOS = TimeUnit.MILLISECONDS.toNanos(500);
  private static final long FAILED_CONNECT_STANDS_NANOS = TimeUnit.MILLISECONDS.toNanos(100);
  private static final String[] VIEW_FIELDS = {
    "v",
    "status",
    "ownerId",
    "ownerToken",
    "attempt",
    "idempotencyKey",
    "startedAt",
    "heartbeatAt",
    "finishedAt",
    "leaseMillis",
    "waiters",
    "codec",
    "rawSize",
    "errorType",
    "errorCode",
    "errorMessage",
    "retryable"
  };

  private final String keyPrefix;
  private final String inboxPrefix;
  private final String nodeId;
  private final Timers timers;
  private final Duration commandTimeout;
  private final Duration streamBlockTimeout;
  private final HashedWheelTimer wheel;
  private final ClientResources resources;
  private final Connector commandConnector;
  private final Connector inboxConnector;
  private final ReentrantLock lock = new ReentrantLock();

  private volatile @Nullable CompletableFuture<Link> link;
  private volatile long linkFailedAtNanos;
  private volatile long heardAtNanos;

  /** When the first step was sent that nothing has been heard since; 0 while Redis answers. */
  private volatile long silentSinceNanos;

  /** When a Cluster was last asked who has which slots because a node of it was away. */
  private final AtomicLong topologyAskedAtNanos;

  private @Nullable Inbox inbox;
  private volatile boolean closed;

  /** Connects nothing yet; see {@link #warmUp}. */
  public LettuceFlightStore(SoloFlightConfig config, String nodeId, Timers timers) {
    this.keyPrefix = config.prefix() + ":{" + config.namespace() + ":";
    this.inboxPrefix = config.prefix() + ":inbox:{" + config.namespace() + ":";
    this.nodeId = nodeId;
    this.timers = timers;
    this.topologyAskedAtNanos = new AtomicLong(timers.nanoTime() - TOPOLOGY_STANDS_NANOS);
    this.commandTimeout = config.redis().commandTimeout();
    this.streamBlockTimeout = config.streamBlockTimeout();
    // The default wheel turns every 100 ms: too coarse for a command timeout that is promised.
    this.wheel =
        new HashedWheelTimer(
            new DefaultThreadFactory("soloflight-redis-timer", true), 10, TimeUnit.MILLISECONDS);
    this.resources =
        DefaultClientResources.builder()
            .ioThreadPoolSize(2)
            .computationThreadPoolSize(2)
            .threadFactoryProvider(
                pool -> new DefaultThreadFactory("soloflight-redis-" + pool, true))
            .timer(wheel)
            .commandLatencyRecorder(CommandLatencyRecorder.disabled())
            .reconnectDelay(new ReconnectDelay())
            .build();
    this.commandConnector = new Connector(config.redis(), resources, true, commandTimeout);
    this.inboxConnector =
        new Connector(config.redis(), resources, false, streamBlockTimeout.plus(commandTimeout));
  }

  /** Begins to connect, so that the first call need not wait for it. Never fails, never blocks. */
  public void warmUp() {
    connected();
  }

  @Override
  public CompletableFuture<Acquired> acquire(FlightKey key, AcquireRequest request) {
    return script(
        Script.ACQUIRE,
        key,
        LettuceFlightStore::acquired,
        utf8(request.ownerId()),
        utf8(request.idempotencyKey()),
        utf8(key.stage()),
        ascii(request.leaseMillis()),
        ascii(request.runningTtlMillis()),
        ascii(request.maxAttempts()),
        ascii(request.failedTtlMillis()),
        utf8(nodeId),
        request.damagedToken() == 0 ? new byte[0] : ascii(request.damagedToken()),
        ascii(request.resume() ? 1 : 0));
  }

  @Override
  public CompletableFuture<Answer> confirm(FlightKey key, OwnerStamp owner, long runningTtlMillis) {
    return script(
        Script.CONFIRM,
        key,
        LettuceFlightStore::answer,
        utf8(owner.ownerId()),
        ascii(owner.ownerToken()),
        ascii(runningTtlMillis));
  }

  @Override
  public CompletableFuture<Answer> heartbeat(
      FlightKey key, OwnerStamp owner, long runningTtlMillis) {
    return script(
        Script.HEARTBEAT,
        key,
        LettuceFlightStore::answer,
        utf8(owner.ownerId()),
        ascii(owner.ownerToken()),
        ascii(runningTtlMillis));
  }

  @Override
  public CompletableFuture<Ended> complete(FlightKey key, OwnerStamp owner, Commit commit) {
    byte[] ownerId = utf8(owner.ownerId());
    byte[] ownerToken = ascii(owner.ownerToken());
    byte[] ttl = ascii(commit.ttlMillis());
    if (commit instanceof Commit.Success success) {
      return script(
          Script.COMPLETE,
          key,
          LettuceFlightStore::ended,
          ownerId,
          ownerToken,
          utf8("SUCCEEDED"),
          ttl,
          utf8(success.codec()),
          ascii(success.rawSize()),
          utf8(success.checksum()),
          success.payload());
    }
    Commit.Failure failure = (Commit.Failure) commit;
    return script(
        Script.COMPLETE,
        key,
        LettuceFlightStore::ended,
        ownerId,
        ownerToken,
        utf8("FAILED"),
        ttl,
        utf8(failure.errorType()),
        utf8(failure.errorCode()),
        utf8(failure.errorMessage()),
        ascii(failure.retryable() ? 1 : 0),
        ascii(failure.backoffMillis()));
  }

  @Override
  public CompletableFuture<Ended> release(
      FlightKey key, OwnerStamp owner, long ttlMillis, String reason) {
    return script(
        Script.RELEASE,
        key,
        LettuceFlightStore::ended,
        utf8(owner.ownerId()),
        ascii(owner.ownerToken()),
        ascii(ttlMillis),
        utf8(reason));
  }

  @Override
  public CompletableFuture<Forgot> forget(FlightKey key, String forgetId, long runningTtlMillis) {
    return script(
        Script.FORGET,
        key,
        reply ->
            new Forgot(
                Scripts.text(reply.get(0)).equals("REMOVED"),
                longOf(reply.get(1)),
                nodes(reply.get(2))),
        utf8(forgetId),
        utf8(key.stage()),
        ascii(runningTtlMillis));
  }

  @Override
  public CompletableFuture<Optional<FlightView>> inspect(FlightKey key) {
    String redisKey = redisKey(key);
    return call(
        "inspect",
        key,
        current -> {
          var values =
              current
                  .commands()
                  .hmget(redisKey, VIEW_FIELDS)
                  .exceptionally(LettuceFlightStore::absentIfForeign);
          var ttl = current.commands().pttl(redisKey);
          return values.thenCombine(ttl, (fields, ttlMillis) -> view(key, fields, ttlMillis));
        });
  }

  /** Another application's key counts as absent, for who looks as for who acquires. */
  private static List<KeyValue<String, byte[]>> absentIfForeign(Throwable e) {
    if (Scripts.describe(e).startsWith("WRONGTYPE")) {
      return List.of();
    }
    throw new CompletionException(Scripts.rootOf(e));
  }

  @Override
  public CompletableFuture<List<FlightKey>> flights(int limit) {
    ScanArgs args = ScanArgs.Builder.matches(escape(keyPrefix) + "*").limit(500);
    return call(
        "list flights",
        null,
        current -> {
          List<FlightKey> found = new ArrayList<>();
          return scan(current, args, current.commands().scan(args), found, limit)
              .thenApply(ignored -> found);
        });
  }

  private CompletionStage<Void> scan(
      Link current,
      ScanArgs args,
      CompletionStage<KeyScanCursor<String>> step,
      List<FlightKey> found,
      int limit) {
    return step.thenCompose(
        cursor -> {
          for (String key : cursor.getKeys()) {
            if (found.size() < limit) {
              flightOf(key).ifPresent(found::add);
            }
          }
          return cursor.isFinished() || found.size() >= limit
              ? CompletableFuture.completedStage(null)
              : scan(
                  current,
                  args,
                  // The cursor itself: in a Cluster it also knows which nodes are left.
                  current.commands().scan(cursor, args),
                  found,
                  limit);
        });
  }

  /** Empty for a key of somebody else's that only begins like ours. */
  private Optional<FlightKey> flightOf(String redisKey) {
    if (!redisKey.startsWith(keyPrefix) || !redisKey.endsWith("}")) {
      return Optional.empty();
    }
    try {
      return Optional.of(
          FlightKey.parse(redisKey.substring(keyPrefix.length(), redisKey.length() - 1)));
    } catch (IllegalArgumentException e) {
      return Optional.empty();
    }
  }

  @Override
  public CompletableFuture<Boolean> ping() {
    return call("ping", null, current -> current.commands().ping()).handle((pong, e) -> e == null);
  }

  @Override
  public void wake(FlightKey key, List<String> waiters) {
    Link open = openLink(link);
    if (open == null) {
      return;
    }
    Map<String, byte[]> event = Map.of("flight", utf8(key.id()));
    // A dead node's inbox is not born again, and a crowded one loses its oldest wake-ups only.
    XAddArgs args =
        new XAddArgs().nomkstream(true).maxlen(INBOX_MAX_EVENTS).approximateTrimming(true);
    for (String waiter : waiters) {
      open.commands()
          .xadd(inboxPrefix + waiter + "}", args, event)
          .exceptionally(
              e -> {
                log.debug("{}: node {} was not woken and polls", key, waiter, e);
                return null;
              });
    }
  }

  @Override
  public void listen(WakeListener listener) {
    lock.lock();
    try {
      if (inbox == null && !closed) {
        inbox =
            new Inbox(
                inboxPrefix + nodeId + "}", inboxConnector, timers, streamBlockTimeout, listener);
        inbox.start();
      }
    } finally {
      lock.unlock();
    }
  }

  @Override
  public String nodeId() {
    return nodeId;
  }

  @Override
  public void close() {
    Inbox reading;
    lock.lock();
    try {
      if (closed) {
        return;
      }
      closed = true;
      reading = inbox;
    } finally {
      lock.unlock();
    }
    if (reading != null) {
      reading.close();
      Link open = openLink(link);
      if (open != null) {
        open.commands()
            .del(inboxPrefix + nodeId + "}")
            .toCompletableFuture()
            .handle((deleted, e) -> true)
            .join();
      }
    }
    inboxConnector.close();
    commandConnector.close();
    resources.shutdown(0, 1, TimeUnit.SECONDS).awaitUninterruptibly(2, TimeUnit.SECONDS);
    wheel.stop();
  }

  private <T> CompletableFuture<T> script(
      Script script, FlightKey key, Function<List<Object>, T> parse, byte[]... args) {
    return call(
        script.name(),
        key,
        current ->
            Scripts.<List<Object>>run(current, script, ScriptOutputType.MULTI, redisKey(key), args)
                .thenApply(parse));
  }

  /** One step: on the connection there is, or on the one being made. */
  private <T> CompletableFuture<T> call(
      String step, @Nullable FlightKey key, Function<Link, CompletionStage<T>> command) {
    long sentAtNanos = timers.nanoTime();
    if (silentSinceNanos == 0) {
      silentSinceNanos = sentAtNanos;
    }
    CompletableFuture<Link> current = connected();
    CompletableFuture<T> sent;
    Link open = openLink(current);
    if (open != null) {
      sent = send(open, command);
    } else {
      // Connecting fails by itself within the command timeout; then the command has its own.
      sent = current.thenCompose(ready -> send(ready, command));
    }
    CompletableFuture<T> answer = new CompletableFuture<>();
    sent.whenComplete(
        (value, e) -> {
          if (e == null) {
            heardAtNanos = timers.nanoTime();
            silentSinceNanos = 0;
            answer.complete(value);
          } else {
            answer.completeExceptionally(unavailable(step, key, e, open, sentAtNanos));
          }
        });
    return answer;
  }

  private static @Nullable Link openLink(@Nullable CompletableFuture<Link> connecting) {
    return connecting == null || !connecting.isDone() || connecting.isCompletedExceptionally()
        ? null
        : connecting.join();
  }

  private static <T> CompletableFuture<T> send(
      Link open, Function<Link, CompletionStage<T>> command) {
    try {
      return command.apply(open).toCompletableFuture();
    } catch (RuntimeException e) {
      return CompletableFuture.failedFuture(e);
    }
  }

  private StoreUnavailableException unavailable(
      String step, @Nullable FlightKey key, Throwable e, @Nullable Link used, long sentAtNanos) {
    Throwable root = Scripts.rootOf(e);
    String said = Scripts.describe(e);
    boolean unanswered = unanswered(root);
    long silentSince = silentSinceNanos;
    boolean stuck =
        unanswered
            && silentSince != 0
            && timers.nanoTime() - silentSince > SILENT_TIMEOUTS * commandTimeout.toNanos();
    // A connection that swallows everything, or ends at a demoted primary, does not mend itself.
    if (used != null && (stuck || said.startsWith("READONLY"))) {
      replace(used, said);
    }
    if (used != null && nodeIsAway(root)) {
      refreshTopology();
    }
    return new StoreUnavailableException(
        (key == null ? "" : key + ": ")
            + step.toLowerCase(java.util.Locale.ROOT)
            + (refused(root) ? " was refused by Redis: " : " got no answer from Redis: ")
            + said,
        root,
        refused(root)
            ? StoreUnavailableException.Redis.REFUSES
            : !unanswered || stuck
                ? StoreUnavailableException.Redis.AWAY
                : heardAtNanos - sentAtNanos > 0
                    ? StoreUnavailableException.Redis.SLOW
                    : StoreUnavailableException.Redis.SILENT);
  }

  private static boolean refused(Throwable e) {
    for (Throwable cause = e; cause != null; cause = cause.getCause()) {
      if (cause instanceof RedisCommandExecutionException) {
        return true;
      }
    }
    return false;
  }

  /** No refusal: nothing came back in time, or the connection was lost, which mends itself. */
  private static boolean unanswered(Throwable e) {
    for (Throwable cause = e; cause != null; cause = cause.getCause()) {
      if (cause instanceof RedisCommandTimeoutException
          || cause instanceof ConnectTimeoutException
          || cause instanceof ClosedChannelException) {
        return true;
      }
      if (cause instanceof ConnectException || cause instanceof RedisCommandExecutionException) {
        return false;
      }
    }
    String said = String.valueOf(e.getMessage());
    return said.contains("timed out") || (said.contains("onnection") && said.contains("closed"));
  }

  private static boolean nodeIsAway(Throwable e) {
    for (Throwable cause = e; cause != null; cause = cause.getCause()) {
      if (cause instanceof ConnectException || cause instanceof ConnectTimeoutException) {
        return true;
      }
    }
    return false;
  }

  /**
   * Lettuce does so by itself when a connection that was there cannot be had again, not when a node
   * was never connected to: steps would go to a dead primary until the next periodic refresh.
   */
  private void refreshTopology() {
    long asked = topologyAskedAtNanos.get();
    long now = timers.nanoTime();
    if (now - asked >= TOPOLOGY_STANDS_NANOS && topologyAskedAtNanos.compareAndSet(asked, now)) {
      commandConnector.refreshTopology();
    }
  }

  private CompletableFuture<Link> connected() {
    CompletableFuture<Link> current = link;
    if (current != null && !(current.isCompletedExceptionally() && mayTryAgain())) {
      return current;
    }
    lock.lock();
    try {
      if (closed) {
        return CompletableFuture.failedFuture(
            new IllegalStateException("this SoloFlight is closed"));
      }
      current = link;
      if (current != null && !(current.isCompletedExceptionally() && mayTryAgain())) {
        return current;
      }
      CompletableFuture<Link> connecting = new CompletableFuture<>();
      link = connecting;
      connect(connecting);
      return connecting;
    } finally {
      lock.unlock();
    }
  }

  private void connect(CompletableFuture<Link> connecting) {
    commandConnector
        .connect()
        .whenComplete(
            (opened, e) -> {
              if (opened == null) {
                linkFailedAtNanos = timers.nanoTime();
                connecting.completeExceptionally(
                    e == null ? new IllegalStateException("no connection") : e);
              } else {
                connecting.complete(opened);
              }
            });
  }

  private boolean mayTryAgain() {
    return timers.nanoTime() - linkFailedAtNanos >= FAILED_CONNECT_STANDS_NANOS;
  }

  private void replace(Link used, String why) {
    lock.lock();
    try {
      if (closed || !used.equals(openLink(link))) {
        return;
      }
      link = null;
    } finally {
      lock.unlock();
    }
    log.warn("the connection to Redis does not answer ({}); connecting anew", why);
    used.close();
    connected();
  }

  private String redisKey(FlightKey key) {
    return keyPrefix + key.id() + "}";
  }

  private static Acquired acquired(List<Object> reply) {
    long token = longOf(reply.get(1));
    String kind = Scripts.text(reply.get(0));
    return switch (kind) {
      case "OWNER_NEW" ->
          new Acquired.OwnerNew(
              token,
              intOf(reply.get(2)),
              Scripts.text(reply.get(3)),
              Scripts.text(reply.get(4)).equals("1"));
      case "OWNER_TAKEOVER" ->
          new Acquired.OwnerTakeover(token, intOf(reply.get(2)), Scripts.text(reply.get(3)));
      case "FOLLOWER_WAIT" -> new Acquired.FollowerWait(token, longOf(reply.get(2)));
      case "REPLAY_SUCCESS" ->
          new Acquired.ReplaySuccess(
              token,
              Scripts.text(reply.get(2)),
              intOf(reply.get(3)),
              Scripts.text(reply.get(4)),
              (byte[]) reply.get(5),
              longOf(reply.get(6)));
      case "REPLAY_FAILURE" ->
          new Acquired.ReplayFailure(
              token,
              Scripts.text(reply.get(2)),
              Scripts.text(reply.get(3)),
              Scripts.text(reply.get(4)),
              Scripts.text(reply.get(5)).equals("1"),
              longOf(reply.get(6)));
      case "FORGOTTEN" -> new Acquired.Forgotten(token);
      default -> throw new CompletionException(new IllegalStateException("acquire said " + kind));
    };
  }

  private static Answer answer(List<Object> reply) {
    return Answer.valueOf(Scripts.text(reply.get(0)));
  }

  private static Ended ended(List<Object> reply) {
    return new Ended(answer(reply), nodes(reply.get(1)));
  }

  private static List<String> nodes(Object bulk) {
    String text = Scripts.text(bulk);
    return text.isEmpty() ? List.of() : Arrays.asList(text.split(" ", -1));
  }

  private static Optional<FlightView> view(
      FlightKey key, List<KeyValue<String, byte[]>> values, long ttlMillis) {
    Map<String, String> fields = new HashMap<>();
    for (KeyValue<String, byte[]> value : values) {
      if (value.hasValue()) {
        fields.put(value.getKey(), Scripts.text(value.getValue()));
      }
    }
    String status = fields.get("status");
    if (status == null) {
      return Optional.empty();
    }
    return Optional.of(
        new FlightView(
            key,
            status,
            fields.getOrDefault("ownerId", ""),
            longOf(fields.getOrDefault("ownerToken", "0")),
            intOf(fields.getOrDefault("attempt", "0")),
            fields.get("idempotencyKey"),
            instant(fields.get("startedAt")),
            instant(fields.get("heartbeatAt")),
            instant(fields.get("finishedAt")),
            Duration.ofMillis(longOf(fields.getOrDefault("leaseMillis", "0"))),
            nodes(fields.getOrDefault("waiters", "")).size(),
            fields.get("codec"),
            longOf(fields.getOrDefault("rawSize", "0")),
            fields.get("errorType"),
            fields.get("errorCode"),
            fields.get("errorMessage"),
            "1".equals(fields.get("retryable")),
            Duration.ofMillis(Math.max(0, ttlMillis))));
  }

  private static @Nullable Instant instant(@Nullable String millis) {
    return millis == null ? null : Instant.ofEpochMilli(longOf(millis));
  }

  /** A damaged record's number reads as -1, which no check accepts. */
  private static long longOf(Object value) {
    if (value instanceof Long number) {
      return number;
    }
    try {
      return Long.parseLong(Scripts.text(value));
    } catch (NumberFormatException e) {
      return -1;
    }
  }

  private static int intOf(Object value) {
    long number = longOf(value);
    return number == (int) number ? (int) number : -1;
  }

  private static String escape(String glob) {
    return glob.replaceAll("([\\[\\]*?\\\\])", "\\\\$1");
  }

  private static byte[] utf8(String text) {
    return text.getBytes(StandardCharsets.UTF_8);
  }

  private static byte[] ascii(long number) {
    return Long.toString(number).getBytes(StandardCharsets.US_ASCII);
  }
}
