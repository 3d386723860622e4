package dev.soloflight.cli;

import com.fasterxml.jackson.annotation.JsonSubTypes;
import com.fasterxml.jackson.annotation.JsonTypeInfo;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.json.JsonMapper;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** What the demo and its nodes say to each other: one JSON object a line, on stdin and stdout. */
final class DemoWire {
  private static final JsonMapper JSON = new JsonMapper();

  private DemoWire() {}

  /** To a node. */
  @JsonTypeInfo(use = JsonTypeInfo.Id.NAME, property = "do")
  @JsonSubTypes({
    @JsonSubTypes.Type(value = Setup.class, name = "setup"),
    @JsonSubTypes.Type(value = Call.class, name = "call"),
    @JsonSubTypes.Type(value = Report.class, name = "report")
  })
  sealed interface Order {}

  /**
   * The first line. Not among the arguments, where every user of the machine sees a password.
   *
   * @param settings overrides by dotted path
   * @param typed whether the model answers in the demo's JSON
   */
  record Setup(
      @Nullable String configFile, Map<String, String> settings, String modelUrl, boolean typed)
      implements Order {}

  /**
   * Make this call.
   *
   * @param id comes back with the answer
   */
  record Call(int id, DemoRequest request) implements Order {}

  /** Say what was counted so far. */
  record Report() implements Order {}

  /** From a node. */
  @JsonTypeInfo(use = JsonTypeInfo.Id.NAME, property = "event")
  @JsonSubTypes({
    @JsonSubTypes.Type(value = Ready.class, name = "ready"),
    @JsonSubTypes.Type(value = ModelCalled.class, name = "model"),
    @JsonSubTypes.Type(value = Answered.class, name = "answered"),
    @JsonSubTypes.Type(value = Failed.class, name = "failed"),
    @JsonSubTypes.Type(value = Counted.class, name = "counted"),
    @JsonSubTypes.Type(value = Ended.class, name = "ended")
  })
  sealed interface Event {}

  /** Connected, and able to take calls. */
  record Ready() implements Event {}

  /** This call is calling the model now. */
  record ModelCalled(int id) implements Event {}

  /** A call's answer. */
  record Answered(int id, String answer) implements Event {}

  /** A call ended without one. */
  record Failed(int id, String error) implements Event {}

  /** What the node's meters say. */
  record Counted(Map<String, Long> bySource, long takeovers) implements Event {}

  /** Not said by the node: its process has ended. */
  record Ended() implements Event {}

  static String write(Object message) {
    try {
      return JSON.writeValueAsString(message);
    } catch (JsonProcessingException e) {
      throw new IllegalStateException("a record of ours is always writable", e);
    }
  }

  static Order readOrder(String line) throws JsonProcessingException {
    return JSON.readValue(line, Order.class);
  }

  static Event readEvent(String line) throws JsonProcessingException {
    return JSON.readValue(line, Event.class);
  }
}
