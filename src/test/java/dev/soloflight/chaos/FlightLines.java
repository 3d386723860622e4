package dev.soloflight.chaos;

import java.util.HashMap;
import java.util.Map;

/** Which lines of a history tell of one flight: its own, and the faults that concern it. */
final class FlightLines {
  private final String key;
  private final Map<String, String> keyOf = new HashMap<>();

  FlightLines(History history, String key) {
    this.key = key;
    history.calls().forEach(call -> keyOf.put("call " + call.id, call.key));
    history.executions().forEach(run -> keyOf.put("exec " + run.id, run.key));
    history.forgets().forEach(forget -> keyOf.put("forget " + forget.id, forget.key));
  }

  boolean belongs(Event event) {
    return switch (event.kind()) {
      case ASKED, BEGAN, FORGET -> event.get("key").equals(key);
      case ANSWERED -> key.equals(keyOf.get("call " + event.get("call")));
      case ENDED, LOST -> key.equals(keyOf.get("exec " + event.get("exec")));
      case FORGOT -> key.equals(keyOf.get("forget " + event.get("forget")));
      case FAULT -> event.get("key", key).equals(key);
      case STARTED, CLOSING, HEALED, STALL, ETERNAL, LEFT -> true;
    };
  }
}
