package dev.soloflight.internal.store;

import dev.soloflight.FlightKey;
import dev.soloflight.internal.policy.SoloFlightConfig;
import dev.soloflight.internal.time.SystemTimers;
import io.lettuce.core.resource.ClientResources;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;

/**
 * Looks at a Redis as SoloFlight would use it, and says what would hinder it or cost something.
 * Makes flights of its own stage, {@value #STAGE}, and removes them again.
 */
public final class RedisProbe {
  private static final String STAGE = "soloflight-doctor";
  private static final long LEASE_MILLIS = 10_000;
  private static final long TTL_MILLIS = 15_000;

  /** In a Cluster the flights fall to different nodes, each of which has to know the scripts. */
  private static final int FLIGHTS = 16;

  private static final Duration CLOCKS_AGREE = Duration.ofSeconds(2);

  private final SoloFlightConfig config;
  private final List<Finding> findings = new ArrayList<>();

  private RedisProbe(SoloFlightConfig config) {
    this.config = config;
  }

  /** Connects, looks, disconnects. Never fails: what goes wrong is a finding. */
  public static List<Finding> probe(SoloFlightConfig config) {
    RedisProbe probe = new RedisProbe(config);
    ClientResources resources = ClientResources.create();
    try (Connector connector =
        new Connector(config.redis(), resources, false, config.redis().commandTimeout())) {
      probe.look(connector);
    } finally {
      resources.shutdown(0, 1, TimeUnit.SECONDS).awaitUninterruptibly(2, TimeUnit.SECONDS);
    }
    return List.copyOf(probe.findings);
  }

  private void look(Connector connector) {
    Link link;
    try {
      link = await(connector.connect());
    } catch (Refused e) {
      findings.add(
          Finding.fault(
              "connection",
              e.said(),
              "Check redis.uri (host, port, user, password; rediss:// only if the server speaks"
                  + " TLS) and that this machine may reach it."));
      return;
    }
    try {
      Map<String, String> info = info(link);
      connection(info, link);
      eviction(info);
      persistence(info);
      clock(link);
    } finally {
      link.close();
    }
    try (SystemTimers timers = new SystemTimers("soloflight-doctor-timer");
        LettuceFlightStore store =
            new LettuceFlightStore(config, "doctor-" + UUID.randomUUID(), timers)) {
      scripts(store);
      inbox(store);
    }
  }

  private Map<String, String> info(Link link) {
    Map<String, String> info = new HashMap<>();
    try {
      await(link.commands().info())
          .lines()
          .filter(line -> line.contains(":"))
          .forEach(line -> info.put(line.split(":", 2)[0], line.split(":", 2)[1].trim()));
    } catch (Refused e) {
      findings.add(
          Finding.warning(
              "rights",
              "INFO: " + e.said(),
              "Only this check needs it: version, eviction and persistence cannot be told."));
    }
    return info;
  }

  private void connection(Map<String, String> info, Link link) {
    boolean cluster = "1".equals(info.get("cluster_enabled"));
    String server = info.getOrDefault("server_name", "redis");
    String version = info.getOrDefault(server + "_version", info.get("redis_version"));
    if (version == null) {
      findings.add(Finding.ok("connection", "answers " + roundTrip(link)));
      return;
    }
    String found =
        server + " " + version + (cluster ? ", Cluster" : "") + ", answers " + roundTrip(link);
    if (server.equals("redis") && tooOld(version)) {
      findings.add(Finding.fault("version", found, "Redis 6.2 or later, or Valkey, is needed."));
    } else {
      findings.add(Finding.ok("version", found));
    }
  }

  private String roundTrip(Link link) {
    try {
      await(link.commands().ping());
      long begin = System.nanoTime();
      await(link.commands().ping());
      return "in " + TimeUnit.NANOSECONDS.toMicros(System.nanoTime() - begin) + " us";
    } catch (Refused e) {
      return "no PING: " + e.said();
    }
  }

  private static boolean tooOld(String version) {
    String[] parts = version.split("\\.", -1);
    try {
      int major = Integer.parseInt(parts[0]);
      return major < 6 || (major == 6 && Integer.parseInt(parts[1]) < 2);
    } catch (NumberFormatException | ArrayIndexOutOfBoundsException e) {
      return false;
    }
  }

  private void eviction(Map<String, String> info) {
    String policy = info.get("maxmemory_policy");
    if (policy == null) {
      return;
    }
    String limit = info.getOrDefault("maxmemory", "0");
    String found = policy + ", maxmemory " + (limit.equals("0") ? "not set" : limit + " bytes");
    if (policy.equals("noeviction") || limit.equals("0")) {
      findings.add(Finding.ok("eviction", found));
    } else {
      findings.add(
          Finding.warning(
              "eviction",
              found,
              "Records may be evicted: a replay is lost early, and an owner re-asserts its flight at"
                  + " its next beat.\nSet maxmemory-policy noeviction, or give SoloFlight a Redis"
                  + " that is large enough."));
    }
  }

  private void persistence(Map<String, String> info) {
    String appendOnly = info.get("aof_enabled");
    if (appendOnly == null) {
      return;
    }
    boolean replicated = !"0".equals(info.getOrDefault("connected_slaves", "0"));
    String found =
        (appendOnly.equals("1") ? "append-only file" : "no append-only file")
            + (replicated ? ", " + info.get("connected_slaves") + " replicas" : ", no replica");
    findings.add(
        Finding.ok(
            "persistence",
            found
                + (appendOnly.equals("1") || replicated
                    ? ""
                    : "; a restart forgets results, owners at work re-assert theirs")));
  }

  private void clock(Link link) {
    try {
      List<byte[]> time = await(link.commands().time());
      long redisMillis =
          Long.parseLong(Scripts.text(time.get(0))) * 1000
              + Long.parseLong(Scripts.text(time.get(1))) / 1000;
      Duration off = Duration.ofMillis(redisMillis - java.time.Instant.now().toEpochMilli());
      String found = "Redis is " + off.toMillis() + " ms ahead of this machine";
      findings.add(
          off.abs().compareTo(CLOCKS_AGREE) < 0
              ? Finding.ok("clock", found)
              : Finding.warning(
                  "clock",
                  found,
                  "Changes nothing for SoloFlight, which asks the Redis clock alone; log times"
                      + " differ."));
    } catch (Refused e) {
      findings.add(
          Finding.warning("clock", "TIME: " + e.said(), "Only this check sends it itself."));
    }
  }

  /** One whole life of a flight, so that every right and every script is really used. */
  private void scripts(LettuceFlightStore store) {
    String step = "acquire";
    try {
      for (int i = 0; i < FLIGHTS; i++) {
        FlightKey key = FlightKey.of(STAGE, UUID.randomUUID());
        AcquireRequest request =
            new AcquireRequest("doctor", "doctor", LEASE_MILLIS, TTL_MILLIS, 1, 1_000, 0, false);
        step = "acquire";
        OwnerStamp owner =
            new OwnerStamp("doctor", await(store.acquire(key, request)).ownerToken());
        step = "confirm";
        await(store.confirm(key, owner, TTL_MILLIS));
        step = "heartbeat";
        await(store.heartbeat(key, owner, TTL_MILLIS));
        step = "complete";
        await(
            store.complete(key, owner, new Commit.Success("raw", 0, "", new byte[0], TTL_MILLIS)));
        step = "release";
        await(store.release(key, owner, 1_000, "doctor"));
        step = "forget";
        await(store.forget(key, "doctor", 1_000));
        step = "inspect";
        await(store.inspect(key));
      }
      findings.add(
          Finding.ok("scripts", "acquire, confirm, heartbeat, complete, release, forget all run"));
    } catch (Refused e) {
      findings.add(
          Finding.fault(
              "scripts",
              step + ": " + e.said(),
              "The README lists the exact ACL rules; a script needs the rights of its commands"
                  + " too."));
    }
  }

  private void inbox(LettuceFlightStore store) {
    FlightKey key = FlightKey.of(STAGE, UUID.randomUUID());
    CountDownLatch created = new CountDownLatch(1);
    CountDownLatch woken = new CountDownLatch(1);
    store.listen(
        new FlightStore.WakeListener() {
          @Override
          public void onWake(FlightKey flight) {
            if (flight.equals(key)) {
              woken.countDown();
            }
          }

          @Override
          public void onWakeAll() {
            created.countDown();
          }
        });
    // Connecting included.
    long patience = 5 * config.redis().commandTimeout().toNanos();
    try {
      boolean there = created.await(patience, TimeUnit.NANOSECONDS);
      store.wake(key, List.of(store.nodeId()));
      if (there && woken.await(patience, TimeUnit.NANOSECONDS)) {
        findings.add(Finding.ok("xread", "wake-ups arrive by event"));
        return;
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    findings.add(
        Finding.warning(
            "xread",
            "no wake-up arrived",
            "Followers poll every "
                + config.pollFallbackInterval().toMillis()
                + " ms (poll-fallback-interval) instead.\nAllow XREAD, XADD, PEXPIRE and DEL on "
                + config.prefix()
                + ":inbox:*"));
  }

  private <T> T await(CompletionStage<T> stage) throws Refused {
    CompletableFuture<T> future = stage.toCompletableFuture();
    try {
      return future.get(3 * config.redis().commandTimeout().toNanos(), TimeUnit.NANOSECONDS);
    } catch (ExecutionException e) {
      throw new Refused(Scripts.describe(e));
    } catch (TimeoutException e) {
      throw new Refused("no answer within 3 x redis.command-timeout");
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new Refused("interrupted");
    }
  }

  /** A step that did not work. */
  private static final class Refused extends Exception {
    private static final long serialVersionUID = 1L;

    Refused(@Nullable String said) {
      super(said);
    }

    String said() {
      return String.valueOf(getMessage());
    }
  }
}
