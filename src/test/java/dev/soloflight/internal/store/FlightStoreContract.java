package dev.soloflight.internal.store;

import static org.assertj.core.api.Assertions.assertThat;

import dev.soloflight.FlightKey;
import dev.soloflight.FlightView;
import dev.soloflight.internal.store.Acquired.FollowerWait;
import dev.soloflight.internal.store.Acquired.Forgotten;
import dev.soloflight.internal.store.Acquired.OwnerNew;
import dev.soloflight.internal.store.Acquired.OwnerTakeover;
import dev.soloflight.internal.store.Acquired.ReplayFailure;
import dev.soloflight.internal.store.Acquired.ReplaySuccess;
import dev.soloflight.support.FlightRecords;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * What every {@link FlightStore} does: each row of DESIGN 3.3, each refusal of DESIGN 3.4, and each
 * step sent twice. Time passes by aging the record, never by waiting.
 */
abstract class FlightStoreContract {
  static final long LEASE = 10_000;
  static final long RUNNING_TTL = 60_000;
  static final long RESULT_TTL = 600_000;
  static final long FAILED_TTL = 120_000;
  static final long BACKOFF = 5_000;
  static final int MAX_ATTEMPTS = 3;

  /** How much of a TTL a slow machine may use up before a test looks at it. */
  static final long SLACK = 5_000;

  private static final Set<String> PENDING_FIELDS =
      Set.of(
          "v",
          "status",
          "stage",
          "ownerId",
          "ownerToken",
          "attempt",
          "idempotencyKey",
          "startedAt",
          "heartbeatAt",
          "leaseMillis");
  private static final AtomicInteger KEYS = new AtomicInteger();

  private FlightKey key;
  private FlightStore a;
  private FlightStore b;
  private FlightRecords records;

  /** A node of that id. */
  abstract FlightStore node(String nodeId);

  /** The records, past the protocol. */
  abstract FlightRecords records();

  @BeforeEach
  final void open() {
    key = FlightKey.of("contract", KEYS.incrementAndGet());
    a = node("node-a");
    b = node("node-b");
    records = records();
  }

  // ---- steps, answered

  static <T> T get(CompletableFuture<T> reply) {
    try {
      return reply.get(10, TimeUnit.SECONDS);
    } catch (Exception e) {
      throw new AssertionError("no answer", e);
    }
  }

  static AcquireRequest asking(String ownerId) {
    return new AcquireRequest(
        ownerId, "idem-" + ownerId, LEASE, RUNNING_TTL, MAX_ATTEMPTS, FAILED_TTL, 0, false);
  }

  static AcquireRequest resuming(String ownerId, String idempotencyKey) {
    return new AcquireRequest(
        ownerId, idempotencyKey, LEASE, RUNNING_TTL, MAX_ATTEMPTS, FAILED_TTL, 0, true);
  }

  private Acquired acquire(FlightStore node, String ownerId) {
    return get(node.acquire(key, asking(ownerId)));
  }

  private OwnerStamp own(FlightStore node, String ownerId) {
    Acquired acquired = acquire(node, ownerId);
    assertThat(acquired).isInstanceOf(Acquired.Owner.class);
    return new OwnerStamp(ownerId, acquired.ownerToken());
  }

  private OwnerStamp run(FlightStore node, String ownerId) {
    OwnerStamp owner = own(node, ownerId);
    assertThat(confirm(owner)).isEqualTo(Answer.OK);
    return owner;
  }

  private Answer confirm(OwnerStamp owner) {
    return get(a.confirm(key, owner, RUNNING_TTL));
  }

  private Answer heartbeat(OwnerStamp owner) {
    return get(a.heartbeat(key, owner, RUNNING_TTL));
  }

  private Ended succeed(OwnerStamp owner, String value) {
    return get(a.complete(key, owner, success(value)));
  }

  private Ended fail(OwnerStamp owner, boolean retryable, long backoffMillis) {
    return get(a.complete(key, owner, failure(retryable, backoffMillis)));
  }

  private Ended release(OwnerStamp owner) {
    return get(a.release(key, owner, FAILED_TTL, "shutting down"));
  }

  private Forgot forget(String forgetId) {
    return get(a.forget(key, forgetId, RUNNING_TTL));
  }

  static Commit success(String value) {
    byte[] payload = value.getBytes(StandardCharsets.UTF_8);
    return new Commit.Success("raw", payload.length, "sum of " + value, payload, RESULT_TTL);
  }

  static Commit failure(boolean retryable, long backoffMillis) {
    return new Commit.Failure(
        "java.io.IOException", "MODEL_BUSY", "try later: ü", retryable, backoffMillis, FAILED_TTL);
  }

  private void leaseEnds() {
    records.age(key, Duration.ofMillis(LEASE + SLACK));
  }

  private Map<String, String> record() {
    return records.read(key);
  }

  private String field(String name) {
    return record().get(name);
  }

  private static void assertTtl(long ttlMillis, long of) {
    assertThat(ttlMillis).isBetween(of - SLACK, of);
  }

  private static void assertReplays(Acquired acquired, OwnerStamp owner, String value) {
    assertThat(acquired).isInstanceOf(ReplaySuccess.class);
    ReplaySuccess replay = (ReplaySuccess) acquired;
    assertThat(replay.ownerToken()).isEqualTo(owner.ownerToken());
    assertThat(replay.codec()).isEqualTo("raw");
    assertThat(replay.rawSize()).isEqualTo(value.length());
    assertThat(replay.checksum()).isEqualTo("sum of " + value);
    assertThat(replay.payload()).isEqualTo(value.getBytes(StandardCharsets.UTF_8));
  }

  /** A state that a record can be in. */
  enum State {
    PENDING,
    RUNNING,
    SUCCEEDED,
    FAILED
  }

  private OwnerStamp bring(State state, String ownerId) {
    OwnerStamp owner = own(a, ownerId);
    if (state != State.PENDING) {
      assertThat(confirm(owner)).isEqualTo(Answer.OK);
    }
    if (state == State.SUCCEEDED) {
      assertThat(succeed(owner, "answer").answer()).isEqualTo(Answer.OK);
    } else if (state == State.FAILED) {
      assertThat(fail(owner, true, 0).answer()).isEqualTo(Answer.OK);
    }
    assertThat(field("status")).isEqualTo(state.name());
    return owner;
  }

  /** The steps that only an owner may take. */
  enum OwnerStep {
    CONFIRM,
    HEARTBEAT,
    SUCCEED,
    FAIL,
    RELEASE
  }

  private Ended take(OwnerStep step, OwnerStamp owner) {
    return switch (step) {
      case CONFIRM -> new Ended(confirm(owner), List.of());
      case HEARTBEAT -> new Ended(heartbeat(owner), List.of());
      case SUCCEED -> succeed(owner, "of " + owner.ownerId());
      case FAIL -> fail(owner, false, 0);
      case RELEASE -> release(owner);
    };
  }

  private void assertRefused(OwnerStep step, OwnerStamp owner, Answer answer) {
    Map<String, String> before = record();
    long ttlBefore = records.ttlMillis(key);
    assertThat(take(step, owner)).isEqualTo(new Ended(answer, List.of()));
    assertThat(record()).as("a refused step changes nothing").isEqualTo(before);
    assertThat(records.ttlMillis(key)).isBetween(ttlBefore - SLACK, ttlBefore);
  }

  // ---- DESIGN 3.3: acquire

  @Test
  void acquire_over_nothing_makes_the_asker_the_first_owner() {
    assertThat(acquire(a, "A"))
        .isEqualTo(new OwnerNew(Long.parseLong(field("ownerToken")), 1, "idem-A", false));
    assertThat(record().keySet()).isEqualTo(PENDING_FIELDS);
    assertThat(record())
        .containsEntry("v", "1")
        .containsEntry("status", "PENDING")
        .containsEntry("stage", "contract")
        .containsEntry("ownerId", "A")
        .containsEntry("attempt", "1")
        .containsEntry("idempotencyKey", "idem-A")
        .containsEntry("leaseMillis", Long.toString(LEASE))
        .containsEntry("heartbeatAt", field("startedAt"));
    assertTtl(records.ttlMillis(key), RUNNING_TTL);
  }

  @Test
  void acquire_over_a_tombstone_makes_a_new_flight_with_a_greater_token() {
    long tombstone = forget("F").ownerToken();
    Acquired acquired = acquire(a, "A");
    assertThat(acquired)
        .isEqualTo(new OwnerNew(Long.parseLong(field("ownerToken")), 1, "idem-A", false));
    assertThat(acquired.ownerToken()).isGreaterThan(tombstone);
    assertThat(Long.parseLong(field("forgottenUntil")) - Long.parseLong(field("startedAt")))
        .isBetween(RUNNING_TTL - SLACK, RUNNING_TTL);
  }

  @Test
  void acquire_of_a_success_replays_it_and_changes_nothing() {
    OwnerStamp owner = bring(State.SUCCEEDED, "A");
    Map<String, String> before = record();
    Acquired replayed = acquire(b, "B");
    assertReplays(replayed, owner, "answer");
    assertTtl(((ReplaySuccess) replayed).ttlMillis(), RESULT_TTL);
    assertThat(record()).isEqualTo(before);
  }

  @Test
  void acquire_of_a_success_replays_any_bytes() {
    OwnerStamp owner = run(a, "A");
    byte[] bytes = new byte[1_000];
    for (int i = 0; i < bytes.length; i++) {
      bytes[i] = (byte) i;
    }
    get(a.complete(key, owner, new Commit.Success("bytes", 1_000, "", bytes, RESULT_TTL)));
    assertThat(((ReplaySuccess) acquire(b, "B")).payload()).isEqualTo(bytes);
  }

  @Test
  void acquire_of_a_failure_that_is_not_retryable_replays_it() {
    OwnerStamp owner = run(a, "A");
    fail(owner, false, 0);
    Map<String, String> before = record();
    ReplayFailure replayed = (ReplayFailure) acquire(b, "B");
    assertThat(replayed)
        .isEqualTo(
            new ReplayFailure(
                owner.ownerToken(),
                "java.io.IOException",
                "MODEL_BUSY",
                "try later: ü",
                false,
                replayed.ttlMillis()));
    assertTtl(replayed.ttlMillis(), FAILED_TTL);
    assertThat(record()).isEqualTo(before);
  }

  @Test
  void acquire_of_a_retryable_failure_takes_over_under_the_same_idempotency_key() {
    OwnerStamp first = bring(State.FAILED, "A");
    Acquired acquired = acquire(b, "B");
    assertThat(acquired)
        .isEqualTo(new OwnerTakeover(Long.parseLong(field("ownerToken")), 2, "idem-A"));
    assertThat(acquired.ownerToken()).isGreaterThan(first.ownerToken());
    assertThat(record())
        .containsEntry("status", "PENDING")
        .containsEntry("ownerId", "B")
        .containsEntry("attempt", "2")
        .containsEntry("idempotencyKey", "idem-A")
        .containsEntry("leaseMillis", Long.toString(LEASE))
        .doesNotContainKeys("finishedAt", "errorType", "errorCode", "errorMessage", "retryable");
    assertTtl(records.ttlMillis(key), RUNNING_TTL);
  }

  @Test
  void acquire_of_a_retryable_failure_replays_it_once_the_attempts_are_used_up() {
    for (int attempt = 1; attempt <= MAX_ATTEMPTS; attempt++) {
      OwnerStamp owner = own(a, "A" + attempt);
      assertThat(field("attempt")).isEqualTo(Integer.toString(attempt));
      assertThat(field("idempotencyKey")).isEqualTo("idem-A1");
      fail(owner, true, 0);
    }
    assertThat(acquire(b, "B")).isInstanceOf(ReplayFailure.class);
    assertThat(((ReplayFailure) acquire(b, "B")).retryable()).isTrue();
  }

  @Test
  void acquire_of_a_failure_in_its_back_off_waits_for_its_end_and_then_takes_over() {
    OwnerStamp owner = run(a, "A");
    fail(owner, true, BACKOFF);
    FollowerWait wait = (FollowerWait) acquire(b, "B");
    assertThat(wait.ownerToken()).isEqualTo(owner.ownerToken());
    assertThat(wait.waitMillis()).isBetween(1L, BACKOFF);
    assertThat(field("waiters")).isEqualTo("node-b");
    assertThat(field("status")).isEqualTo("FAILED");
    records.age(key, Duration.ofMillis(BACKOFF));
    assertThat(acquire(b, "B")).isInstanceOf(OwnerTakeover.class);
  }

  @ParameterizedTest
  @EnumSource(names = {"PENDING", "RUNNING"})
  void acquire_while_an_owner_beats_waits_until_its_lease_ends(State state) {
    OwnerStamp owner = bring(state, "A");
    Map<String, String> before = record();
    FollowerWait wait = (FollowerWait) acquire(b, "B");
    assertThat(wait.ownerToken()).isEqualTo(owner.ownerToken());
    assertThat(wait.waitMillis()).isBetween(LEASE - SLACK, LEASE + 1);
    Map<String, String> after = record();
    assertThat(after.remove("waiters")).isEqualTo("node-b");
    assertThat(after).isEqualTo(before);
  }

  @ParameterizedTest
  @EnumSource(names = {"PENDING", "RUNNING"})
  void acquire_after_the_lease_has_ended_takes_over(State state) {
    OwnerStamp first = bring(state, "A");
    leaseEnds();
    Acquired acquired = acquire(b, "B");
    assertThat(acquired)
        .isEqualTo(new OwnerTakeover(Long.parseLong(field("ownerToken")), 2, "idem-A"));
    assertThat(acquired.ownerToken()).isGreaterThan(first.ownerToken());
    assertThat(field("status")).isEqualTo("PENDING");
    assertTtl(records.ttlMillis(key), RUNNING_TTL);
  }

  @Test
  void acquire_measures_the_lease_that_the_owner_promised_not_the_askers() {
    own(a, "A");
    records.age(key, Duration.ofMillis(LEASE / 2));
    AcquireRequest impatient =
        new AcquireRequest("B", "idem-B", 1, RUNNING_TTL, MAX_ATTEMPTS, FAILED_TTL, 0, false);
    assertThat(get(b.acquire(key, impatient))).isInstanceOf(FollowerWait.class);
    leaseEnds();
    assertThat(get(b.acquire(key, impatient))).isInstanceOf(OwnerTakeover.class);
    assertThat(field("leaseMillis")).isEqualTo("1");
  }

  @ParameterizedTest
  @EnumSource(
      value = OwnerStep.class,
      names = {"CONFIRM", "HEARTBEAT"})
  void a_beat_begins_the_lease_and_the_life_of_the_record_anew(OwnerStep beat) {
    OwnerStamp owner = own(a, "A");
    leaseEnds();
    assertThat(take(beat, owner).answer()).isEqualTo(Answer.OK);
    assertTtl(records.ttlMillis(key), RUNNING_TTL);
    assertThat(acquire(b, "B")).isInstanceOf(FollowerWait.class);
  }

  @Test
  void a_request_that_kills_its_owners_stops_killing() {
    for (int attempt = 1; attempt <= MAX_ATTEMPTS; attempt++) {
      assertThat(((Acquired.Owner) acquire(a, "A" + attempt)).attempt()).isEqualTo(attempt);
      leaseEnds();
    }
    long token = Long.parseLong(field("ownerToken"));
    ReplayFailure lost = (ReplayFailure) acquire(b, "B");
    assertThat(lost.ownerToken()).isEqualTo(token);
    assertThat(lost.errorCode()).isEqualTo("OWNER_LOST");
    assertThat(lost.errorType()).isEqualTo("dev.soloflight.FlightFailedException");
    assertThat(lost.errorMessage()).contains(MAX_ATTEMPTS + " owners").contains("A3");
    assertThat(lost.retryable()).isFalse();
    assertTtl(lost.ttlMillis(), FAILED_TTL);
    assertThat(field("status")).isEqualTo("FAILED");
    ReplayFailure again = (ReplayFailure) acquire(a, "C");
    assertThat(again).isEqualTo(withTtl(lost, again.ttlMillis()));
    assertThat(heartbeat(new OwnerStamp("A3", token))).isEqualTo(Answer.OK);
    assertThat(field("status")).as("a late beat of the last owner").isEqualTo("FAILED");
  }

  private static Acquired withTtl(ReplayFailure failure, long ttlMillis) {
    return new ReplayFailure(
        failure.ownerToken(),
        failure.errorType(),
        failure.errorCode(),
        failure.errorMessage(),
        failure.retryable(),
        ttlMillis);
  }

  @Test
  void a_released_flight_is_taken_over_at_once_however_many_owners_it_had() {
    for (int attempt = 1; attempt <= MAX_ATTEMPTS + 2; attempt++) {
      Acquired.Owner owner = (Acquired.Owner) acquire(a, "A" + attempt);
      assertThat(owner.attempt()).isEqualTo(attempt);
      assertThat(owner.idempotencyKey()).isEqualTo("idem-A1");
      release(new OwnerStamp("A" + attempt, owner.ownerToken()));
      assertThat(record())
          .containsEntry("status", "FAILED")
          .containsEntry("errorCode", "RELEASED")
          .containsEntry("errorMessage", "shutting down")
          .containsEntry("retryable", "1");
      assertTtl(records.ttlMillis(key), FAILED_TTL);
    }
  }

  @Test
  void one_idempotency_key_serves_every_owner_of_a_flight_and_a_new_flight_has_its_own() {
    own(a, "A");
    leaseEnds();
    OwnerStamp second = run(b, "B");
    assertThat(field("idempotencyKey")).isEqualTo("idem-A");
    fail(second, true, 0);
    OwnerStamp third = run(a, "C");
    assertThat(field("idempotencyKey")).isEqualTo("idem-A");
    succeed(third, "answer");
    assertThat(field("idempotencyKey")).isEqualTo("idem-A");
    forget("F");
    own(a, "D");
    assertThat(field("idempotencyKey")).isEqualTo("idem-D");
  }

  @Test
  void the_token_grows_with_every_owner_also_after_the_record_has_gone() {
    List<Long> tokens = new ArrayList<>();
    tokens.add(own(a, "A").ownerToken());
    leaseEnds();
    tokens.add(own(b, "B").ownerToken());
    tokens.add(forget("F").ownerToken());
    tokens.add(forget("G").ownerToken());
    OwnerStamp next = own(a, "C");
    tokens.add(next.ownerToken());
    release(next);
    tokens.add(own(b, "D").ownerToken());
    records.lose(key);
    tokens.add(own(a, "E").ownerToken());
    records.lose(key);
    tokens.add(forget("H").ownerToken());
    assertThat(tokens).isSorted().doesNotHaveDuplicates();
    assertThat(tokens.get(0)).as("microseconds of the server's clock").isGreaterThan(1L << 50);
  }

  @Test
  void the_token_grows_even_where_the_clock_went_back() {
    long future = 8_000_000_000_000_000L;
    bring(State.FAILED, "A");
    records.put(key, "ownerToken", Long.toString(future));
    assertThat(own(b, "B").ownerToken()).isEqualTo(future + 1);
    assertThat(forget("F").ownerToken()).isEqualTo(future + 2);
    assertThat(own(b, "C").ownerToken()).isEqualTo(future + 3);
  }

  // ---- waiters

  @Test
  void every_node_that_waits_joins_the_waiters_once_and_complete_returns_them() {
    OwnerStamp owner = run(a, "A");
    assertThat(acquire(b, "B1")).isInstanceOf(FollowerWait.class);
    assertThat(acquire(b, "B2")).isInstanceOf(FollowerWait.class);
    FlightStore c = node("node");
    assertThat(get(c.acquire(key, asking("C")))).isInstanceOf(FollowerWait.class);
    assertThat(field("waiters")).isEqualTo("node-b node");
    assertThat(succeed(owner, "answer").waiters()).containsExactly("node-b", "node");
  }

  @Test
  void a_failure_a_release_and_a_forget_return_the_waiters_too() {
    OwnerStamp owner = run(a, "A");
    acquire(b, "B");
    assertThat(fail(owner, true, 0).waiters()).containsExactly("node-b");
    owner = own(a, "C");
    acquire(b, "D");
    assertThat(release(owner).waiters()).containsExactly("node-b");
    own(a, "E");
    acquire(b, "F");
    assertThat(forget("G").waiters()).containsExactly("node-b");
  }

  @Test
  void who_takes_over_waits_no_longer_and_the_others_wait_on() {
    own(a, "A");
    acquire(b, "B");
    FlightStore c = node("node-c");
    get(c.acquire(key, asking("C")));
    leaseEnds();
    OwnerStamp owner = own(b, "B");
    assertThat(field("waiters")).isEqualTo("node-c");
    assertThat(succeed(owner, "answer").waiters()).containsExactly("node-c");
  }

  @Test
  void waiters_of_a_back_off_are_told_when_it_is_forgotten() {
    fail(run(a, "A"), true, BACKOFF);
    acquire(b, "B");
    assertThat(forget("F")).satisfies(f -> assertThat(f.waiters()).containsExactly("node-b"));
  }

  // ---- damaged and foreign records

  @ParameterizedTest
  @CsvSource({
    "PENDING, v",
    "PENDING, status",
    "PENDING, ownerToken",
    "PENDING, attempt",
    "PENDING, idempotencyKey",
    "PENDING, leaseMillis",
    "PENDING, heartbeatAt",
    "RUNNING, v",
    "RUNNING, status",
    "RUNNING, ownerToken",
    "RUNNING, attempt",
    "RUNNING, idempotencyKey",
    "RUNNING, leaseMillis",
    "RUNNING, heartbeatAt",
    "SUCCEEDED, v",
    "SUCCEEDED, status",
    "SUCCEEDED, ownerToken",
    "FAILED, v",
    "FAILED, status",
    "FAILED, ownerToken",
    "FAILED, attempt",
    "FAILED, idempotencyKey",
    "FAILED, leaseMillis",
    "FAILED, finishedAt",
    "FAILED, errorType"
  })
  void a_record_without_a_needed_field_counts_as_absent_and_is_reported(State state, String name) {
    bring(state, "A");
    records.remove(key, name);
    assertBornAnew();
  }

  @ParameterizedTest
  @CsvSource({
    "PENDING, v, 2",
    "PENDING, status, LANDED",
    "PENDING, attempt, one",
    "PENDING, ownerToken, x",
    "PENDING, leaseMillis, 10s",
    "RUNNING, heartbeatAt, ''",
    "RUNNING, status, running",
    "SUCCEEDED, v, 0",
    "SUCCEEDED, v, ''",
    "SUCCEEDED, ownerToken, x",
    "SUCCEEDED, ownerToken, 0",
    "SUCCEEDED, ownerToken, ''",
    "SUCCEEDED, ownerToken, 1.5",
    "SUCCEEDED, ownerToken, 99999999999999999999",
    "SUCCEEDED, status, DONE",
    "FAILED, v, 11",
    "FAILED, finishedAt, never",
    "FAILED, leaseMillis, soon"
  })
  void a_record_with_a_damaged_field_counts_as_absent_and_is_reported(
      State state, String name, String value) {
    bring(state, "A");
    records.put(key, name, value);
    assertBornAnew();
  }

  private void assertBornAnew() {
    Acquired acquired = acquire(b, "B");
    assertThat(acquired)
        .isEqualTo(new OwnerNew(Long.parseLong(field("ownerToken")), 1, "idem-B", true));
    assertThat(record().keySet()).as("nothing of it is left").isEqualTo(PENDING_FIELDS);
    assertTtl(records.ttlMillis(key), RUNNING_TTL);
  }

  @Test
  void a_key_of_another_application_counts_as_absent_and_is_reported() {
    records.overwriteWithString(key);
    assertThat(get(b.inspect(key))).isEmpty();
    assertBornAnew();
  }

  @ParameterizedTest
  @EnumSource
  void a_key_of_another_application_is_no_owners(OwnerStep step) {
    OwnerStamp owner = run(a, "A");
    records.overwriteWithString(key);
    assertThat(take(step, owner)).isEqualTo(new Ended(Answer.GONE, List.of()));
    records.lose(key);
  }

  @ParameterizedTest
  @EnumSource
  void a_record_of_another_version_is_no_owners(OwnerStep step) {
    OwnerStamp owner = run(a, "A");
    records.put(key, "v", "2");
    assertRefused(step, owner, Answer.GONE);
  }

  @Test
  void a_finished_record_that_the_asker_found_damaged_counts_as_absent() {
    OwnerStamp owner = bring(State.SUCCEEDED, "A");
    AcquireRequest again = asking("B").withDamagedToken(owner.ownerToken());
    Acquired acquired = get(b.acquire(key, again));
    assertThat(acquired).isInstanceOf(OwnerNew.class);
    assertThat(((OwnerNew) acquired).damaged()).isTrue();
    assertThat(acquired.ownerToken()).isGreaterThan(owner.ownerToken());
    assertThat(get(a.acquire(key, asking("C").withDamagedToken(owner.ownerToken()))))
        .as("exactly one executes again")
        .isInstanceOf(FollowerWait.class);
    assertThat(get(b.acquire(key, again)))
        .as("sent twice")
        .isEqualTo(new OwnerNew(acquired.ownerToken(), 1, "idem-B", false));
  }

  @Test
  void a_damaged_token_that_is_not_the_records_changes_nothing() {
    OwnerStamp owner = bring(State.SUCCEEDED, "A");
    AcquireRequest late = asking("B").withDamagedToken(owner.ownerToken() - 1);
    assertReplays(get(b.acquire(key, late)), owner, "answer");
  }

  // ---- resume: the asking of one who has executed

  @Test
  void a_resuming_owner_owns_again_where_the_record_was_lost() {
    OwnerStamp owner = run(a, "A");
    records.lose(key);
    Acquired again = get(a.acquire(key, resuming("A", "idem-A")));
    assertThat(again)
        .isEqualTo(new OwnerNew(Long.parseLong(field("ownerToken")), 1, "idem-A", false));
    assertThat(again.ownerToken()).isGreaterThan(owner.ownerToken());
  }

  @Test
  void a_resuming_owner_gets_its_own_ownership_again() {
    OwnerStamp owner = run(a, "A");
    assertThat(get(a.acquire(key, resuming("A", "idem-A"))))
        .isEqualTo(new OwnerNew(owner.ownerToken(), 1, "idem-A", false));
    assertThat(field("status")).isEqualTo("RUNNING");
  }

  @Test
  void a_resuming_owner_gets_nothing_over_a_tombstone() {
    own(a, "A");
    long tombstone = forget("F").ownerToken();
    Map<String, String> before = record();
    assertThat(get(a.acquire(key, resuming("A", "idem-A")))).isEqualTo(new Forgotten(tombstone));
    assertThat(record()).isEqualTo(before);
  }

  @Test
  void a_resuming_owner_takes_its_flight_back_from_a_successor_that_died_or_failed() {
    own(a, "A");
    leaseEnds();
    own(b, "B");
    leaseEnds();
    Acquired back = get(a.acquire(key, resuming("A", "idem-A")));
    assertThat(back).isEqualTo(new OwnerTakeover(Long.parseLong(field("ownerToken")), 3, "idem-A"));
    release(new OwnerStamp("A", back.ownerToken()));
    assertThat(get(a.acquire(key, resuming("A", "idem-A")))).isInstanceOf(OwnerTakeover.class);
  }

  @Test
  void a_resuming_owner_does_not_take_over_a_flight_of_another_idempotency_key() {
    own(a, "A");
    forget("F");
    OwnerStamp successor = own(b, "B");
    leaseEnds();
    Map<String, String> before = record();
    assertThat(get(a.acquire(key, resuming("A", "idem-A"))))
        .isEqualTo(new Forgotten(successor.ownerToken()));
    assertThat(record()).isEqualTo(before);
    fail(successor, true, 0);
    assertThat(get(a.acquire(key, resuming("A", "idem-A"))))
        .isEqualTo(new Forgotten(successor.ownerToken()));
  }

  @Test
  void an_owner_id_alone_resumes_nothing() {
    OwnerStamp owner = own(a, "A");
    assertThat(get(a.acquire(key, resuming("A", "idem-of-another-flight"))))
        .isEqualTo(new Forgotten(owner.ownerToken()));
  }

  @Test
  void a_resuming_owner_waits_for_a_successor_that_beats_and_gets_what_it_committed() {
    own(a, "A");
    leaseEnds();
    OwnerStamp successor = run(b, "B");
    assertThat(get(a.acquire(key, resuming("A", "idem-A")))).isInstanceOf(FollowerWait.class);
    assertThat(field("waiters")).isEqualTo("node-a");
    succeed(successor, "answer");
    assertReplays(get(a.acquire(key, resuming("A", "idem-A"))), successor, "answer");
  }

  @Test
  void a_resuming_owner_counts_as_an_attempt_and_stops_at_the_last() {
    for (int attempt = 1; attempt <= MAX_ATTEMPTS; attempt++) {
      own(a, "A" + attempt);
      leaseEnds();
    }
    assertThat(((ReplayFailure) get(a.acquire(key, resuming("A1", "idem-A1")))).errorCode())
        .isEqualTo("OWNER_LOST");
  }

  // ---- DESIGN 3.4: refusals

  @ParameterizedTest
  @EnumSource
  void no_step_is_taken_by_an_owner_that_was_taken_over(OwnerStep step) {
    OwnerStamp first = run(a, "A");
    leaseEnds();
    OwnerStamp second = run(b, "B");
    assertRefused(step, first, Answer.TAKEN);
    succeed(second, "answer");
    assertRefused(step, first, Answer.TAKEN);
    assertReplays(acquire(a, "C"), second, "answer");
  }

  @ParameterizedTest
  @EnumSource
  void no_step_is_taken_with_an_older_token_of_the_same_owner(OwnerStep step) {
    OwnerStamp older = run(a, "A");
    records.lose(key);
    OwnerStamp newer = own(a, "A");
    assertThat(newer.ownerToken()).isGreaterThan(older.ownerToken());
    assertRefused(step, older, Answer.TAKEN);
  }

  @ParameterizedTest
  @EnumSource
  void no_step_is_taken_with_anothers_token(OwnerStep step) {
    OwnerStamp owner = run(a, "A");
    assertRefused(step, new OwnerStamp("B", owner.ownerToken()), Answer.TAKEN);
  }

  @ParameterizedTest
  @EnumSource
  void no_step_is_taken_over_a_tombstone(OwnerStep step) {
    OwnerStamp owner = run(a, "A");
    forget("F");
    assertRefused(step, owner, Answer.FORGOTTEN);
  }

  @ParameterizedTest
  @EnumSource
  void no_step_is_taken_where_the_record_has_gone(OwnerStep step) {
    OwnerStamp owner = run(a, "A");
    records.lose(key);
    assertRefused(step, owner, Answer.GONE);
    assertThat(records.ttlMillis(key)).as("nor is it born").isEqualTo(FlightRecords.NO_RECORD);
  }

  @ParameterizedTest
  @EnumSource(names = {"SUCCEEDED", "FAILED"})
  void a_finished_flight_is_not_confirmed(State state) {
    assertRefused(OwnerStep.CONFIRM, bring(state, "A"), Answer.TAKEN);
  }

  @ParameterizedTest
  @EnumSource(names = {"SUCCEEDED", "FAILED"})
  void a_finished_flight_is_left_as_it_is_by_its_owner(State state) {
    OwnerStamp owner = bring(state, "A");
    Map<String, String> before = record();
    assertThat(heartbeat(owner)).isEqualTo(Answer.OK);
    assertThat(succeed(owner, "another answer").answer()).isEqualTo(Answer.OK);
    assertThat(fail(owner, false, 0).answer()).isEqualTo(Answer.OK);
    assertThat(release(owner).answer()).isEqualTo(Answer.OK);
    assertThat(record()).isEqualTo(before);
  }

  @Test
  void an_owner_may_complete_and_release_what_it_has_not_confirmed() {
    assertThat(succeed(own(a, "A"), "answer").answer()).isEqualTo(Answer.OK);
    forget("F");
    assertThat(release(own(a, "B")).answer()).isEqualTo(Answer.OK);
  }

  @Test
  void a_success_after_a_takeover_shows_nothing_of_the_failure_before() {
    bring(State.FAILED, "A");
    OwnerStamp owner = run(b, "B");
    succeed(owner, "answer");
    assertThat(record()).doesNotContainKeys("errorType", "errorCode", "errorMessage", "retryable");
    assertReplays(acquire(a, "C"), owner, "answer");
  }

  // ---- forget

  @ParameterizedTest
  @EnumSource
  void forget_leaves_a_tombstone_where_a_flight_was(State state) {
    OwnerStamp owner = bring(state, "A");
    Forgot forgot = forget("F");
    assertThat(forgot.removed()).isTrue();
    assertThat(forgot.ownerToken()).isGreaterThan(owner.ownerToken());
    assertTombstone(forgot);
  }

  @Test
  void forget_leaves_a_tombstone_where_nothing_was() {
    Forgot forgot = forget("F");
    assertThat(forgot.removed()).isFalse();
    assertThat(forgot.waiters()).isEmpty();
    assertTombstone(forgot);
  }

  @Test
  void forget_leaves_a_tombstone_where_a_tombstone_was() {
    Forgot first = forget("F");
    Forgot second = forget("G");
    assertThat(second.removed()).isFalse();
    assertThat(second.ownerToken()).isGreaterThan(first.ownerToken());
    assertTombstone(second);
  }

  @Test
  void forget_leaves_a_tombstone_where_a_foreign_key_or_version_was() {
    records.overwriteWithString(key);
    Forgot forgot = forget("F");
    assertThat(forgot.removed()).isFalse();
    assertTombstone(forgot);
    records.put(key, "v", "2");
    forgot = forget("F");
    assertThat(forgot.removed()).isFalse();
    assertTombstone(forgot);
  }

  private void assertTombstone(Forgot forgot) {
    assertThat(record())
        .containsEntry("status", "FORGOTTEN")
        .containsEntry("v", "1")
        .containsEntry("ownerToken", Long.toString(forgot.ownerToken()))
        .doesNotContainKeys("payload", "codec", "checksum", "idempotencyKey", "errorMessage");
    assertTtl(records.ttlMillis(key), RUNNING_TTL);
  }

  @Test
  void a_tombstone_lives_as_long_as_the_longest_running_ttl_that_an_owner_may_count_on() {
    OwnerStamp owner = own(a, "A");
    get(a.confirm(key, owner, 10 * RUNNING_TTL));
    forget("F");
    assertTtl(records.ttlMillis(key), 10 * RUNNING_TTL);
    forget("G");
    assertTtl(records.ttlMillis(key), 10 * RUNNING_TTL);
  }

  @Test
  void a_record_born_over_a_tombstone_outlives_it_however_it_ends() {
    List<Supplier<Ended>> ends =
        List.of(
            () -> get(a.complete(key, own(a, "A"), shortFailure())),
            () -> get(a.release(key, own(a, "B"), 1, "shutting down")),
            () ->
                get(
                    a.complete(
                        key, own(a, "C"), new Commit.Success("raw", 0, "", new byte[0], 1))));
    for (Supplier<Ended> end : ends) {
      records.lose(key);
      forget("F" + ends.indexOf(end));
      assertThat(end.get().answer()).isEqualTo(Answer.OK);
      assertTtl(records.ttlMillis(key), RUNNING_TTL);
    }
    records.lose(key);
    forget("G");
    AcquireRequest once = new AcquireRequest("D", "idem-D", LEASE, RUNNING_TTL, 1, 1, 0, false);
    assertThat(get(a.acquire(key, once))).isInstanceOf(OwnerNew.class);
    leaseEnds();
    assertThat(get(b.acquire(key, once))).isInstanceOf(OwnerNew.class);
    AcquireRequest other = new AcquireRequest("E", "idem-E", LEASE, RUNNING_TTL, 1, 1, 0, false);
    assertThat(get(b.acquire(key, other))).isInstanceOf(ReplayFailure.class);
    assertTtl(records.ttlMillis(key), RUNNING_TTL - LEASE - SLACK);
  }

  private static Commit shortFailure() {
    return new Commit.Failure("java.io.IOException", "X", "x", false, 0, 1);
  }

  // ---- sent twice

  @Test
  void acquire_sent_twice_hands_out_the_same_ownership_again() {
    Acquired first = acquire(a, "A");
    Map<String, String> before = record();
    assertThat(acquire(a, "A")).isEqualTo(first);
    assertThat(record()).isEqualTo(before);
    leaseEnds();
    Acquired taken = acquire(b, "B");
    before = record();
    assertThat(acquire(b, "B")).isEqualTo(taken).isInstanceOf(OwnerTakeover.class);
    assertThat(record()).isEqualTo(before);
  }

  @Test
  void acquire_sent_twice_over_a_tombstone_hands_out_the_same_ownership_again() {
    forget("F");
    Acquired first = acquire(a, "A");
    Map<String, String> before = record();
    assertThat(acquire(a, "A")).isEqualTo(first);
    assertThat(record()).isEqualTo(before);
  }

  @Test
  void acquire_sent_twice_follows_and_replays_alike() {
    OwnerStamp owner = run(a, "A");
    acquire(b, "B");
    Map<String, String> before = record();
    assertThat(acquire(b, "B")).isInstanceOf(FollowerWait.class);
    assertThat(record()).isEqualTo(before);
    succeed(owner, "answer");
    before = record();
    assertReplays(acquire(b, "B"), owner, "answer");
    assertReplays(acquire(b, "B"), owner, "answer");
    assertThat(record()).isEqualTo(before);
  }

  @ParameterizedTest
  @EnumSource(names = {"CONFIRM", "HEARTBEAT"})
  void a_beat_sent_twice_beats_twice_and_changes_nothing_else(OwnerStep step) {
    OwnerStamp owner = run(a, "A");
    assertThat(take(step, owner).answer()).isEqualTo(Answer.OK);
    Map<String, String> before = new HashMap<>(record());
    assertThat(take(step, owner).answer()).isEqualTo(Answer.OK);
    Map<String, String> after = new HashMap<>(record());
    assertThat(Long.parseLong(after.remove("heartbeatAt")))
        .isGreaterThanOrEqualTo(Long.parseLong(before.remove("heartbeatAt")));
    assertThat(after).isEqualTo(before);
  }

  @ParameterizedTest
  @EnumSource(names = {"SUCCEED", "FAIL", "RELEASE"})
  void an_end_sent_twice_is_answered_alike_and_written_once(OwnerStep step) {
    OwnerStamp owner = run(a, "A");
    acquire(b, "B");
    Ended first = take(step, owner);
    assertThat(first).isEqualTo(new Ended(Answer.OK, List.of("node-b")));
    records.age(key, Duration.ofMillis(BACKOFF));
    Map<String, String> before = record();
    long ttlBefore = records.ttlMillis(key);
    assertThat(take(step, owner)).isEqualTo(first);
    assertThat(record()).isEqualTo(before);
    assertThat(records.ttlMillis(key)).isLessThanOrEqualTo(ttlBefore);
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void forget_sent_twice_leaves_one_tombstone_and_is_answered_alike(boolean somethingWasThere) {
    if (somethingWasThere) {
      own(a, "A");
      acquire(b, "B");
    }
    Forgot first = forget("F");
    assertThat(first.removed()).isEqualTo(somethingWasThere);
    Map<String, String> before = record();
    assertThat(forget("F")).isEqualTo(first);
    assertThat(record()).isEqualTo(before);
  }

  @Test
  void a_forget_sent_twice_with_a_new_flight_in_between_forgets_that_too() {
    own(a, "A");
    forget("F");
    OwnerStamp next = own(a, "B");
    Forgot second = forget("F");
    assertThat(second.removed()).isTrue();
    assertThat(second.ownerToken()).isGreaterThan(next.ownerToken());
    assertThat(field("status")).isEqualTo("FORGOTTEN");
  }

  // ---- looking

  @ParameterizedTest
  @EnumSource
  void inspect_tells_what_the_record_says(State state) {
    OwnerStamp owner = bring(state, "A");
    FlightView view = get(b.inspect(key)).orElseThrow();
    assertThat(view.key()).isEqualTo(key);
    assertThat(view.status()).isEqualTo(state.name());
    assertThat(view.ownerId()).isEqualTo("A");
    assertThat(view.ownerToken()).isEqualTo(owner.ownerToken());
    assertThat(view.attempt()).isEqualTo(1);
    assertThat(view.idempotencyKey()).isEqualTo("idem-A");
    assertThat(view.startedAt()).isNotNull();
    assertThat(view.heartbeatAt()).isAfterOrEqualTo(view.startedAt());
    boolean finished = state == State.SUCCEEDED || state == State.FAILED;
    assertThat(view.finishedAt() != null).isEqualTo(finished);
    assertThat(view.codec()).isEqualTo(state == State.SUCCEEDED ? "raw" : null);
    assertThat(view.rawSize()).isEqualTo(state == State.SUCCEEDED ? 6 : 0);
    assertThat(view.errorCode()).isEqualTo(state == State.FAILED ? "MODEL_BUSY" : null);
    assertThat(view.retryable()).isEqualTo(state == State.FAILED);
    assertThat(view.ttl()).isPositive();
  }

  @Test
  void inspect_tells_of_nothing_and_of_a_tombstone() {
    assertThat(get(a.inspect(key))).isEmpty();
    long token = forget("F").ownerToken();
    Optional<FlightView> view = get(a.inspect(key));
    assertThat(view).isPresent();
    assertThat(view.get().status()).isEqualTo("FORGOTTEN");
    assertThat(view.get().ownerToken()).isEqualTo(token);
    assertThat(view.get().idempotencyKey()).isNull();
  }

  @Test
  void inspect_changes_nothing() {
    own(a, "A");
    Map<String, String> before = record();
    get(b.inspect(key));
    assertThat(record()).isEqualTo(before);
  }

  @Test
  void flights_lists_every_record_wherever_it_lies_up_to_the_limit() {
    List<FlightKey> keys = new ArrayList<>();
    for (int i = 0; i < 50; i++) {
      FlightKey one = FlightKey.of("contract-flights", KEYS.incrementAndGet());
      keys.add(one);
      get(a.acquire(one, asking("A" + i)));
    }
    assertThat(get(b.flights(10_000))).doesNotHaveDuplicates().containsAll(keys);
    assertThat(get(b.flights(7))).hasSize(7);
  }

  @Test
  void a_store_that_is_there_says_so() {
    assertThat(get(a.ping())).isTrue();
    assertThat(a.nodeId()).isEqualTo("node-a");
  }
}
