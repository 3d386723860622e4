package dev.soloflight.interview;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.catchThrowable;
import static org.assertj.core.api.Assertions.catchThrowableOfType;
import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import dev.soloflight.FlightFailedException;
import dev.soloflight.FlightMode;
import dev.soloflight.SoloFlight;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class LangChain4jAiClientTest {
  /** What arrived over the wire. */
  private record Received(
      @Nullable String idempotencyKey, @Nullable String authorization, JsonNode body) {
    String text() {
      return body.at("/messages/0/content").asText();
    }
  }

  private final JsonMapper json = new JsonMapper();
  private final List<Received> received = new CopyOnWriteArrayList<>();
  private final ExecutorService threads = Executors.newCachedThreadPool();
  private final CountDownLatch release = new CountDownLatch(1);
  private HttpServer server;
  private volatile int status = 200;
  private volatile String reply = "";
  private volatile boolean silent;

  LangChain4jAiClientTest() throws IOException {
    server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
  }

  @BeforeEach
  void start() {
    reply = completion("\"fine\"");
    server.createContext("/v1/chat/completions", this::answer);
    server.setExecutor(threads);
    server.start();
  }

  @AfterEach
  void stop() {
    release.countDown();
    server.stop(0);
    threads.shutdownNow();
  }

  @Test
  void theModelsTextComesBack() throws Exception {
    assertThat(client().build().chat(request("Say hello", Map.of(), null))).isEqualTo("fine");

    Received call = received.get(0);
    assertThat(call.text()).isEqualTo("Say hello");
    assertThat(call.body().path("model").asText()).isEqualTo("demo-model");
    assertThat(call.authorization()).isNull();
  }

  @Test
  void apiKeyModelAndAgentAreSent() throws Exception {
    AiRequest request =
        new AiRequest("Hi", "s", "scorer", "large", "stage", Map.of(), null, "key-1");
    client().apiKey("sesame").agent("scorer", "You score answers.").build().chat(request);

    Received call = received.get(0);
    assertThat(call.authorization()).isEqualTo("Bearer sesame");
    assertThat(call.body().path("model").asText()).isEqualTo("large");
    assertThat(call.body().at("/messages/0/role").asText()).isEqualTo("system");
    assertThat(call.body().at("/messages/0/content").asText()).isEqualTo("You score answers.");
    assertThat(call.body().at("/messages/1/content").asText()).isEqualTo("Hi");
  }

  @Test
  void eachCallCarriesItsOwnIdempotencyKeyAlsoConcurrently() throws Exception {
    LangChain4jAiClient client = client().build();
    int callers = 16;
    CountDownLatch together = new CountDownLatch(callers);
    List<Future<?>> calls = new ArrayList<>();
    for (int caller = 0; caller < callers; caller++) {
      int id = caller;
      calls.add(
          threads.submit(
              () -> {
                together.countDown();
                together.await();
                for (int i = 0; i < 5; i++) {
                  String name = id + "-" + i;
                  client.chat(
                      new AiRequest(name, "s", "a", null, "stage", Map.of(), null, "key-" + name));
                }
                return null;
              }));
    }
    for (Future<?> call : calls) {
      call.get(60, TimeUnit.SECONDS);
    }

    assertThat(received)
        .hasSize(callers * 5)
        .allSatisfy(call -> assertThat(call.idempotencyKey()).isEqualTo("key-" + call.text()));
  }

  @Test
  void theFlightsIdempotencyKeyReachesTheProvider() {
    try (SoloFlight soloFlight = SoloFlight.builder().mode(FlightMode.LOCAL).build()) {
      List<String> keys = new CopyOnWriteArrayList<>();
      LangChain4jAiClient client = client().build();
      new InterviewAiInvoker(
              soloFlight,
              request -> {
                keys.add(request.idempotencyKey());
                return client.chat(request);
              })
          .callAiSync("p", "s", "a");

      assertThat(keys).hasSize(1).doesNotContain("");
      assertThat(received).extracting(Received::idempotencyKey).isEqualTo(keys);
    }
  }

  @Test
  void knownParametersAreSettingsAndTheOthersAreInput() throws Exception {
    client()
        .build()
        .chat(
            request(
                "",
                Map.of(
                    "temperature",
                    0.2,
                    "maxTokens",
                    300,
                    "top_p",
                    0.9,
                    "stop",
                    List.of("END"),
                    "question",
                    "What is a lease?",
                    "resume",
                    Map.of("years", 6)),
                null));

    JsonNode body = received.get(0).body();
    assertThat(body.path("temperature").asDouble()).isEqualTo(0.2);
    assertThat(body.path("max_tokens").asInt()).isEqualTo(300);
    assertThat(body.path("top_p").asDouble()).isEqualTo(0.9);
    assertThat(body.at("/stop/0").asText()).isEqualTo("END");
    assertThat(received.get(0).text())
        .isEqualTo("question: What is a lease?\n\nresume: {\"years\":6}");
  }

  @Test
  void aTextFileIsSentAsTextAndAPictureAsAPicture() throws Exception {
    LangChain4jAiClient client = client().build();
    client.chat(
        request("Read", Map.of(), AiFile.of("a.md", "text/markdown", "简历".getBytes(UTF_8))));
    client.chat(request("Look", Map.of(), AiFile.of("a.png", "image/png", new byte[] {1, 2})));
    client.chat(request("Look", Map.of(), AiFile.of("a.pdf", "application/pdf", new byte[] {1})));

    assertThat(received.get(0).body().at("/messages/0/content/1/text").asText()).isEqualTo("简历");
    assertThat(received.get(1).body().at("/messages/0/content/1/image_url/url").asText())
        .isEqualTo("data:image/png;base64,AQI=");
    assertThat(received.get(2).body().at("/messages/0/content/1/file/file_data").asText())
        .isEqualTo("data:application/pdf;base64,AQ==");
  }

  @Test
  void aFileThatNoChatModelReadsIsRefusedBeforeAnythingIsSent() {
    AiFile video = AiFile.of("a.mp4", "video/mp4", new byte[] {1});

    FlightFailedException failure = failureOf(client(), request("Look", Map.of(), video));

    assertThat(failure.errorCode()).isEqualTo("MODEL_REJECTED");
    assertThat(failure).hasMessageContaining("video/mp4").hasMessageContaining("image/*");
    assertThat(received).isEmpty();
  }

  @ParameterizedTest
  @CsvSource({
    "429, MODEL_RATE_LIMITED, true",
    "500, MODEL_UNAVAILABLE, true",
    "502, MODEL_UNAVAILABLE, true",
    "503, MODEL_UNAVAILABLE, true",
    "529, MODEL_UNAVAILABLE, true",
    "408, MODEL_UNAVAILABLE, true",
    "400, MODEL_REJECTED, false",
    "401, MODEL_REJECTED, false",
    "403, MODEL_REJECTED, false",
    "404, MODEL_REJECTED, false",
    "422, MODEL_REJECTED, false",
    "302, MODEL_REJECTED, false"
  })
  void anHttpStatusBecomesACodeAndIsNotTriedAgain(int answered, String code, boolean retryable) {
    status = answered;
    reply = "{\"error\":{\"message\":\"you sent: Say hello\"}}";

    FlightFailedException failure = failureOf(client(), request("Say hello", Map.of(), null));

    assertThat(failure.errorCode()).isEqualTo(code);
    assertThat(failure.retryable()).isEqualTo(retryable);
    assertThat(failure).hasMessageContaining("HTTP " + answered);
    assertThat(failure.errorMessage()).isEqualTo(failure.getMessage()).doesNotContain("hello");
    assertThat(received).hasSize(1);
  }

  @Test
  void itRetriesOnlyWhereAskedTo() {
    status = 503;

    failureOf(client().maxRetries(1), request("Say hello", Map.of(), null));

    assertThat(received).hasSize(2).extracting(Received::idempotencyKey).containsOnly("key-1");
  }

  @ParameterizedTest
  @ValueSource(strings = {"<html>gateway</html>", "{\"choices\": []}", "{}", ""})
  void anAnswerThatIsNoneMakesTheModelUnavailable(String body) {
    reply = body;

    FlightFailedException failure = failureOf(client(), request("Say hello", Map.of(), null));

    assertThat(failure.errorCode()).isEqualTo("MODEL_UNAVAILABLE");
    assertThat(failure.retryable()).isTrue();
  }

  @Test
  void anAnswerWithoutTextIsEmpty() throws Exception {
    reply = completion("null");

    assertThat(client().build().chat(request("Say hello", Map.of(), null))).isEmpty();
  }

  @Test
  void silenceBeyondTheTimeoutMakesTheModelUnavailable() {
    silent = true;

    FlightFailedException failure =
        failureOf(client().timeout(Duration.ofMillis(300)), request("Say hello", Map.of(), null));

    assertThat(failure.errorCode()).isEqualTo("MODEL_UNAVAILABLE");
    assertThat(failure.retryable()).isTrue();
  }

  @Test
  void noListenerMakesTheModelUnavailable() throws IOException {
    int port;
    try (ServerSocket taken = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      port = taken.getLocalPort();
    }

    FlightFailedException failure =
        failureOf(
            LangChain4jAiClient.builder("demo-model").baseUrl("http://127.0.0.1:" + port + "/v1"),
            request("Say hello", Map.of(), null));

    assertThat(failure.errorCode()).isEqualTo("MODEL_UNAVAILABLE");
    assertThat(failure).hasMessageContaining("ConnectException");
  }

  @Test
  void anInterruptEndsTheCall() throws Exception {
    silent = true;
    AtomicReference<Throwable> thrown = new AtomicReference<>();
    Thread caller =
        new Thread(
            () ->
                thrown.set(
                    catchThrowable(
                        () -> client().build().chat(request("Say hello", Map.of(), null)))));
    caller.start();
    await().until(() -> received.size() == 1);

    caller.interrupt();
    caller.join(TimeUnit.SECONDS.toMillis(20));

    assertThat(thrown.get()).isInstanceOf(InterruptedException.class);
  }

  @Test
  void settingsThatCannotWorkAreRefused() {
    assertThatIllegalArgumentException()
        .isThrownBy(() -> LangChain4jAiClient.builder(" "))
        .withMessageContaining("model");
    assertThatIllegalArgumentException()
        .isThrownBy(() -> client().maxRetries(-1))
        .withMessageContaining("maxRetries");
  }

  private LangChain4jAiClient.Builder client() {
    return LangChain4jAiClient.builder("demo-model")
        .baseUrl("http://127.0.0.1:" + server.getAddress().getPort() + "/v1");
  }

  private static FlightFailedException failureOf(
      LangChain4jAiClient.Builder client, AiRequest request) {
    return catchThrowableOfType(FlightFailedException.class, () -> client.build().chat(request));
  }

  private static AiRequest request(
      String prompt, Map<String, Object> parameters, @Nullable AiFile file) {
    return new AiRequest(prompt, "s", "a", null, "stage", parameters, file, "key-1");
  }

  private static String completion(String content) {
    return "{\"id\":\"1\",\"object\":\"chat.completion\",\"created\":1,\"model\":\"m\",\"choices\":"
        + "[{\"index\":0,\"message\":{\"role\":\"assistant\",\"content\":"
        + content
        + "},\"finish_reason\":\"stop\"}]}";
  }

  private void answer(HttpExchange exchange) throws IOException {
    try (exchange) {
      received.add(
          new Received(
              exchange.getRequestHeaders().getFirst("Idempotency-Key"),
              exchange.getRequestHeaders().getFirst("Authorization"),
              json.readTree(exchange.getRequestBody())));
      if (silent) {
        release.await();
      }
      byte[] bytes = reply.getBytes(UTF_8);
      exchange.getResponseHeaders().set("Content-Type", "application/json");
      exchange.sendResponseHeaders(status, bytes.length == 0 ? -1 : bytes.length);
      exchange.getResponseBody().write(bytes);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
