package dev.soloflight.cli;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.soloflight.FlightView;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/** What {@code --json} prints: one value on one line, times in ISO 8601, durations in ms. */
final class Json {
  static final JsonMapper MAPPER = new JsonMapper();

  private Json() {}

  static String line(Object value) {
    try {
      return MAPPER.writeValueAsString(value);
    } catch (JsonProcessingException e) {
      throw new IllegalStateException("what the command line prints is always writable", e);
    }
  }

  static ObjectNode of(FlightView view) {
    return MAPPER
        .createObjectNode()
        .put("flight", view.key().id())
        .put("status", view.status())
        .put("ownerId", view.ownerId())
        .put("ownerToken", view.ownerToken())
        .put("attempt", view.attempt())
        .put("idempotencyKey", view.idempotencyKey())
        .put("startedAt", text(view.startedAt()))
        .put("heartbeatAt", text(view.heartbeatAt()))
        .put("finishedAt", text(view.finishedAt()))
        .put("leaseMillis", view.lease().toMillis())
        .put("waitingNodes", view.waitingNodes())
        .put("codec", view.codec())
        .put("rawSize", view.rawSize())
        .put("errorType", view.errorType())
        .put("errorCode", view.errorCode())
        .put("errorMessage", view.errorMessage())
        .put("retryable", view.retryable())
        .put("ttlMillis", view.ttl().toMillis());
  }

  private static @Nullable String text(@Nullable Instant time) {
    return time == null ? null : time.toString();
  }
}
