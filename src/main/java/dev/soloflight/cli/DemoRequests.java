package dev.soloflight.cli;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.json.JsonMapper;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Reads the demo's recorded calls: one JSON object a line, blank lines ignored. An {@code
 * answerFile} lies in the same folder. What is wrong is told with file and line.
 */
final class DemoRequests {
  /** Where the shipped file is, in the working folder and inside the jar. */
  static final Path SHIPPED = Path.of("config", "demo", "interview-requests.jsonl");

  private final JsonMapper json =
      JsonMapper.builder().enable(DeserializationFeature.FAIL_ON_TRAILING_TOKENS).build();
  private final String source;
  private final Folder folder;

  /** Where the request file and its answer files come from. */
  private interface Folder {
    String read(String name) throws IOException;
  }

  private DemoRequests(String source, Folder folder) {
    this.source = source;
    this.folder = folder;
  }

  /**
   * Reads a file; the shipped one comes out of the jar where the working folder has none.
   *
   * @return the calls, in the order in which they are sent
   * @throws IOException if it cannot be read
   * @throws IllegalArgumentException if a line is wrong; the message names file and line
   */
  static List<DemoRequest> read(Path file) throws IOException {
    String name = String.valueOf(file.getFileName());
    if (!Files.exists(file) && file.equals(SHIPPED)) {
      return shipped();
    }
    return new DemoRequests(
            file.toString(), sibling -> Files.readString(file.resolveSibling(sibling)))
        .parse(name);
  }

  /** Reads the shipped file as it is in the jar. */
  static List<DemoRequest> shipped() throws IOException {
    return new DemoRequests(SHIPPED + " in the jar", DemoRequests::readResource)
        .parse(String.valueOf(SHIPPED.getFileName()));
  }

  private static String readResource(String name) throws IOException {
    String path = "/config/demo/" + name;
    try (InputStream in = DemoRequests.class.getResourceAsStream(path)) {
      if (in == null) {
        throw new FileNotFoundException(path + " is not in the jar");
      }
      return new String(in.readAllBytes(), StandardCharsets.UTF_8);
    }
  }

  private List<DemoRequest> parse(String name) throws IOException {
    List<DemoRequest> requests = new ArrayList<>();
    int number = 0;
    for (String line : folder.read(name).split("\n", -1)) {
      number++;
      if (!line.isBlank()) {
        requests.add(request(line, source + ":" + number + ": "));
      }
    }
    if (requests.isEmpty()) {
      throw new IllegalArgumentException(source + ": holds no request; expected one JSON a line");
    }
    requests.sort((a, b) -> Long.compare(a.atMillis(), b.atMillis()));
    return List.copyOf(requests);
  }

  private DemoRequest request(String text, String where) throws IOException {
    Line line;
    try {
      line = json.readValue(text, Line.class);
    } catch (JsonProcessingException e) {
      throw new IllegalArgumentException(
          where + "not a request in JSON: " + e.getOriginalMessage(), e);
    }
    if (line == null) {
      throw new IllegalArgumentException(where + "null is no request");
    }
    DemoRequest.Call call = call(line.call(), where);
    if (line.at() == null || line.at() < 0) {
      throw new IllegalArgumentException(
          where + "\"at\" is " + line.at() + "; expected milliseconds from the start, 0 or more");
    }
    if (line.node() == null || line.node() < 1) {
      throw new IllegalArgumentException(
          where + "\"node\" is " + line.node() + "; expected the number of a node, from 1");
    }
    if ((line.answer() == null) == (line.answerFile() == null)) {
      throw new IllegalArgumentException(where + "expected one of \"answer\" and \"answerFile\"");
    }
    if (call == DemoRequest.Call.DEMEANOR) {
      required("fileName", line.fileName(), where);
    }
    boolean file =
        line.fileName() != null
            && (call == DemoRequest.Call.DEMEANOR || call == DemoRequest.Call.EXTRACT);
    if (line.fileName() != null && !file) {
      throw new IllegalArgumentException(
          where + "\"fileName\" goes with extract and demeanor only, not with " + line.call());
    }
    return new DemoRequest(
        line.at(),
        line.node(),
        call,
        required("session", line.session(), where),
        file ? "" : required("questionNumber", line.questionNumber(), where),
        required("question", line.question(), where),
        required(
            "answer",
            line.answerFile() == null ? line.answer() : answerFile(line.answerFile(), where),
            where),
        line.fileName(),
        required("agent", line.agent(), where),
        line.note() == null ? "" : line.note());
  }

  private static DemoRequest.Call call(@Nullable String word, String where) {
    List<DemoRequest.Call> calls = List.of(DemoRequest.Call.values());
    return calls.stream()
        .filter(call -> call.word().equals(word))
        .findFirst()
        .orElseThrow(
            () ->
                new IllegalArgumentException(
                    where
                        + "\"call\" is "
                        + word
                        + "; expected one of "
                        + calls.stream().map(DemoRequest.Call::word).toList()));
  }

  private String answerFile(String name, String where) throws IOException {
    try {
      return folder.read(name);
    } catch (IOException e) {
      throw new IOException(where + "\"answerFile\" " + name + " cannot be read", e);
    }
  }

  private static String required(String field, @Nullable String value, String where) {
    if (value == null || value.isBlank()) {
      throw new IllegalArgumentException(where + "\"" + field + "\" is missing or blank");
    }
    return value;
  }

  /** A line as it is written. */
  private record Line(
      @Nullable Long at,
      @Nullable Integer node,
      @Nullable String call,
      @Nullable String session,
      @Nullable String questionNumber,
      @Nullable String question,
      @Nullable String answer,
      @Nullable String answerFile,
      @Nullable String fileName,
      @Nullable String agent,
      @Nullable String note) {}
}
