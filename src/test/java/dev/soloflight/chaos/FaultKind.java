package dev.soloflight.chaos;

import java.util.List;

/** The faults there are, and what each may explain. What explains nothing must change nothing. */
enum FaultKind {
  /** SIGKILL. */
  KILL_NODE(Effect.SILENCES),
  /** SIGSTOP, then SIGCONT. */
  PAUSE_NODE(Effect.SILENCES),
  /** An orderly end; the node that follows has other TTLs. */
  CLOSE_NODE(Effect.SILENCES),
  /** A process that was not scheduled, or a Redis that was slow, by itself. */
  STALL(Effect.SILENCES),
  /** The network: every connection cut, and none accepted for a while. */
  CUT(Effect.SILENCES),
  /** The network: slow. */
  DELAY(Effect.SILENCES),
  /** The network: the server has said its last word. */
  HALF_CLOSE(Effect.SILENCES),
  /** The network: nothing arrives at the server. */
  BLACKHOLE_TO_SERVER(Effect.SILENCES),
  /** The network: nothing arrives at the client. */
  BLACKHOLE_TO_CLIENT(Effect.SILENCES),
  /** Redis killed and started without its data. */
  REDIS_EMPTY(Effect.SILENCES, Effect.LOSES),
  /** Redis killed and started with all it had acknowledged. */
  REDIS_RESTART(Effect.SILENCES),
  /** CLIENT PAUSE. */
  REDIS_PAUSE(Effect.SILENCES),
  /** Redis under SIGSTOP. */
  REDIS_STOP(Effect.SILENCES),
  /** maxmemory reached, noeviction: writes are refused. */
  REDIS_FULL(Effect.SILENCES),
  /** maxmemory reached, allkeys-lru: keys disappear; a large write may be refused still. */
  EVICTION(Effect.SILENCES, Effect.LOSES),
  /** DEL of one flight's record. */
  DELETE(Effect.LOSES),
  /** One flight's record damaged. */
  CORRUPT(Effect.LOSES),
  /** The primary killed; what its replica had not received yet is lost. */
  FAILOVER(Effect.SILENCES, Effect.LOSES, Effect.RESTORES),
  /** A primary deposed that still served: what was written to it since is lost. */
  SPLIT(Effect.SILENCES, Effect.LOSES, Effect.RESTORES),
  /** A cluster's slot moved to another primary. */
  MIGRATION,
  /** A node's inbox deleted or damaged: it polls. */
  INBOX,
  /** SCRIPT FLUSH. */
  SCRIPT_FLUSH,
  /** CLIENT KILL of every connection, replies under way included. */
  CLIENT_KILL(Effect.SILENCES),
  /** A node started with its wall clock ten minutes off. */
  CLOCK;

  private enum Effect {
    SILENCES,
    LOSES,
    RESTORES
  }

  private final boolean silences;
  private final boolean loses;
  private final boolean restores;

  FaultKind(Effect... effects) {
    List<Effect> all = List.of(effects);
    silences = all.contains(Effect.SILENCES);
    loses = all.contains(Effect.LOSES);
    restores = all.contains(Effect.RESTORES);
  }

  /** Whether beats, or Redis's answers to them, may fail to arrive. */
  boolean silences() {
    return silences;
  }

  /** Whether a record or a tombstone may be lost. */
  boolean loses() {
    return loses;
  }

  /** Whether an older state of a record may come back. */
  boolean restores() {
    return restores;
  }

  /** Whether the process itself stands still, its deadlines included. */
  boolean stops() {
    return this == PAUSE_NODE || this == STALL;
  }

  /** Whether the node does not come back. */
  boolean ends() {
    return this == KILL_NODE || this == CLOSE_NODE;
  }
}
