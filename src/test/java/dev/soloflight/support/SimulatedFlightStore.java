package dev.soloflight.support;

import dev.soloflight.FlightKey;
import dev.soloflight.FlightView;
import dev.soloflight.internal.store.AcquireRequest;
import dev.soloflight.internal.store.Acquired;
import dev.soloflight.internal.store.Answer;
import dev.soloflight.internal.store.Commit;
import dev.soloflight.internal.store.Ended;
import dev.soloflight.internal.store.FlightStore;
import dev.soloflight.internal.store.Forgot;
import dev.soloflight.internal.store.OwnerStamp;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.Arrays;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * One node's view of a {@link Server} in memory that obeys the protocol of the Lua scripts on a
 * clock turned by hand. It passes the contract that the real store passes; where the two differ,
 * this one is wrong. Every step is answered before it returns.
 */
public final class SimulatedFlightStore implements FlightStore {
  private final Server server;
  private final String nodeId;

  private SimulatedFlightStore(Server server, String nodeId) {
    this.server = server;
    this.nodeId = nodeId;
  }

  @Override
  public CompletableFuture<Acquired> acquire(FlightKey key, AcquireRequest request) {
    return server.step(() -> server.acquire(key, request, nodeId));
  }

  @Override
  public CompletableFuture<Answer> confirm(FlightKey key, OwnerStamp owner, long runningTtlMillis) {
    return server.step(() -> server.confirm(key, owner, runningTtlMillis));
  }

  @Override
  public CompletableFuture<Answer> heartbeat(
      FlightKey key, OwnerStamp owner, long runningTtlMillis) {
    return server.step(() -> server.heartbeat(key, owner, runningTtlMillis));
  }

  @Override
  public CompletableFuture<Ended> complete(FlightKey key, OwnerStamp owner, Commit commit) {
    return server.step(() -> server.complete(key, owner, commit));
  }

  @Override
  public CompletableFuture<Ended> release(
      FlightKey key, OwnerStamp owner, long ttlMillis, String reason) {
    return server.step(() -> server.release(key, owner, ttlMillis, reason));
  }

  @Override
  public CompletableFuture<Forgot> forget(FlightKey key, String forgetId, long runningTtlMillis) {
    return server.step(() -> server.forget(key, forgetId, runningTtlMillis));
  }

  @Override
  public CompletableFuture<Optional<FlightView>> inspect(FlightKey key) {
    return server.step(() -> server.inspect(key));
  }

  @Override
  public CompletableFuture<List<FlightKey>> flights(int limit) {
    return server.step(() -> server.flights(limit));
  }

  @Override
  public CompletableFuture<Boolean> ping() {
    return CompletableFuture.completedFuture(true);
  }

  @Override
  public void wake(FlightKey key, List<String> waiters) {
    server.wake(key, waiters);
  }

  @Override
  public void listen(WakeListener listener) {
    server.inboxes.putIfAbsent(nodeId, listener);
  }

  @Override
  public String nodeId() {
    return nodeId;
  }

  @Override
  public void close() {
    server.inboxes.remove(nodeId);
  }

  /** The memory that simulated nodes share. */
  public static final class Server implements FlightRecords {
    private static final long EPOCH_MILLIS = 1_700_000_000_000L;
    private static final long NEVER = Long.MAX_VALUE;
    private static final int MAX_WAITERS_CHARS = 16_384;
    private static final String VERSION = "1";

    /** A key of Redis; without a hash it is another application's. */
    private static final class Entry {
      @Nullable Map<String, String> hash = new LinkedHashMap<>();
      long expiresAtMillis = NEVER;
    }

    private final VirtualTimers clock;
    private final Map<FlightKey, Entry> entries = new HashMap<>();
    private final Map<String, WakeListener> inboxes = new HashMap<>();
    private long lastMicros;

    /** An empty server whose TIME is this clock's. */
    public Server(VirtualTimers clock) {
      this.clock = clock;
    }

    /** A node of that id. */
    public SimulatedFlightStore node(String nodeId) {
      return new SimulatedFlightStore(this, nodeId);
    }

    private synchronized <T> CompletableFuture<T> step(Supplier<T> step) {
      // No two scripts see the same microsecond.
      lastMicros = Math.max(lastMicros + 1, EPOCH_MILLIS * 1_000 + clock.nanoTime() / 1_000);
      return CompletableFuture.completedFuture(step.get());
    }

    private long millis() {
      return EPOCH_MILLIS + clock.nanoTime() / 1_000_000;
    }

    private Acquired acquire(FlightKey key, AcquireRequest request, String inbox) {
      Entry entry = entry(key);
      Fields r = new Fields(entry == null ? null : entry.hash);
      boolean foreign = entry != null && entry.hash == null;
      String token = r.token();
      String damagedToken =
          request.damagedToken() == 0 ? "" : Long.toString(request.damagedToken());
      if (r.is("SUCCEEDED") && r.known() && token != null && !token.equals(damagedToken)) {
        return new Acquired.ReplaySuccess(
            longOf(token),
            r.text("codec"),
            (int) longOf(r.text("rawSize")),
            r.text("checksum"),
            r.text("payload").getBytes(StandardCharsets.ISO_8859_1),
            ttlMillis(key));
      }
      if (r.is("FORGOTTEN") && r.known()) {
        return request.resume()
            ? new Acquired.Forgotten(token == null ? 0 : longOf(token))
            : ownNew(key, request, r, false);
      }
      Long attempt = r.number("attempt");
      Long lease = r.number("leaseMillis");
      Long heartbeatAt = r.number("heartbeatAt");
      Long finishedAt = r.number("finishedAt");
      String idempotencyKey = r.get("idempotencyKey");
      boolean failed = r.is("FAILED");
      boolean usable =
          r.known()
              && token != null
              && attempt != null
              && idempotencyKey != null
              && lease != null
              && ((r.active() && heartbeatAt != null)
                  || (failed && finishedAt != null && r.get("errorType") != null));
      if (!usable || token.equals(damagedToken)) {
        boolean damaged = foreign || r.get("v") != null || r.get("status") != null;
        return ownNew(key, request, r, damaged);
      }
      if (failed) {
        boolean released = r.text("errorCode").equals("RELEASED");
        if (!r.text("retryable").equals("1") || (attempt >= request.maxAttempts() && !released)) {
          return new Acquired.ReplayFailure(
              longOf(token),
              r.text("errorType"),
              r.text("errorCode"),
              r.text("errorMessage"),
              r.text("retryable").equals("1"),
              ttlMillis(key));
        }
        long backoffLeft = finishedAt + lease - millis();
        return backoffLeft > 0
            ? follow(entry, token, inbox, backoffLeft)
            : takeOver(entry, request, r, inbox);
      }
      if (request.ownerId().equals(r.get("ownerId"))) {
        if (request.resume() && !idempotencyKey.equals(request.idempotencyKey())) {
          return new Acquired.Forgotten(longOf(token));
        }
        return attempt == 1
            ? new Acquired.OwnerNew(longOf(token), 1, idempotencyKey, false)
            : new Acquired.OwnerTakeover(longOf(token), attempt.intValue(), idempotencyKey);
      }
      long leaseLeft = heartbeatAt + lease - millis();
      if (leaseLeft >= 0) {
        return follow(entry, token, inbox, leaseLeft + 1);
      }
      if (attempt < request.maxAttempts()) {
        return takeOver(entry, request, r, inbox);
      }
      String message = attempt + " owners stopped beating; the last was " + r.get("ownerId");
      entry.hash.put("status", "FAILED");
      entry.hash.put("finishedAt", Long.toString(millis()));
      entry.hash.put("leaseMillis", "0");
      entry.hash.put("errorType", "dev.soloflight.FlightFailedException");
      entry.hash.put("errorCode", "OWNER_LOST");
      entry.hash.put("errorMessage", message);
      entry.hash.put("retryable", "0");
      expire(entry, request.failedTtlMillis(), r);
      return new Acquired.ReplayFailure(
          longOf(token),
          "dev.soloflight.FlightFailedException",
          "OWNER_LOST",
          message,
          false,
          ttlMillis(key));
    }

    private Acquired ownNew(FlightKey key, AcquireRequest request, Fields r, boolean damaged) {
      long forgottenUntil = r.is("FORGOTTEN") ? millis() + Math.max(0, ttlMillis(key)) : 0;
      long mine = nextToken(r);
      Entry made = new Entry();
      Map<String, String> hash = Objects.requireNonNull(made.hash);
      String now = Long.toString(millis());
      hash.put("v", VERSION);
      hash.put("status", "PENDING");
      hash.put("stage", key.stage());
      hash.put("ownerId", request.ownerId());
      hash.put("ownerToken", Long.toString(mine));
      hash.put("attempt", "1");
      hash.put("idempotencyKey", request.idempotencyKey());
      hash.put("startedAt", now);
      hash.put("heartbeatAt", now);
      hash.put("leaseMillis", Long.toString(request.leaseMillis()));
      if (forgottenUntil > 0) {
        hash.put("forgottenUntil", Long.toString(forgottenUntil));
      }
      made.expiresAtMillis = millis() + request.runningTtlMillis();
      entries.put(key, made);
      return new Acquired.OwnerNew(mine, 1, request.idempotencyKey(), damaged);
    }

    private Acquired takeOver(Entry entry, AcquireRequest request, Fields r, String inbox) {
      String idempotencyKey = r.text("idempotencyKey");
      if (request.resume() && !idempotencyKey.equals(request.idempotencyKey())) {
        return new Acquired.Forgotten(longOf(r.text("ownerToken")));
      }
      long mine = nextToken(r);
      int attempt = (int) longOf(r.text("attempt")) + 1;
      String now = Long.toString(millis());
      Map<String, String> hash = Objects.requireNonNull(entry.hash);
      hash.put("status", "PENDING");
      hash.put("ownerId", request.ownerId());
      hash.put("ownerToken", Long.toString(mine));
      hash.put("attempt", Integer.toString(attempt));
      hash.put("startedAt", now);
      hash.put("heartbeatAt", now);
      hash.put("leaseMillis", Long.toString(request.leaseMillis()));
      hash.put(
          "waiters",
          nodes(r.text("waiters")).stream()
              .filter(node -> !node.equals(inbox))
              .collect(Collectors.joining(" ")));
      hash.keySet()
          .removeAll(List.of("finishedAt", "errorType", "errorCode", "errorMessage", "retryable"));
      entry.expiresAtMillis = millis() + request.runningTtlMillis();
      return new Acquired.OwnerTakeover(mine, attempt, idempotencyKey);
    }

    private static Acquired follow(Entry entry, String token, String inbox, long waitMillis) {
      Map<String, String> hash = Objects.requireNonNull(entry.hash);
      String waiters = hash.getOrDefault("waiters", "");
      if (!inbox.isEmpty()
          && !nodes(waiters).contains(inbox)
          && waiters.length() < MAX_WAITERS_CHARS) {
        hash.put("waiters", waiters.isEmpty() ? inbox : waiters + " " + inbox);
      }
      return new Acquired.FollowerWait(longOf(token), waitMillis);
    }

    private Answer confirm(FlightKey key, OwnerStamp owner, long runningTtlMillis) {
      Answer answer = compare(key, owner);
      if (answer != Answer.OK) {
        return answer;
      }
      Entry entry = entry(key);
      if (!new Fields(entry.hash).active()) {
        return Answer.TAKEN;
      }
      entry.hash.put("status", "RUNNING");
      entry.hash.put("heartbeatAt", Long.toString(millis()));
      entry.expiresAtMillis = millis() + runningTtlMillis;
      return Answer.OK;
    }

    private Answer heartbeat(FlightKey key, OwnerStamp owner, long runningTtlMillis) {
      Answer answer = compare(key, owner);
      Entry entry = entry(key);
      if (answer == Answer.OK && new Fields(entry.hash).active()) {
        entry.hash.put("heartbeatAt", Long.toString(millis()));
        entry.expiresAtMillis = millis() + runningTtlMillis;
      }
      return answer;
    }

    private Ended complete(FlightKey key, OwnerStamp owner, Commit commit) {
      return end(
          key,
          owner,
          commit.ttlMillis(),
          hash -> {
            if (commit instanceof Commit.Success success) {
              hash.put("status", "SUCCEEDED");
              hash.put("codec", success.codec());
              hash.put("rawSize", Integer.toString(success.rawSize()));
              hash.put("checksum", success.checksum());
              hash.put("payload", new String(success.payload(), StandardCharsets.ISO_8859_1));
            } else {
              Commit.Failure failure = (Commit.Failure) commit;
              fail(
                  hash,
                  failure.errorType(),
                  failure.errorCode(),
                  failure.errorMessage(),
                  failure.retryable(),
                  failure.backoffMillis());
            }
          });
    }

    private Ended release(FlightKey key, OwnerStamp owner, long ttlMillis, String reason) {
      return end(
          key,
          owner,
          ttlMillis,
          hash ->
              fail(hash, "dev.soloflight.FlightCancelledException", "RELEASED", reason, true, 0));
    }

    private static void fail(
        Map<String, String> hash,
        String type,
        String code,
        String message,
        boolean retryable,
        long backoffMillis) {
      hash.put("status", "FAILED");
      hash.put("errorType", type);
      hash.put("errorCode", code);
      hash.put("errorMessage", message);
      hash.put("retryable", retryable ? "1" : "0");
      hash.put("leaseMillis", Long.toString(backoffMillis));
    }

    private Ended end(
        FlightKey key,
        OwnerStamp owner,
        long ttlMillis,
        java.util.function.Consumer<Map<String, String>> outcome) {
      Answer answer = compare(key, owner);
      if (answer != Answer.OK) {
        return new Ended(answer, List.of());
      }
      Entry entry = entry(key);
      Fields r = new Fields(entry.hash);
      if (r.active()) {
        outcome.accept(entry.hash);
        entry.hash.put("finishedAt", Long.toString(millis()));
        expire(entry, ttlMillis, r);
      }
      return new Ended(Answer.OK, nodes(r.text("waiters")));
    }

    private Forgot forget(FlightKey key, String forgetId, long runningTtlMillis) {
      Entry entry = entry(key);
      Fields r = new Fields(entry == null ? null : entry.hash);
      if (r.known() && r.is("FORGOTTEN") && forgetId.equals(r.get("ownerId"))) {
        return new Forgot(
            r.text("errorCode").equals("REMOVED"),
            longOf(r.text("ownerToken")),
            nodes(r.text("waiters")));
      }
      boolean removed = r.known() && r.get("status") != null && !r.is("FORGOTTEN");
      String waiters = removed ? r.text("waiters") : "";
      long ttl = runningTtlMillis;
      if (r.known() && (r.active() || r.is("FORGOTTEN"))) {
        ttl = Math.max(ttl, ttlMillis(key));
      }
      long token = nextToken(r);
      Entry tombstone = new Entry();
      Map<String, String> hash = Objects.requireNonNull(tombstone.hash);
      hash.put("v", VERSION);
      hash.put("status", "FORGOTTEN");
      hash.put("stage", key.stage());
      hash.put("ownerId", forgetId);
      hash.put("ownerToken", Long.toString(token));
      hash.put("attempt", "0");
      hash.put("finishedAt", Long.toString(millis()));
      hash.put("leaseMillis", "0");
      hash.put("errorCode", removed ? "REMOVED" : "ABSENT");
      hash.put("waiters", waiters);
      tombstone.expiresAtMillis = millis() + ttl;
      entries.put(key, tombstone);
      return new Forgot(removed, token, nodes(waiters));
    }

    /** OK, or the refusal. */
    private Answer compare(FlightKey key, OwnerStamp owner) {
      Entry entry = entry(key);
      Fields r = new Fields(entry == null ? null : entry.hash);
      if (!r.known() || r.get("status") == null || r.token() == null) {
        return Answer.GONE;
      }
      if (r.is("FORGOTTEN")) {
        return Answer.FORGOTTEN;
      }
      return owner.ownerId().equals(r.get("ownerId"))
              && Long.toString(owner.ownerToken()).equals(r.token())
          ? Answer.OK
          : Answer.TAKEN;
    }

    private Optional<FlightView> inspect(FlightKey key) {
      Entry entry = entry(key);
      Fields r = new Fields(entry == null ? null : entry.hash);
      String status = r.get("status");
      if (status == null) {
        return Optional.empty();
      }
      return Optional.of(
          new FlightView(
              key,
              status,
              r.text("ownerId"),
              longOf(r.getOr("ownerToken", "0")),
              (int) longOf(r.getOr("attempt", "0")),
              r.get("idempotencyKey"),
              instant(r.get("startedAt")),
              instant(r.get("heartbeatAt")),
              instant(r.get("finishedAt")),
              Duration.ofMillis(longOf(r.getOr("leaseMillis", "0"))),
              nodes(r.text("waiters")).size(),
              r.get("codec"),
              longOf(r.getOr("rawSize", "0")),
              r.get("errorType"),
              r.get("errorCode"),
              r.get("errorMessage"),
              r.text("retryable").equals("1"),
              Duration.ofMillis(Math.max(0, ttlMillis(key)))));
    }

    private List<FlightKey> flights(int limit) {
      return List.copyOf(entries.keySet()).stream()
          .filter(key -> entry(key) != null)
          .limit(limit)
          .toList();
    }

    private synchronized void wake(FlightKey key, List<String> waiters) {
      for (String waiter : waiters) {
        WakeListener inbox = inboxes.get(waiter);
        if (inbox != null) {
          clock.after(0, () -> inbox.onWake(key));
        }
      }
    }

    private long nextToken(Fields r) {
      String before = r.token();
      return Math.max((before == null ? 0 : Long.parseLong(before)) + 1, lastMicros);
    }

    /** A record born over a tombstone outlives it. */
    private void expire(Entry entry, long ttlMillis, Fields r) {
      Long forgottenUntil = r.number("forgottenUntil");
      entry.expiresAtMillis =
          Math.max(millis() + ttlMillis, forgottenUntil == null ? 0 : forgottenUntil);
    }

    private @Nullable Entry entry(FlightKey key) {
      Entry entry = entries.get(key);
      if (entry != null && entry.expiresAtMillis <= millis()) {
        entries.remove(key);
        return null;
      }
      return entry;
    }

    @Override
    public synchronized Map<String, String> read(FlightKey key) {
      Entry entry = entry(key);
      return entry == null || entry.hash == null ? Map.of() : new HashMap<>(entry.hash);
    }

    @Override
    public synchronized long ttlMillis(FlightKey key) {
      Entry entry = entry(key);
      if (entry == null) {
        return NO_RECORD;
      }
      return entry.expiresAtMillis == NEVER ? NO_TTL : entry.expiresAtMillis - millis();
    }

    @Override
    public synchronized void put(FlightKey key, String field, String value) {
      entry(key).hash.put(field, value);
    }

    @Override
    public synchronized void remove(FlightKey key, String field) {
      entry(key).hash.remove(field);
    }

    @Override
    public synchronized void overwriteWithString(FlightKey key) {
      Entry foreign = new Entry();
      foreign.hash = null;
      entries.put(key, foreign);
    }

    @Override
    public synchronized void lose(FlightKey key) {
      entries.remove(key);
    }

    /** Turns the clock, for every record and whoever else has it. */
    @Override
    public void age(FlightKey key, Duration by) {
      clock.advance(by);
    }

    /** The record never goes: what no rule of the protocol may do. */
    public synchronized void persist(FlightKey key) {
      Entry entry = entry(key);
      if (entry != null) {
        entry.expiresAtMillis = NEVER;
      }
    }

    private static List<String> nodes(String text) {
      return text.isEmpty() ? List.of() : Arrays.asList(text.split(" ", -1));
    }

    private static @Nullable Instant instant(@Nullable String millis) {
      return millis == null ? null : Instant.ofEpochMilli(longOf(millis));
    }

    private static long longOf(String text) {
      try {
        return Long.parseLong(text);
      } catch (NumberFormatException e) {
        return -1;
      }
    }
  }

  /** What a script reads of a record that may not be there, or be damaged. */
  private record Fields(@Nullable Map<String, String> hash) {
    @Nullable String get(String field) {
      return hash == null ? null : hash.get(field);
    }

    String getOr(String field, String otherwise) {
      String value = get(field);
      return value == null ? otherwise : value;
    }

    String text(String field) {
      return getOr(field, "");
    }

    @Nullable Long number(String field) {
      try {
        String value = get(field);
        return value == null ? null : Long.valueOf(value);
      } catch (NumberFormatException e) {
        return null;
      }
    }

    /** A token that no owner could hold is none. */
    @Nullable String token() {
      String token = get("ownerToken");
      return token != null && token.matches("[1-9][0-9]{0,17}") ? token : null;
    }

    boolean known() {
      return Server.VERSION.equals(get("v"));
    }

    boolean is(String status) {
      return status.equals(get("status"));
    }

    boolean active() {
      return is("PENDING") || is("RUNNING");
    }
  }
}
