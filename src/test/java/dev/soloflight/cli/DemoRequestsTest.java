package dev.soloflight.cli;

import static java.nio.charset.StandardCharsets.UTF_8;
import static java.util.stream.Collectors.groupingBy;
import static java.util.stream.Collectors.mapping;
import static java.util.stream.Collectors.toSet;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.soloflight.FlightMode;
import dev.soloflight.SoloFlight;
import dev.soloflight.interview.AiRequest;
import dev.soloflight.interview.InterviewAiInvoker;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class DemoRequestsTest {
  private static final String GOOD =
      "{\"at\":0,\"node\":1,\"call\":\"evaluate\",\"session\":\"s\",\"questionNumber\":\"1\","
          + "\"question\":\"q\",\"answer\":\"a\",\"agent\":\"x\"}";

  @TempDir Path folder;

  @Test
  void theShippedFileHoldsSixtyCallsAndMoreOfTwentyFlights() throws IOException {
    Collection<List<DemoRequest>> flights = flights();

    assertThat(flights.stream().mapToInt(List::size).sum()).isGreaterThanOrEqualTo(60);
    assertThat(flights).hasSize(20).allSatisfy(calls -> assertThat(calls.size()).isGreaterThan(2));
    assertThat(flights.stream().map(calls -> calls.get(0).call()).collect(toSet()))
        .containsExactlyInAnyOrder(DemoRequest.Call.values());
  }

  @Test
  void theShippedFileLandsOnThreeNodesWithinTwelveSeconds() throws IOException {
    assertThat(DemoRequests.read(DemoRequests.SHIPPED))
        .allSatisfy(
            request -> {
              assertThat(request.node()).isBetween(1, 3);
              assertThat(request.atMillis()).isBetween(0L, 12_000L);
              assertThat(request.note()).isNotBlank();
            });
  }

  @Test
  void theShippedFileHoldsWhatUsersDo() throws IOException {
    Collection<List<DemoRequest>> flights = flights();

    assertThat(flights).as("a double click").anySatisfy(calls -> assertPair(calls, 30, true));
    assertThat(flights).as("a client's retry").anySatisfy(calls -> assertPair(calls, 2000, false));
    assertThat(flights)
        .as("one flight asked for on all three nodes")
        .anySatisfy(calls -> assertThat(calls).extracting(DemoRequest::node).contains(1, 2, 3));
    assertThat(flights)
        .as("a 40 KB text")
        .anySatisfy(
            calls ->
                assertThat(calls.get(0).answer().getBytes(UTF_8).length)
                    .isGreaterThanOrEqualTo(40 * 1024));
    assertThat(flights)
        .as("one file under two names")
        .anySatisfy(
            calls -> assertThat(calls.stream().map(r -> "" + r.fileName()).distinct()).hasSize(2));
  }

  @Test
  void theSameWordsOfTwoCandidatesAreTwoFlights() throws IOException {
    Map<String, Set<String>> sessionsByWords =
        flights().stream()
            .map(calls -> calls.get(0))
            .filter(request -> request.call() == DemoRequest.Call.EVALUATE)
            .collect(
                groupingBy(r -> r.question() + r.answer(), mapping(DemoRequest::session, toSet())));

    assertThat(sessionsByWords.values()).anySatisfy(sessions -> assertThat(sessions).hasSize(2));
  }

  @Test
  void theShippedFileIsInTheJarToo() throws IOException {
    assertThat(DemoRequests.shipped()).isEqualTo(DemoRequests.read(DemoRequests.SHIPPED));
  }

  @Test
  void linesAreReadInTheOrderOfTheirTime() throws IOException {
    Path file = write(GOOD.replace("\"at\":0", "\"at\":70"), "", GOOD, "");

    assertThat(DemoRequests.read(file)).extracting(DemoRequest::atMillis).containsExactly(0L, 70L);
  }

  @Test
  void anAnswerFileLiesBesideIt() throws IOException {
    Files.writeString(folder.resolve("cv.txt"), "六年 Java");
    Path file = write(GOOD.replace("\"answer\":\"a\"", "\"answerFile\":\"cv.txt\""));

    assertThat(DemoRequests.read(file)).extracting(DemoRequest::answer).containsExactly("六年 Java");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      value = {
        "\"node\":1 | \"node\":one | not a request in JSON",
        "\"node\":1 | \"nodes\":1 | nodes",
        "\"node\":1 | \"node\":0 | \"node\" is 0",
        "\"at\":0, | `` | \"at\" is null",
        "\"at\":0 | \"at\":-5 | \"at\" is -5",
        "\"evaluate\" | \"evaluat\" | expected one of [evaluate, followUp, extract, demeanor]",
        "\"session\":\"s\", | `` | \"session\" is missing",
        "\"session\":\"s\" | \"session\":\" \" | \"session\" is missing or blank",
        "\"questionNumber\":\"1\", | `` | \"questionNumber\" is missing",
        "\"question\":\"q\", | `` | \"question\" is missing",
        "\"answer\":\"a\", | `` | expected one of \"answer\" and \"answerFile\"",
        "\"answer\":\"a\" | \"answer\":\"a\",\"answerFile\":\"b\" | expected one of",
        "\"agent\":\"x\" | \"agent\":null | \"agent\" is missing",
        "\"evaluate\" | \"demeanor\" | \"fileName\" is missing",
        "\"agent\":\"x\" | \"agent\":\"x\",\"fileName\":\"f\" | not with evaluate",
        "\"agent\":\"x\"} | \"agent\":\"x\"} trailing | not a request in JSON",
      })
  void aWrongLineIsToldWithFileAndLine(String part, String replacement, String message)
      throws IOException {
    String wrong = GOOD.replace(part, replacement);
    assertThat(wrong).isNotEqualTo(GOOD);
    Path file = write(GOOD, "", wrong);

    assertThatIllegalArgumentException()
        .isThrownBy(() -> DemoRequests.read(file))
        .withMessageStartingWith(file + ":3: ")
        .withMessageContaining(message);
  }

  @Test
  void aMissingAnswerFileIsToldWithFileAndLine() throws IOException {
    Path file = write(GOOD.replace("\"answer\":\"a\"", "\"answerFile\":\"none.txt\""));

    assertThatThrownBy(() -> DemoRequests.read(file))
        .isInstanceOf(IOException.class)
        .hasMessageContaining(file + ":1: ")
        .hasMessageContaining("none.txt");
  }

  @Test
  void noFileAndNoRequestAreErrors() throws IOException {
    Path empty = write("", " ");

    assertThatThrownBy(() -> DemoRequests.read(folder.resolve("none.jsonl")))
        .isInstanceOf(NoSuchFileException.class);
    assertThatIllegalArgumentException()
        .isThrownBy(() -> DemoRequests.read(empty))
        .withMessageContaining("holds no request");
  }

  /**
   * The shipped calls by flight. Each is sent through a facade of its own, so that each reaches the
   * client: what the key is made of is what the request is made of.
   */
  private static Collection<List<DemoRequest>> flights() throws IOException {
    Map<List<Object>, List<DemoRequest>> flights = new LinkedHashMap<>();
    for (DemoRequest request : DemoRequests.read(DemoRequests.SHIPPED)) {
      List<AiRequest> sent = new ArrayList<>();
      try (SoloFlight soloFlight = SoloFlight.builder().mode(FlightMode.LOCAL).build()) {
        request.send(
            new InterviewAiInvoker(
                soloFlight,
                asked -> {
                  sent.add(asked);
                  return "{\"call\":1,\"score\":1,\"comment\":\"\"}";
                }),
            DemoAnswer.class);
      }
      AiRequest asked = sent.get(0);
      assertThat(asked.stage()).isEqualTo(request.call().stage());
      flights
          .computeIfAbsent(
              List.of(
                  asked.stage(),
                  asked.sessionId(),
                  asked.agent(),
                  asked.prompt(),
                  asked.file() == null ? "" : asked.file().sha256()),
              key -> new ArrayList<>())
          .add(request);
    }
    return flights.values();
  }

  private static void assertPair(List<DemoRequest> calls, long apartMillis, boolean sameNode) {
    assertThat(
            calls.stream()
                .anyMatch(
                    a ->
                        calls.stream()
                            .anyMatch(
                                b ->
                                    b.atMillis() - a.atMillis() == apartMillis
                                        && (a.node() == b.node()) == sameNode)))
        .isTrue();
  }

  private Path write(String... lines) throws IOException {
    return Files.write(folder.resolve("requests.jsonl"), List.of(lines));
  }
}
