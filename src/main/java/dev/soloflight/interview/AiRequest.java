package dev.soloflight.interview;

import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * What is asked of a model. Immutable; its text form shows neither prompt nor parameters nor file.
 *
 * @param prompt the text to send; empty where the parameters say it all
 * @param sessionId the interview session it belongs to
 * @param agent which of the provider's agents or prompt sets is to answer
 * @param model the model's name, or null for the client's own default
 * @param stage the kind of call, for example {@code interview-evaluation}
 * @param parameters further input and settings by name; maps, lists and sets in it are copied
 * @param file a file to look at, or null
 * @param idempotencyKey the same for every owner of the flight; to be handed to the provider
 */
public record AiRequest(
    String prompt,
    String sessionId,
    String agent,
    @Nullable String model,
    String stage,
    Map<String, Object> parameters,
    @Nullable AiFile file,
    String idempotencyKey) {

  /** Copies the parameters, whatever lies in them included. */
  public AiRequest {
    parameters = snapshot(parameters);
  }

  @Override
  public String toString() {
    return "AiRequest[stage="
        + stage
        + ", sessionId="
        + sessionId
        + ", agent="
        + agent
        + ", model="
        + model
        + ", idempotencyKey="
        + idempotencyKey
        + ", promptChars="
        + prompt.length()
        + ", parameters="
        + parameters.size()
        + ", file="
        + file
        + "]";
  }

  /** An unmodifiable copy that no later change reaches. */
  static Map<String, Object> snapshot(Map<String, ?> parameters) {
    Map<String, Object> copy = new LinkedHashMap<>();
    parameters.forEach((name, value) -> copy.put(name, copyOf(name, value)));
    return Collections.unmodifiableMap(copy);
  }

  private static Object copyOf(String name, @Nullable Object value) {
    if (value == null) {
      throw new IllegalArgumentException("parameter " + name + " is or holds null; leave it out");
    }
    if (value instanceof Map<?, ?> map) {
      Map<Object, Object> copy = new LinkedHashMap<>();
      map.forEach((k, v) -> copy.put(k, copyOf(name, v)));
      return Collections.unmodifiableMap(copy);
    }
    if (value instanceof Set<?> set) {
      Set<Object> copy = new LinkedHashSet<>();
      set.forEach(e -> copy.add(copyOf(name, e)));
      return Collections.unmodifiableSet(copy);
    }
    if (value instanceof Collection<?> collection) {
      List<Object> copy = new ArrayList<>();
      collection.forEach(e -> copy.add(copyOf(name, e)));
      return Collections.unmodifiableList(copy);
    }
    return value instanceof byte[] bytes ? bytes.clone() : value;
  }
}
