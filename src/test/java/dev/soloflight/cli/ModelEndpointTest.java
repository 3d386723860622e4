package dev.soloflight.cli;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;
import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import dev.soloflight.FlightMode;
import dev.soloflight.SoloFlight;
import dev.soloflight.interview.AiFile;
import dev.soloflight.interview.AiRequest;
import dev.soloflight.interview.InterviewAiInvoker;
import dev.soloflight.interview.LangChain4jAiClient;
import java.net.InetAddress;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Function;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ModelEndpointTest {
  private static final Function<String, Duration> AT_ONCE =
      ModelEndpoint.between(Duration.ZERO, Duration.ZERO);

  private final JsonMapper json = new JsonMapper();
  private final HttpClient http = HttpClient.newHttpClient();

  @Test
  void itAnswersAsOpenAiDoes() throws Exception {
    try (ModelEndpoint endpoint = ModelEndpoint.start(0, AT_ONCE)) {
      HttpResponse<String> response =
          http.send(post(endpoint, body("Say hello")), BodyHandlers.ofString());

      JsonNode answer = json.readTree(response.body());
      assertThat(response.statusCode()).isEqualTo(200);
      assertThat(answer.path("id").asText()).isEqualTo("chatcmpl-1");
      assertThat(answer.path("object").asText()).isEqualTo("chat.completion");
      assertThat(answer.path("model").asText()).isEqualTo("m1");
      assertThat(answer.at("/choices/0/message/role").asText()).isEqualTo("assistant");
      assertThat(answer.at("/choices/0/finish_reason").asText()).isEqualTo("stop");
      assertThat(answer.at("/usage/total_tokens").asInt())
          .isEqualTo(
              answer.at("/usage/prompt_tokens").asInt()
                  + answer.at("/usage/completion_tokens").asInt())
          .isPositive();
    }
  }

  @Test
  void itListensOnTheLoopbackInterfaceOnly() throws Exception {
    try (ModelEndpoint endpoint = ModelEndpoint.start(0, AT_ONCE)) {
      URI uri = URI.create(endpoint.baseUrl());

      assertThat(InetAddress.getByName(uri.getHost()).isLoopbackAddress()).isTrue();
      assertThat(uri.getPort()).isPositive();
      assertThat(uri.getPath()).isEqualTo("/v1");
    }
  }

  @Test
  void aRepeatedPromptIsAnsweredDifferentlySoThatDuplicatesShow() throws Exception {
    try (ModelEndpoint endpoint = ModelEndpoint.start(0, AT_ONCE)) {
      LangChain4jAiClient client = client(endpoint);
      DemoAnswer first = ask(client, "Say hello", "key-1");
      DemoAnswer second = ask(client, "Say hello", "key-2");

      assertThat(first.call()).isEqualTo(1);
      assertThat(second).isEqualTo(new DemoAnswer(2, first.score(), first.comment()));
    }
  }

  @Test
  void itWritesDownEveryCall() throws Exception {
    try (ModelEndpoint endpoint = ModelEndpoint.start(0, AT_ONCE)) {
      LangChain4jAiClient client = client(endpoint);
      ask(client, "Say hello", "key-1");
      ask(client, "Say hello", "key-2");
      ask(client, "Say goodbye", "key-3");
      http.send(post(endpoint, body("Say hello")), BodyHandlers.ofString());

      assertThat(endpoint.callCount()).isEqualTo(4);
      assertThat(endpoint.calls())
          .extracting(ModelEndpoint.Call::idempotencyKey)
          .containsExactly("key-1", "key-2", "key-3", null);
      List<String> digests =
          endpoint.calls().stream().map(ModelEndpoint.Call::promptDigest).toList();
      assertThat(digests.get(0)).hasSize(64).isEqualTo(digests.get(1)).isEqualTo(digests.get(3));
      assertThat(digests.get(2)).isNotEqualTo(digests.get(0));
    }
  }

  @Test
  void aCallCountsEvenIfItsCallerDoesNotWait() throws Exception {
    try (ModelEndpoint endpoint = ModelEndpoint.start(0, prompt -> Duration.ofMinutes(1))) {
      CompletableFuture<?> call =
          http.sendAsync(post(endpoint, body("Say hello")), BodyHandlers.ofString());

      await().until(() -> endpoint.callCount() == 1);
      call.cancel(true);

      assertThat(endpoint.calls()).hasSize(1);
    }
  }

  @Test
  void onePromptCanBeSlowerThanTheOthers() throws Exception {
    try (ModelEndpoint endpoint =
        ModelEndpoint.start(
            0, prompt -> prompt.contains("slow") ? Duration.ofMinutes(1) : Duration.ZERO)) {
      CompletableFuture<?> slow =
          http.sendAsync(post(endpoint, body("slow")), BodyHandlers.ofString());
      await().until(() -> endpoint.callCount() == 1);

      HttpResponse<String> quick =
          http.send(post(endpoint, body("quick")), BodyHandlers.ofString());

      assertThat(quick.statusCode()).isEqualTo(200);
      assertThat(slow).isNotDone();
    }
  }

  @Test
  void manySlowCallsAreAnsweredTogether() throws Exception {
    try (ModelEndpoint endpoint = ModelEndpoint.start(0, prompt -> Duration.ofMillis(500))) {
      List<CompletableFuture<HttpResponse<String>>> calls = new ArrayList<>();
      for (int i = 0; i < 40; i++) {
        calls.add(http.sendAsync(post(endpoint, body("call " + i)), BodyHandlers.ofString()));
      }

      for (CompletableFuture<HttpResponse<String>> call : calls) {
        assertThat(call.get(30, TimeUnit.SECONDS).statusCode()).isEqualTo(200);
      }
      assertThat(endpoint.calls())
          .extracting(ModelEndpoint.Call::number)
          .containsExactlyInAnyOrderElementsOf(IntStream.rangeClosed(1, 40).boxed().toList());
    }
  }

  @Test
  void latencyDependsOnThePromptAndStaysInItsBounds() {
    Function<String, Duration> latency =
        ModelEndpoint.between(Duration.ofMillis(1500), Duration.ofMillis(3000));

    List<Duration> latencies =
        IntStream.range(0, 1000).mapToObj(i -> latency.apply("prompt " + i * 7919)).toList();
    assertThat(latencies)
        .allSatisfy(d -> assertThat(d).isBetween(Duration.ofMillis(1500), Duration.ofMillis(3000)));
    assertThat(latencies.stream().distinct().count()).isGreaterThan(100);
    assertThat(latency.apply("same")).isEqualTo(latency.apply("same"));
    assertThat(ModelEndpoint.between(Duration.ZERO, Duration.ZERO).apply("x")).isZero();
  }

  @ParameterizedTest
  @CsvSource({
    "POST, /v1/chat/completions, not json, 400",
    "POST, /v1/chat/completions, '', 400",
    "POST, /v1/chat/completions, {}, 400",
    "POST, /v1/chat/completions, '{\"messages\":[{\"content\":\" \"}]}', 400",
    "GET, /v1/chat/completions, '', 405",
    "POST, /v1/embeddings, {}, 404"
  })
  void whatIsNoChatRequestIsRefusedAndNotCounted(
      String method, String path, String body, int status) throws Exception {
    try (ModelEndpoint endpoint = ModelEndpoint.start(0, AT_ONCE)) {
      HttpResponse<String> response =
          http.send(
              HttpRequest.newBuilder(URI.create(endpoint.baseUrl()).resolve(path))
                  .method(method, BodyPublishers.ofString(body))
                  .build(),
              BodyHandlers.ofString());

      assertThat(response.statusCode()).isEqualTo(status);
      assertThat(json.readTree(response.body()).at("/error/message").asText()).isNotBlank();
      assertThat(endpoint.callCount()).isZero();
    }
  }

  @Test
  void closingItLeavesNobodyWaiting() throws Exception {
    ModelEndpoint endpoint = ModelEndpoint.start(0, prompt -> Duration.ofMinutes(10));
    AtomicReference<Throwable> thrown = new AtomicReference<>();
    Thread caller =
        new Thread(() -> thrown.set(catchThrowable(() -> ask(client(endpoint), "hello", "k"))));
    caller.start();
    await().until(() -> endpoint.callCount() == 1);

    endpoint.close();

    caller.join(TimeUnit.SECONDS.toMillis(30));
    assertThat(thrown.get()).isNotNull();
  }

  @Test
  void aFilesTextReachesItThroughTheFacade() throws Exception {
    try (ModelEndpoint endpoint = ModelEndpoint.start(0, AT_ONCE);
        SoloFlight soloFlight = SoloFlight.builder().mode(FlightMode.LOCAL).build()) {
      InterviewAiInvoker invoker = new InterviewAiInvoker(soloFlight, client(endpoint));
      for (String content : List.of("six years", "seven years")) {
        invoker.extract(
            "s",
            "list the skills",
            AiFile.of("cv.txt", "text/plain", content.getBytes(UTF_8)),
            "a",
            DemoAnswer.class);
      }

      assertThat(endpoint.calls())
          .extracting(ModelEndpoint.Call::promptDigest)
          .hasSize(2)
          .doesNotHaveDuplicates();
    }
  }

  private DemoAnswer ask(LangChain4jAiClient client, String prompt, String idempotencyKey)
      throws Exception {
    AiRequest request =
        new AiRequest(prompt, "s", "a", null, "stage", Map.of(), null, idempotencyKey);
    return json.readValue(client.chat(request), DemoAnswer.class);
  }

  private static LangChain4jAiClient client(ModelEndpoint endpoint) {
    return LangChain4jAiClient.builder("m1").baseUrl(endpoint.baseUrl()).build();
  }

  private static String body(String prompt) {
    return "{\"model\":\"m1\",\"messages\":[{\"role\":\"user\",\"content\":\"" + prompt + "\"}]}";
  }

  private static HttpRequest post(ModelEndpoint endpoint, String body) {
    return HttpRequest.newBuilder(URI.create(endpoint.baseUrl() + "/chat/completions"))
        .header("Content-Type", "application/json")
        .POST(BodyPublishers.ofString(body))
        .build();
  }
}
