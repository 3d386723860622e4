package dev.soloflight.interview;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class AiRequestTest {
  private static final byte[] BYTES = "six years of Java".getBytes(StandardCharsets.UTF_8);

  @Test
  void itsTextFormShowsNeitherPromptNorParametersNorFile() {
    AiRequest request =
        new AiRequest(
            "prompt-secret",
            "session-1",
            "scorer",
            "large",
            "interview-evaluation",
            Map.of("name-secret", "value-secret"),
            AiFile.of("file-secret.txt", "text/plain", BYTES),
            "key-1");

    assertThat(request.toString())
        .contains("session-1", "scorer", "large", "interview-evaluation", "key-1")
        .doesNotContain("secret", "years");
  }

  @Test
  void aLaterChangeOfTheParametersDoesNotReachIt() {
    List<Object> list = new ArrayList<>(List.of("a"));
    byte[] bytes = {1};
    Map<String, Object> parameters = new HashMap<>();
    parameters.put("list", list);
    parameters.put("nested", new HashMap<>(Map.of("bytes", bytes)));
    AiRequest request = new AiRequest("p", "s", "a", null, "stage", parameters, null, "key");

    list.add("b");
    bytes[0] = 2;
    parameters.put("more", 1);

    assertThat(request.parameters()).containsOnlyKeys("list", "nested");
    assertThat(request.parameters().get("list")).isEqualTo(List.of("a"));
    assertThat((Map<?, ?>) request.parameters().get("nested"))
        .allSatisfy((k, v) -> assertThat(v).isEqualTo(new byte[] {1}));
    assertThatThrownBy(() -> request.parameters().clear())
        .isInstanceOf(UnsupportedOperationException.class);
  }

  @Test
  void aFileIsItsContent(@TempDir Path folder) throws IOException {
    Path path = Files.write(folder.resolve("cv.txt"), BYTES);
    AiFile fromMemory = AiFile.of("resume.txt", "text/plain", BYTES);
    AiFile fromDisk = AiFile.read(path, "application/octet-stream");

    assertThat(fromDisk).isEqualTo(fromMemory).hasSameHashCodeAs(fromMemory);
    assertThat(fromDisk.name()).isEqualTo("cv.txt");
    assertThat(fromMemory.sha256())
        .isEqualTo(fromDisk.sha256())
        .isEqualTo("12a481b9181085f97e2d3ce06af53b66a56edc2c4f58098f52492bbdf5e79291");
    assertThat(AiFile.of("resume.txt", "text/plain", new byte[0])).isNotEqualTo(fromMemory);
  }

  @Test
  void aFileCannotBeChangedFromOutside() {
    byte[] bytes = BYTES.clone();
    AiFile file = AiFile.of("resume.txt", "text/plain", bytes);
    bytes[0] = 'S';
    file.content()[1] = 'I';

    assertThat(file.content()).isEqualTo(BYTES);
  }

  @Test
  void aFileNeedsANameAndATypeAndMustBeThere(@TempDir Path folder) {
    assertThatIllegalArgumentException()
        .isThrownBy(() -> AiFile.of(" ", "text/plain", BYTES))
        .withMessageContaining("name");
    assertThatIllegalArgumentException()
        .isThrownBy(() -> AiFile.of("a.txt", "", BYTES))
        .withMessageContaining("mediaType");
    assertThatThrownBy(() -> AiFile.read(folder.resolve("none.txt"), "text/plain"))
        .isInstanceOf(NoSuchFileException.class);
  }
}
