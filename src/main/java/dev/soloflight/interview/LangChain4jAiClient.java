package dev.soloflight.interview;

import static java.util.Objects.requireNonNull;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.datatype.jdk8.Jdk8Module;
import com.fasterxml.jackson.datatype.jsr310.JavaTimeModule;
import dev.langchain4j.data.message.ChatMessage;
import dev.langchain4j.data.message.Content;
import dev.langchain4j.data.message.ImageContent;
import dev.langchain4j.data.message.PdfFileContent;
import dev.langchain4j.data.message.SystemMessage;
import dev.langchain4j.data.message.TextContent;
import dev.langchain4j.data.message.UserMessage;
import dev.langchain4j.exception.HttpException;
import dev.langchain4j.exception.InternalServerException;
import dev.langchain4j.exception.InvalidRequestException;
import dev.langchain4j.exception.RateLimitException;
import dev.langchain4j.exception.TimeoutException;
import dev.langchain4j.exception.UnresolvedModelServerException;
import dev.langchain4j.model.chat.request.ChatRequest;
import dev.langchain4j.model.openai.OpenAiChatModel;
import dev.langchain4j.model.openai.OpenAiChatRequestParameters;
import dev.soloflight.FlightFailedException;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Base64;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Asks an OpenAI-compatible endpoint through LangChain4j's {@link OpenAiChatModel}. Needs {@code
 * dev.langchain4j:langchain4j-open-ai} on the class path, which SoloFlight does not bring along.
 *
 * <p><b>What is sent.</b> The agent's instructions, where the builder was told them, as the system
 * message; the prompt, the input parameters and the file as one user message. A parameter with the
 * name of an OpenAI setting ({@code temperature}, {@code max_tokens} or {@code maxTokens}, {@code
 * seed} ...) becomes that setting; any other is input and follows the prompt as {@code name:
 * value}, in the order of their names. A file of type {@code text/*} or JSON is sent as UTF-8 text,
 * {@code image/*} as a picture, {@code application/pdf} as a document; others are refused. The
 * request's idempotency key travels in the header {@code Idempotency-Key}.
 *
 * <p><b>How it fails.</b> With a {@link FlightFailedException}: code {@link #RATE_LIMITED} (HTTP
 * 429) or {@link #UNAVAILABLE} (HTTP 5xx and 408, timeout, no connection, no readable response),
 * both retryable; code {@link #REJECTED} (any other HTTP status, a file that cannot be sent), not
 * retryable. An interrupt ends the call with {@link InterruptedException}. LangChain4j's own
 * retries are off unless asked for, since SoloFlight owns the retries.
 *
 * <p>Immutable and safe for any number of threads.
 */
public final class LangChain4jAiClient implements AiClient {
  /** The provider asks for a pause: HTTP 429. Retryable. */
  public static final String RATE_LIMITED = "MODEL_RATE_LIMITED";

  /** The provider did not answer, or not sensibly. Retryable. */
  public static final String UNAVAILABLE = "MODEL_UNAVAILABLE";

  /** The provider refuses this request and would again. Not retryable. */
  public static final String REJECTED = "MODEL_REJECTED";

  private static final Set<String> SETTINGS =
      Set.of(
          "temperature",
          "top_p",
          "max_tokens",
          "max_completion_tokens",
          "presence_penalty",
          "frequency_penalty",
          "seed",
          "stop",
          "reasoning_effort",
          "service_tier",
          "response_format");

  private final JsonMapper json =
      JsonMapper.builder().addModules(new JavaTimeModule(), new Jdk8Module()).build();

  /** LangChain4j asks for the headers on the calling thread, without saying for which request. */
  private final ThreadLocal<String> idempotencyKey = new ThreadLocal<>();

  private final OpenAiChatModel model;
  private final Map<String, String> instructions;

  private LangChain4jAiClient(Builder builder) {
    this.instructions = Map.copyOf(builder.instructions);
    var openAi =
        OpenAiChatModel.builder()
            .modelName(builder.model)
            .timeout(builder.timeout)
            .maxRetries(builder.maxRetries)
            .customHeaders(this::headers);
    if (builder.baseUrl != null) {
      openAi.baseUrl(builder.baseUrl);
    }
    if (builder.apiKey != null) {
      openAi.apiKey(builder.apiKey);
    }
    this.model = openAi.build();
  }

  /**
   * Starts a client.
   *
   * @param model the model to ask where a request names none
   * @throws IllegalArgumentException if the model is blank
   */
  public static Builder builder(String model) {
    if (model.isBlank()) {
      throw new IllegalArgumentException("model is blank; expected a model's name");
    }
    return new Builder(model);
  }

  @Override
  public String chat(AiRequest request) throws InterruptedException {
    ChatRequest chatRequest = chatRequest(request);
    idempotencyKey.set(request.idempotencyKey());
    try {
      String text = model.chat(chatRequest).aiMessage().text();
      return text == null ? "" : text;
    } catch (RuntimeException e) {
      throw failure(e);
    } finally {
      idempotencyKey.remove();
    }
  }

  private Map<String, String> headers() {
    String key = idempotencyKey.get();
    return key == null ? Map.of() : Map.of("Idempotency-Key", key);
  }

  private ChatRequest chatRequest(AiRequest request) {
    Map<String, Object> settings = new HashMap<>();
    StringBuilder text = new StringBuilder(request.prompt());
    new TreeMap<>(request.parameters())
        .forEach(
            (name, value) -> {
              String setting = snakeCase(name);
              if (SETTINGS.contains(setting)) {
                settings.put(setting, value);
              } else {
                text.append(text.isEmpty() ? "" : "\n\n").append(name).append(": ");
                text.append(value instanceof String string ? string : toJson(name, value));
              }
            });
    List<Content> contents = new ArrayList<>();
    if (!text.isEmpty()) {
      contents.add(TextContent.from(text.toString()));
    }
    if (request.file() != null) {
      contents.add(content(request.file()));
    }
    List<ChatMessage> messages = new ArrayList<>();
    String instruction = instructions.get(request.agent());
    if (instruction != null) {
      messages.add(SystemMessage.from(instruction));
    }
    messages.add(UserMessage.from(contents));
    var parameters = OpenAiChatRequestParameters.builder().customParameters(settings);
    if (request.model() != null) {
      parameters.modelName(request.model());
    }
    return ChatRequest.builder().messages(messages).parameters(parameters.build()).build();
  }

  private String toJson(String name, Object value) {
    try {
      return json.writeValueAsString(value);
    } catch (JsonProcessingException e) {
      throw new IllegalArgumentException(
          "parameter " + name + " cannot be written as JSON: " + value.getClass().getName(), e);
    }
  }

  private static Content content(AiFile file) {
    String mediaType = file.mediaType().toLowerCase(Locale.ROOT);
    if (mediaType.startsWith("text/") || mediaType.startsWith("application/json")) {
      return TextContent.from(new String(file.content(), StandardCharsets.UTF_8));
    }
    String base64 = Base64.getEncoder().encodeToString(file.content());
    if (mediaType.startsWith("image/")) {
      return ImageContent.from(base64, file.mediaType());
    }
    if (mediaType.startsWith("application/pdf")) {
      return PdfFileContent.from(base64, file.mediaType());
    }
    throw FlightFailedException.of(
        REJECTED,
        "a file of type "
            + file.mediaType()
            + " cannot be sent to a chat model; expected text/*, application/json, image/* or"
            + " application/pdf",
        false);
  }

  private static RuntimeException failure(RuntimeException e) throws InterruptedException {
    List<Throwable> chain =
        Stream.<Throwable>iterate(e, t -> t != null, Throwable::getCause).toList();
    if (has(chain, InterruptedException.class)) {
      // The thread's interrupt flag stays as LangChain4j set it.
      throw (InterruptedException)
          new InterruptedException("interrupted while waiting for the model").initCause(e);
    }
    String status =
        chain.stream()
            .filter(HttpException.class::isInstance)
            .map(t -> "the model's endpoint answered HTTP " + ((HttpException) t).statusCode())
            .findFirst()
            .orElse("");
    if (has(chain, RateLimitException.class)) {
      return failure(RATE_LIMITED, status + ": it asks for a pause", true, e);
    }
    if (has(chain, InternalServerException.class)
        || has(chain, TimeoutException.class)
        || has(chain, IOException.class)
        || has(chain, UnresolvedModelServerException.class)) {
      return failure(
          UNAVAILABLE,
          status.isEmpty() ? "the model's endpoint gave no usable answer: " + cause(chain) : status,
          true,
          e);
    }
    if (!status.isEmpty() || has(chain, InvalidRequestException.class)) {
      return failure(
          REJECTED,
          (status.isEmpty() ? "the model's endpoint refuses the request" : status)
              + ": check base URL, API key, model name and request",
          false,
          e);
    }
    return e;
  }

  /** The response's body is left to the cause: it may quote what was sent. */
  private static FlightFailedException failure(
      String code, String message, boolean retryable, RuntimeException cause) {
    return new FlightFailedException(
        message, cause.getClass().getName(), code, message, retryable, cause);
  }

  private static boolean has(List<Throwable> chain, Class<? extends Throwable> type) {
    return chain.stream().anyMatch(type::isInstance);
  }

  private static String cause(List<Throwable> chain) {
    return chain.stream()
        .filter(IOException.class::isInstance)
        .findFirst()
        .orElse(chain.get(chain.size() - 1))
        .getClass()
        .getSimpleName();
  }

  private static String snakeCase(String name) {
    return name.replaceAll("([a-z])([A-Z])", "$1_$2").toLowerCase(Locale.ROOT);
  }

  /** Settings of a client. Not safe for use by several threads. */
  public static final class Builder {
    private final String model;
    private final Map<String, String> instructions = new HashMap<>();
    private @Nullable String baseUrl;
    private @Nullable String apiKey;
    private Duration timeout = Duration.ofSeconds(60);
    private int maxRetries;

    private Builder(String model) {
      this.model = model;
    }

    /** Where the endpoint is, up to and with {@code /v1}; OpenAI's own unless set. */
    public Builder baseUrl(String baseUrl) {
      this.baseUrl = requireNonNull(baseUrl, "baseUrl");
      return this;
    }

    /** The bearer token; none unless set. */
    public Builder apiKey(String apiKey) {
      this.apiKey = requireNonNull(apiKey, "apiKey");
      return this;
    }

    /**
     * How long connecting may take, and how long the answer may take to begin; 60 s unless set. The
     * whole call is bounded by the stage's {@code guard.timeout}.
     */
    public Builder timeout(Duration timeout) {
      this.timeout = requireNonNull(timeout, "timeout");
      return this;
    }

    /**
     * How often LangChain4j itself tries again within one execution; 0 unless set. It logs each
     * such failure with the response's body.
     */
    public Builder maxRetries(int maxRetries) {
      if (maxRetries < 0) {
        throw new IllegalArgumentException("maxRetries is " + maxRetries + "; expected 0 or more");
      }
      this.maxRetries = maxRetries;
      return this;
    }

    /**
     * What an agent is told as its system message. Only the agent's name tells flights apart: give
     * changed instructions a new name, or answers to the old ones are replayed until their TTL.
     */
    public Builder agent(String name, String instructions) {
      this.instructions.put(name, instructions);
      return this;
    }

    /** The client. */
    public LangChain4jAiClient build() {
      return new LangChain4jAiClient(this);
    }
  }
}
