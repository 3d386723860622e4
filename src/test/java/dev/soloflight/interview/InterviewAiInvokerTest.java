package dev.soloflight.interview;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import dev.soloflight.FlightFailedException;
import dev.soloflight.FlightMode;
import dev.soloflight.SoloFlight;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class InterviewAiInvokerTest {
  private static final AiFile RESUME = file("resume.txt", "six years of Java");

  private final SoloFlight soloFlight = SoloFlight.builder().mode(FlightMode.LOCAL).build();
  private final List<AiRequest> sent = new CopyOnWriteArrayList<>();
  private final InterviewAiInvoker invoker = answering("{\"score\": 81, \"feedback\": \"good\"}");

  record Score(int score, String feedback) {}

  @AfterEach
  void close() {
    soloFlight.close();
  }

  @Test
  void theSameCallIsMadeOnce() {
    List<String> answers = new ArrayList<>();
    for (int i = 0; i < 3; i++) {
      answers.add(invoker.callAiSync("Say hello", "session-1", "agent"));
    }

    assertThat(answers).containsOnly("{\"score\": 81, \"feedback\": \"good\"}");
    assertThat(sent).hasSize(1);
  }

  static Stream<Consumer<InterviewAiInvoker>> callsThatDiffer() {
    return Stream.of(
        i -> i.callAiSync("p", "s", "a"),
        i -> i.callAiSync("p2", "s", "a"),
        i -> i.callAiSync("p", "s2", "a"),
        i -> i.callAiSync("p", "s", "a2"),
        i -> i.callAiSync("p", "s", "a", "interview-evaluation", "k"),
        i -> i.callAiSync("p", "s", "a", "interview-evaluation", "k2"),
        i -> i.callAiSync("p2", "s", "a", "interview-evaluation", "k"),
        i -> i.callAiSync("p", "s", "a", "interview-followup", "k"),
        i -> i.callAiSyncWithFile("p", "s", "a", RESUME),
        i -> i.callAiSyncWithFile("p", "s", "a", file("resume.txt", "seven years of Java")),
        i -> i.callAiSyncWithParameters("s", "a", Map.of("p", "x")),
        i -> i.callAiSyncWithParameters("s", "a", Map.of("p", "y")),
        i -> i.callAiSyncWithParameters("s", "a", Map.of("q", "x")),
        i -> i.callAiSyncWithParameters("s", "a", Map.of("p", "x"), "interview-evaluation", "k"),
        i -> i.evaluate("s", "1", "q", "a", "a", String.class),
        i -> i.evaluate("s", "2", "q", "a", "a", String.class),
        i -> i.evaluate("s2", "1", "q", "a", "a", String.class),
        i -> i.evaluate("s", "1", "q2", "a", "a", String.class),
        i -> i.evaluate("s", "1", "q", "a2", "a", String.class),
        i -> i.evaluate("s", "1", "q", "a", "a2", String.class),
        i -> i.evaluate("s", "1", "q", "a", "a", Score.class),
        i -> i.evaluate("s", "1", "q\n\nAnswer:\nx", "y", "a", String.class),
        i -> i.evaluate("s", "1", "q", "x\n\nAnswer:\ny", "a", String.class),
        i -> i.followUp("s", "1", "q", "a", "a", String.class),
        i -> i.extract("s", "1", "q", "a", "a", String.class),
        i -> i.extract("s", "p", RESUME, "a", String.class),
        i -> i.extract("s", "p2", RESUME, "a", String.class));
  }

  @Test
  void whateverChangesTheAnswerMakesAnotherFlight() {
    callsThatDiffer().forEach(call -> call.accept(invoker));

    assertThat(sent).hasSize((int) callsThatDiffer().count());
  }

  @Test
  void methodsDoNotCollideEvenWherePromptAndStageAreTheSame() {
    String prompt = "same";
    invoker.callAiSync(prompt, "s", "a", InterviewAiInvoker.STAGE_EXTRACTION, "k");
    invoker.callAiSyncWithParameters("s", "a", Map.of("x", 1), "interview-extraction", "k");
    invoker.extract("s", prompt, RESUME, "a", String.class);

    assertThat(sent).extracting(AiRequest::stage).containsOnly("interview-extraction").hasSize(3);
  }

  @Test
  void anotherModelMakesAnotherFlight() {
    AiClient client = recording("x");
    for (String model : List.of("small", "large", "small")) {
      new InterviewAiInvoker(soloFlight, client, model).callAiSync("p", "s", "a");
    }
    new InterviewAiInvoker(soloFlight, client).callAiSync("p", "s", "a");

    assertThat(sent).extracting(AiRequest::model).containsExactly("small", "large", null);
  }

  @Test
  void aFileIsKnownByItsContentAndNotByItsName() {
    for (String name : List.of("resume.txt", "resume (1).txt", "https://example.org/r?sig=2")) {
      invoker.extract("s", "list the skills", file(name, "six years"), "a", Score.class);
    }

    assertThat(sent).hasSize(1);
  }

  @Test
  void theOrderOfParametersDoesNotMatter() {
    Map<String, Object> one = new LinkedHashMap<>();
    one.put("question", "q");
    one.put("resume", List.of("a", "b"));
    Map<String, Object> other = new LinkedHashMap<>();
    other.put("resume", List.of("a", "b"));
    other.put("question", "q");

    invoker.callAiSyncWithParameters("s", "a", one);
    invoker.callAiSyncWithParameters("s", "a", other);

    assertThat(sent).hasSize(1);
  }

  @Test
  void eachMethodRunsUnderItsStage() {
    callsThatDiffer().forEach(call -> call.accept(invoker));
    invoker.evaluate("s9", "1", "q", "a", "a", Score.class);
    invoker.followUp("s9", "1", "q", "a", "a", Score.class);
    invoker.extract("s9", "1", "q", "a", "a", Score.class);
    invoker.callAiSyncWithFile("p", "s9", "a", RESUME);
    invoker.callAiSync("p", "s9", "a");

    assertThat(sent.subList(sent.size() - 5, sent.size()))
        .extracting(AiRequest::stage)
        .containsExactly(
            "interview-evaluation",
            "interview-followup",
            "interview-extraction",
            "interview-demeanor",
            "interview-evaluation");
  }

  @Test
  void theClientGetsAllThatWasAsked() {
    new InterviewAiInvoker(soloFlight, recording("x"), "large")
        .extract("session-1", "list the skills", RESUME, "reader", String.class);

    AiRequest request = sent.get(0);
    assertThat(request.prompt()).isEqualTo("list the skills");
    assertThat(request.sessionId()).isEqualTo("session-1");
    assertThat(request.agent()).isEqualTo("reader");
    assertThat(request.model()).isEqualTo("large");
    assertThat(request.file()).isEqualTo(RESUME);
    assertThat(request.parameters()).isEmpty();
    assertThat(request.idempotencyKey()).isNotBlank();
  }

  @Test
  void aTypedCallAsksForTheFieldsOfItsType() {
    invoker.evaluate("s", "3-F1", "What is a lease?", "A promise.", "a", Score.class);
    invoker.followUp("s", "3-F1", "What is a lease?", "A promise.", "a", Map.class);
    invoker.extract("s", "3-F1", "What is a lease?", "A promise.", "a", String.class);

    assertThat(sent)
        .extracting(AiRequest::prompt)
        .allSatisfy(
            p -> assertThat(p).contains("Question 3-F1:\nWhat is a lease?\n\nAnswer:\nA promise."));
    assertThat(sent.get(0).prompt()).endsWith("one object with the fields feedback, score.");
    assertThat(sent.get(1).prompt()).endsWith("\n\nReply in JSON and nothing else.");
    assertThat(sent.get(2).prompt()).endsWith("A promise.");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "{\"score\": 7, \"feedback\": \"use ```java fences\"}",
        "  {\"score\": 7, \"feedback\": \"use ```java fences\", \"confidence\": 0.4}\n",
        "```json\n{\"score\": 7, \"feedback\": \"use ```java fences\"}\n```",
        "```\r\n{\"score\": 7, \"feedback\": \"use ```java fences\"}```",
        "Here you are:\n\n```JSON\n{\"score\": 7, \"feedback\": \"use ```java fences\"}\n```\nBye!"
      })
  void jsonIsReadWithAndWithoutAFence(String text) {
    assertThat(answering(text).evaluate("s", "1", "q", "a", "a", Score.class))
        .isEqualTo(new Score(7, "use ```java fences"));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "The candidate, Zhang Wei, did well.",
        "{\"score\": \"Zhang Wei\", \"feedback\": \"x\"}",
        "{\"feedback\": \"Zhang Wei forgot the score\"}",
        "{\"score\": null, \"feedback\": \"Zhang Wei\"}",
        "{\"score\": 7, \"feedback\": \"Zhang Wei\"",
        "{\"score\": 7, \"feedback\": \"x\"} Zhang Wei",
        "```json\nZhang Wei\n```",
        "```Zhang Wei",
        "null",
        "  "
      })
  void textThatCannotBeReadFailsWithACodeAndWithoutTheText(String text) {
    FlightFailedException failure =
        catchThrowableOfType(
            FlightFailedException.class,
            () -> answering(text).evaluate("s", "1", "q", "a", "scorer", Score.class));

    assertThat(failure.errorCode()).isEqualTo("MODEL_OUTPUT_UNREADABLE");
    assertThat(failure.retryable()).isFalse();
    assertThat(failure).hasNoCause();
    assertThat(failure.errorMessage())
        .contains(Score.class.getName(), "interview-evaluation", "scorer")
        .doesNotContain("Zhang")
        .isEqualTo(failure.getMessage());
  }

  @Test
  @SuppressWarnings("NullAway") // a client written without null checks
  void anAnswerWithoutTextIsAFailureAndNotAResult() {
    InterviewAiInvoker silent = new InterviewAiInvoker(soloFlight, request -> null);

    assertThatThrownBy(() -> silent.callAiSync("p", "s", "a"))
        .isInstanceOfSatisfying(
            FlightFailedException.class,
            e -> assertThat(e.errorCode()).isEqualTo(InterviewAiInvoker.OUTPUT_UNREADABLE));
  }

  @Test
  void theCallerThatRanTheClientGetsItsExceptionAsItWas() {
    IOException broken = new IOException("connection reset");
    InterviewAiInvoker failing =
        new InterviewAiInvoker(
            soloFlight,
            request -> {
              throw broken;
            });

    assertThatThrownBy(() -> failing.callAiSync("p", "s", "a")).isSameAs(broken);
  }

  @ParameterizedTest
  @ValueSource(strings = {"", " ", "\t\n", "\u3000"})
  void blankArgumentsAreRefusedByName(String blank) {
    refuses("prompt", () -> invoker.callAiSync(blank, "s", "a"));
    refuses("sessionId", () -> invoker.callAiSync("p", blank, "a"));
    refuses("agent", () -> invoker.callAiSync("p", "s", blank));
    refuses("stage", () -> invoker.callAiSync("p", "s", "a", blank, "k"));
    refuses("businessKey", () -> invoker.callAiSync("p", "s", "a", "stage", blank));
    refuses("sessionId", () -> invoker.callAiSyncWithFile("p", blank, "a", RESUME));
    refuses("sessionId", () -> invoker.callAiSyncWithParameters(blank, "a", Map.of("x", 1)));
    refuses("sessionId", () -> invoker.evaluate(blank, "1", "q", "a", "a", Score.class));
    refuses("questionNumber", () -> invoker.evaluate("s", blank, "q", "a", "a", Score.class));
    refuses("question", () -> invoker.followUp("s", "1", blank, "a", "a", Score.class));
    refuses("answer", () -> invoker.extract("s", "1", "q", blank, "a", Score.class));
    refuses("instruction", () -> invoker.extract("s", blank, RESUME, "a", Score.class));
    refuses("model", () -> new InterviewAiInvoker(soloFlight, request -> "x", blank));

    assertThat(sent).isEmpty();
  }

  @Test
  @SuppressWarnings("NullAway") // callers without null checks
  void nullIsAsBlankAsASpace() {
    refuses("sessionId", () -> invoker.callAiSync("p", null, "a"));
    refuses("answer", () -> invoker.evaluate("s", "1", "q", null, "a", Score.class));
    Map<String, Object> holdsNull = new LinkedHashMap<>();
    holdsNull.put("resume", null);
    refuses("resume", () -> invoker.callAiSyncWithParameters("s", "a", holdsNull));

    assertThat(sent).isEmpty();
  }

  @Test
  void parametersThatCannotTellCallsApartAreRefused() {
    refuses("parameters", () -> invoker.callAiSyncWithParameters("s", "a", Map.of()));
    assertThatIllegalArgumentException()
        .isThrownBy(() -> invoker.callAiSyncWithParameters("s", "a", Map.of("x", new Object())))
        .withMessageContaining("java.lang.Object");
  }

  private static void refuses(String parameter, ThrowingCallable call) {
    assertThatIllegalArgumentException().isThrownBy(call).withMessageContaining(parameter);
  }

  private InterviewAiInvoker answering(String text) {
    return new InterviewAiInvoker(soloFlight, recording(text));
  }

  private AiClient recording(String text) {
    return request -> {
      sent.add(request);
      return text;
    };
  }

  private static AiFile file(String name, String content) {
    return AiFile.of(name, "text/plain", content.getBytes(StandardCharsets.UTF_8));
  }
}
