package dev.soloflight.interview;

import static java.util.Objects.requireNonNull;
import static java.util.stream.Collectors.joining;

import com.fasterxml.jackson.core.JsonLocation;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.JavaType;
import com.fasterxml.jackson.databind.introspect.BeanPropertyDefinition;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.datatype.jdk8.Jdk8Module;
import com.fasterxml.jackson.datatype.jsr310.JavaTimeModule;
import dev.soloflight.FlightFailedException;
import dev.soloflight.FlightKey;
import dev.soloflight.SoloFlight;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The model calls of an interview, each made once however often it is asked for: double clicks,
 * page refreshes and retries share one answer, on every node.
 *
 * <p><b>What makes two calls the same.</b> Everything that changes the answer: stage, method,
 * session, agent, model, prompt, question number, parameters, the file's content and the business
 * key. Two sessions never share an answer, even to the same words. Blank arguments are refused, as
 * two callers could share them.
 *
 * <p><b>Typed calls</b> ask the model for JSON with the fields of the result type and read it with
 * Jackson; a Markdown fence around it is tolerated, fields the type does not know are ignored, a
 * primitive field that is missing is a fault. {@code String.class} gives the model's text as it is.
 * Text that cannot be read fails the flight with code {@link #OUTPUT_UNREADABLE}, not retryable:
 * the model has answered and was paid, and the flight's idempotency key would bring the same answer
 * again. The failure is replayed for the stage's {@code failed-result-ttl} or until {@link
 * SoloFlight#forget}, then a call asks anew. Its message names the type, never the text.
 *
 * <p><b>Every method</b> blocks until the answer is there, runs the {@link AiClient} at most once
 * on the caller's own thread, and throws what that client threw to the caller that ran it (checked
 * exceptions included) and a {@link dev.soloflight.FlightException} to everybody else, or {@link
 * IllegalArgumentException} for a blank argument, which it names. Results are shared by callers: do
 * not change them. Immutable and safe for any number of threads; closing the {@link SoloFlight} is
 * its owner's business.
 */
public final class InterviewAiInvoker {
  /** Scoring an answer. */
  public static final String STAGE_EVALUATION = "interview-evaluation";

  /** Asking a follow-up question. */
  public static final String STAGE_FOLLOWUP = "interview-followup";

  /** Reading facts out of a text or a file. */
  public static final String STAGE_EXTRACTION = "interview-extraction";

  /** Judging how a candidate comes across. */
  public static final String STAGE_DEMEANOR = "interview-demeanor";

  /** Code of the failure of a flight whose model answered with text that cannot be read. */
  public static final String OUTPUT_UNREADABLE = "MODEL_OUTPUT_UNREADABLE";

  private static final String FENCE = "```";

  private final JsonMapper json =
      JsonMapper.builder()
          .addModules(new JavaTimeModule(), new Jdk8Module())
          .disable(DeserializationFeature.FAIL_ON_UNKNOWN_PROPERTIES)
          .enable(
              DeserializationFeature.FAIL_ON_NULL_FOR_PRIMITIVES, // a missing score is not score 0
              DeserializationFeature.FAIL_ON_TRAILING_TOKENS)
          .build();
  private final SoloFlight soloFlight;
  private final AiClient client;
  private final @Nullable String model;

  /** Leaves the choice of the model to the client, which must then always choose the same one. */
  public InterviewAiInvoker(SoloFlight soloFlight, AiClient client) {
    this.soloFlight = requireNonNull(soloFlight, "soloFlight");
    this.client = requireNonNull(client, "client");
    this.model = null;
  }

  /**
   * Names the model, which makes it part of what a call is known by: another model, another answer.
   *
   * @throws IllegalArgumentException if the model is blank
   */
  public InterviewAiInvoker(SoloFlight soloFlight, AiClient client, String model) {
    this.soloFlight = requireNonNull(soloFlight, "soloFlight");
    this.client = requireNonNull(client, "client");
    this.model = required("model", model);
  }

  /** Asks the agent; stage {@link #STAGE_EVALUATION}. Returns the model's text. */
  public String callAiSync(String prompt, String sessionId, String agent) {
    return call(
        new Ask("callAiSync", STAGE_EVALUATION, sessionId, agent, required("prompt", prompt)),
        String.class);
  }

  /**
   * Asks the agent, under a stage of the caller's choice. Returns the model's text.
   *
   * @param businessKey what the call is about in the caller's own terms, for example a question's
   *     number; it tells calls apart in addition to the prompt and never replaces it
   */
  public String callAiSync(
      String prompt, String sessionId, String agent, String stage, String businessKey) {
    return call(
        new Ask("callAiSync", stage, sessionId, agent, required("prompt", prompt))
            .about(required("businessKey", businessKey)),
        String.class);
  }

  /** Asks the agent about a file; stage {@link #STAGE_DEMEANOR}. Returns the model's text. */
  public String callAiSyncWithFile(String prompt, String sessionId, String agent, AiFile file) {
    return call(
        new Ask("callAiSyncWithFile", STAGE_DEMEANOR, sessionId, agent, required("prompt", prompt))
            .with(file),
        String.class);
  }

  /**
   * Asks an agent that takes its input by name; stage {@link #STAGE_EVALUATION}. Returns the
   * model's text.
   *
   * @param parameters strings, numbers, booleans, {@code java.time} values, and lists, sets and
   *     maps of these; at least one, none null. Their order does not matter
   * @throws IllegalArgumentException if there is none, or if one is of another type
   */
  public String callAiSyncWithParameters(
      String sessionId, String agent, Map<String, ?> parameters) {
    return call(
        new Ask("callAiSyncWithParameters", STAGE_EVALUATION, sessionId, agent, "")
            .with(parameters),
        String.class);
  }

  /**
   * {@link #callAiSyncWithParameters(String, String, Map)} under a stage and a business key of the
   * caller's choice.
   */
  public String callAiSyncWithParameters(
      String sessionId, String agent, Map<String, ?> parameters, String stage, String businessKey) {
    return call(
        new Ask("callAiSyncWithParameters", stage, sessionId, agent, "")
            .with(parameters)
            .about(required("businessKey", businessKey)),
        String.class);
  }

  /**
   * Scores an answer; stage {@link #STAGE_EVALUATION}.
   *
   * @param questionNumber which question of the session, for example {@code 3} or {@code 3-F1}
   * @param type what the model's JSON is read as, or {@code String.class} for its text
   */
  public <T> T evaluate(
      String sessionId,
      String questionNumber,
      String question,
      String answer,
      String agent,
      Class<T> type) {
    return aboutAnswer(
        "evaluate",
        STAGE_EVALUATION,
        "Evaluate the answer a candidate gave in a job interview.",
        sessionId,
        questionNumber,
        question,
        answer,
        agent,
        type);
  }

  /** Asks back after an answer; stage {@link #STAGE_FOLLOWUP}. Parameters as in evaluate. */
  public <T> T followUp(
      String sessionId,
      String questionNumber,
      String question,
      String answer,
      String agent,
      Class<T> type) {
    return aboutAnswer(
        "followUp",
        STAGE_FOLLOWUP,
        "Ask one follow-up question to the answer a candidate gave in a job interview.",
        sessionId,
        questionNumber,
        question,
        answer,
        agent,
        type);
  }

  /** Reads facts out of an answer; stage {@link #STAGE_EXTRACTION}. Parameters as in evaluate. */
  public <T> T extract(
      String sessionId,
      String questionNumber,
      String question,
      String answer,
      String agent,
      Class<T> type) {
    return aboutAnswer(
        "extract",
        STAGE_EXTRACTION,
        "Extract the facts stated in the answer a candidate gave in a job interview.",
        sessionId,
        questionNumber,
        question,
        answer,
        agent,
        type);
  }

  /**
   * Reads facts out of a file, a résumé for example; stage {@link #STAGE_EXTRACTION}.
   *
   * @param instruction what to look for
   * @param type what the model's JSON is read as, or {@code String.class} for its text
   */
  public <T> T extract(
      String sessionId, String instruction, AiFile file, String agent, Class<T> type) {
    return call(
        new Ask(
                "extractFromFile",
                STAGE_EXTRACTION,
                sessionId,
                agent,
                required("instruction", instruction) + replyFormat(type))
            .with(file),
        type);
  }

  private <T> T aboutAnswer(
      String method,
      String stage,
      String instruction,
      String sessionId,
      String questionNumber,
      String question,
      String answer,
      String agent,
      Class<T> type) {
    String prompt =
        instruction
            + "\n\nQuestion "
            + required("questionNumber", questionNumber)
            + ":\n"
            + required("question", question)
            + "\n\nAnswer:\n"
            + required("answer", answer)
            + replyFormat(type);
    return call(
        new Ask(method, stage, sessionId, agent, prompt).about(questionNumber, question, answer),
        type);
  }

  private <T> T call(Ask ask, Class<T> type) {
    requireNonNull(type, "type");
    T value =
        soloFlight.execute(
            ask.key(model),
            type,
            context -> read(ask, type, client.chat(ask.request(model, context.idempotencyKey()))));
    return requireNonNull(value, "a flight of this facade never ends in null");
  }

  /**
   * Field names are sorted: reflection's order is no one's promise, and the prompt is in the key.
   */
  private String replyFormat(Class<?> type) {
    if (type == String.class) {
      return "";
    }
    JavaType javaType = json.constructType(type);
    String fields =
        javaType.isContainerType()
            ? ""
            : json.getDeserializationConfig().introspect(javaType).findProperties().stream()
                .filter(BeanPropertyDefinition::couldDeserialize)
                .map(BeanPropertyDefinition::getName)
                .sorted()
                .collect(joining(", "));
    return "\n\nReply in JSON and nothing else"
        + (fields.isEmpty() ? "." : ": one object with the fields " + fields + ".");
  }

  private <T> T read(Ask ask, Class<T> type, @Nullable String text) {
    if (text == null || text.isBlank()) {
      throw unreadable(ask, type, "it is empty");
    }
    if (type == String.class) {
      return type.cast(text);
    }
    try {
      T value = json.readValue(withoutFence(text.strip()), type);
      if (value == null) {
        throw unreadable(ask, type, "it is null");
      }
      return value;
    } catch (JsonProcessingException e) {
      // Neither its message nor the exception itself: both quote the model's text.
      JsonLocation at = e.getLocation();
      throw unreadable(
          ask,
          type,
          e.getClass().getSimpleName()
              + (at == null ? "" : " at line " + at.getLineNr() + ", column " + at.getColumnNr()));
    }
  }

  private static FlightFailedException unreadable(Ask ask, Class<?> type, String why) {
    return FlightFailedException.of(
        OUTPUT_UNREADABLE,
        "stage "
            + ask.stage()
            + ": the model's output cannot be read as "
            + type.getName()
            + " ("
            + why
            + "); have agent "
            + ask.agent()
            + " answer in that type's JSON",
        false);
  }

  /** What stands between the first fence's line and the last fence; the text itself without. */
  private static String withoutFence(String text) {
    int open = text.indexOf(FENCE);
    int close = text.lastIndexOf(FENCE);
    int body = open < 0 ? -1 : text.indexOf('\n', open);
    boolean bare = text.startsWith("{") || text.startsWith("[") || text.startsWith("\"");
    return bare || body < 0 || body >= close ? text : text.substring(body + 1, close);
  }

  private static String required(String parameter, @Nullable String value) {
    if (value == null || value.isBlank()) {
      throw new IllegalArgumentException(
          parameter
              + " is blank; expected a value of the call's own, as calls that leave it blank could"
              + " be taken for one another");
    }
    return value;
  }

  /** One call as it was asked for: its flight's key and its request come from the same values. */
  private record Ask(
      String method,
      String stage,
      String sessionId,
      String agent,
      String prompt,
      List<String> subject,
      Map<String, Object> parameters,
      @Nullable AiFile file) {

    Ask(String method, String stage, String sessionId, String agent, String prompt) {
      this(
          method,
          required("stage", stage),
          required("sessionId", sessionId),
          required("agent", agent),
          prompt,
          List.of(),
          Map.of(),
          null);
    }

    Ask about(String... subject) {
      return new Ask(method, stage, sessionId, agent, prompt, List.of(subject), parameters, file);
    }

    Ask with(AiFile file) {
      requireNonNull(file, "file");
      return new Ask(method, stage, sessionId, agent, prompt, subject, parameters, file);
    }

    Ask with(Map<String, ?> parameters) {
      if (parameters.isEmpty()) {
        throw new IllegalArgumentException("parameters is empty; expected the agent's input");
      }
      return new Ask(
          method, stage, sessionId, agent, prompt, subject, AiRequest.snapshot(parameters), file);
    }

    FlightKey key(@Nullable String model) {
      return FlightKey.of(
          stage,
          method,
          sessionId,
          agent,
          model == null ? List.of() : List.of(model),
          prompt,
          subject,
          parameters,
          file == null ? List.of() : List.of(file.sha256()));
    }

    AiRequest request(@Nullable String model, String idempotencyKey) {
      return new AiRequest(
          prompt, sessionId, agent, model, stage, parameters, file, idempotencyKey);
    }
  }
}
