package dev.soloflight.cli;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.time.Duration;
import java.time.Instant;
import java.util.HexFormat;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A model for the demo and for tests: an OpenAI-compatible chat endpoint on the loopback interface
 * that takes its time, counts, and never gives the same answer twice.
 *
 * <p>Its answer is JSON text: {@code call} is the number of the call, so two calls with one prompt
 * differ and a duplicate shows; {@code score} and the comment depend on the prompt alone. It does
 * not honour idempotency keys, it only writes them down: what it counts is what would have been
 * paid. A call counts as soon as it has arrived, even if its caller dies before the answer.
 */
final class ModelEndpoint implements AutoCloseable {
  private static final Logger log = LoggerFactory.getLogger(ModelEndpoint.class);
  private static final List<String> COMMENTS =
      List.of(
          "Sound reasoning; name the trade-offs and a figure from production.",
          "Correct on the main point; the failure case is missing.",
          "结构清晰，建议补充线上数据和取舍依据。",
          "思路正确，但缺少异常场景的处理。");

  private final JsonMapper json = new JsonMapper();
  private final List<Call> calls = new CopyOnWriteArrayList<>();
  private final AtomicInteger count = new AtomicInteger();
  private final Function<String, Duration> latency;
  private final ExecutorService readers;
  private final ScheduledExecutorService answers;
  private final HttpServer server;

  /**
   * A call that arrived.
   *
   * @param number from 1, in the order of arrival
   * @param promptDigest SHA-256 of the prompt
   * @param idempotencyKey the header {@code Idempotency-Key}, or null
   * @param receivedAt when, by this process's clock
   */
  record Call(
      int number, String promptDigest, @Nullable String idempotencyKey, Instant receivedAt) {}

  private ModelEndpoint(HttpServer server, Function<String, Duration> latency) {
    this.server = server;
    this.latency = latency;
    this.readers = Executors.newCachedThreadPool(work -> daemon(work, "soloflight-model-reader"));
    this.answers =
        Executors.newSingleThreadScheduledExecutor(
            work -> daemon(work, "soloflight-model-answers"));
    server.createContext("/", this::handle);
    server.setExecutor(readers);
    server.start();
  }

  /**
   * Starts an endpoint.
   *
   * @param port 0 for any free one
   * @param latency how long the answer to a prompt takes; the prompt is the request's text
   * @throws IOException if the port cannot be opened
   */
  static ModelEndpoint start(int port, Function<String, Duration> latency) throws IOException {
    return new ModelEndpoint(
        HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), port), 0),
        latency);
  }

  /** A latency between two bounds that depends on the prompt alone. */
  static Function<String, Duration> between(Duration least, Duration most) {
    long spreadMillis = most.minus(least).toMillis() + 1;
    return prompt -> least.plusMillis(Math.floorMod(prompt.hashCode(), spreadMillis));
  }

  /** For an OpenAI client: {@code http://127.0.0.1:PORT/v1}. */
  String baseUrl() {
    InetSocketAddress address = server.getAddress();
    return "http://" + address.getAddress().getHostAddress() + ":" + address.getPort() + "/v1";
  }

  /** How many calls have arrived. */
  int callCount() {
    return count.get();
  }

  /** The calls that have arrived, oldest first. */
  List<Call> calls() {
    return List.copyOf(calls);
  }

  /** Stops at once; whoever still waits for an answer loses the connection. */
  @Override
  public void close() {
    server.stop(0);
    answers.shutdownNow();
    readers.shutdownNow();
  }

  private void handle(HttpExchange exchange) throws IOException {
    if (!exchange.getRequestURI().getPath().equals("/v1/chat/completions")) {
      reply(exchange, 404, error("no such path; expected POST /v1/chat/completions"));
      return;
    }
    if (!exchange.getRequestMethod().equals("POST")) {
      exchange.getResponseHeaders().set("Allow", "POST");
      reply(exchange, 405, error("method not allowed; expected POST"));
      return;
    }
    JsonNode request;
    try {
      request = json.readTree(exchange.getRequestBody());
    } catch (JsonProcessingException e) {
      reply(exchange, 400, error("the body is not JSON"));
      return;
    }
    String prompt = prompt(request);
    if (prompt.isBlank()) {
      reply(exchange, 400, error("messages is missing or holds no text"));
      return;
    }
    Call call = noteDown(prompt, exchange.getRequestHeaders().getFirst("Idempotency-Key"));
    ObjectNode answer = answer(call, request.path("model").asText("demo"), prompt);
    // No thread waits: thousands of slow answers cost one timer.
    var unused =
        answers.schedule(
            () -> reply(exchange, 200, answer),
            latency.apply(prompt).toNanos(),
            TimeUnit.NANOSECONDS);
  }

  private Call noteDown(String prompt, @Nullable String idempotencyKey) {
    Call call = new Call(count.incrementAndGet(), digest(prompt), idempotencyKey, Instant.now());
    calls.add(call);
    return call;
  }

  private static String prompt(JsonNode request) {
    StringBuilder prompt = new StringBuilder();
    for (JsonNode message : request.path("messages")) {
      JsonNode content = message.path("content");
      if (content.isTextual()) {
        prompt.append(content.textValue()).append('\n');
      }
      for (JsonNode part : content) {
        prompt.append(part.path("text").asText()).append('\n');
      }
    }
    return prompt.toString();
  }

  private ObjectNode answer(Call call, String model, String prompt) {
    int hash = Math.floorMod(prompt.hashCode(), 1_000_000);
    String text =
        json.createObjectNode()
            .put("call", call.number())
            .put("score", 55 + hash % 45)
            .put("comment", COMMENTS.get(hash % COMMENTS.size()))
            .toString();
    ObjectNode response =
        json.createObjectNode()
            .put("id", "chatcmpl-" + call.number())
            .put("object", "chat.completion")
            .put("created", call.receivedAt().getEpochSecond())
            .put("model", model);
    ObjectNode choice = response.putArray("choices").addObject().put("index", 0);
    choice.putObject("message").put("role", "assistant").put("content", text);
    choice.put("finish_reason", "stop");
    // Roughly four characters a token, as a bill would be estimated.
    int promptTokens = prompt.length() / 4 + 1;
    int completionTokens = text.length() / 4 + 1;
    response
        .putObject("usage")
        .put("prompt_tokens", promptTokens)
        .put("completion_tokens", completionTokens)
        .put("total_tokens", promptTokens + completionTokens);
    return response;
  }

  private ObjectNode error(String message) {
    ObjectNode error = json.createObjectNode();
    error.putObject("error").put("message", message).put("type", "invalid_request_error");
    return error;
  }

  private static void reply(HttpExchange exchange, int status, ObjectNode body) {
    byte[] bytes = body.toString().getBytes(StandardCharsets.UTF_8);
    exchange.getResponseHeaders().set("Content-Type", "application/json");
    try (exchange) {
      exchange.sendResponseHeaders(status, bytes.length);
      exchange.getResponseBody().write(bytes);
    } catch (IOException e) {
      log.debug("the caller left before its answer came", e);
    }
  }

  private static Thread daemon(Runnable work, String name) {
    Thread thread = new Thread(work, name);
    thread.setDaemon(true);
    return thread;
  }

  private static String digest(String text) {
    try {
      return HexFormat.of()
          .formatHex(
              MessageDigest.getInstance("SHA-256").digest(text.getBytes(StandardCharsets.UTF_8)));
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("every Java platform has SHA-256", e);
    }
  }
}
