package dev.soloflight.cli;

import dev.soloflight.interview.AiFile;
import dev.soloflight.interview.InterviewAiInvoker;
import java.nio.charset.StandardCharsets;
import org.jspecify.annotations.Nullable;

/**
 * One recorded call of the demo: when, on which node, and what is asked.
 *
 * @param atMillis when it is sent, in milliseconds from the start
 * @param node the node it lands on, from 1
 * @param call what is asked for
 * @param session the interview session
 * @param questionNumber which question; empty where a file is looked at
 * @param question the question, or what to do with the file
 * @param answer the candidate's answer, or the text of the file
 * @param fileName under which name the text was uploaded, or null if it is no file
 * @param agent who is asked
 * @param note what this line shows, for people; empty if nothing
 */
record DemoRequest(
    long atMillis,
    int node,
    Call call,
    String session,
    String questionNumber,
    String question,
    String answer,
    @Nullable String fileName,
    String agent,
    String note) {

  /** What is asked for; each is a stage of its own. */
  enum Call {
    EVALUATE("evaluate", InterviewAiInvoker.STAGE_EVALUATION),
    FOLLOW_UP("followUp", InterviewAiInvoker.STAGE_FOLLOWUP),
    EXTRACT("extract", InterviewAiInvoker.STAGE_EXTRACTION),
    DEMEANOR("demeanor", InterviewAiInvoker.STAGE_DEMEANOR);

    private final String word;
    private final String stage;

    Call(String word, String stage) {
      this.word = word;
      this.stage = stage;
    }

    /** Its name in the file. */
    String word() {
      return word;
    }

    /** The stage it runs under. */
    String stage() {
      return stage;
    }
  }

  /**
   * What changes the answer. Told here from the recording alone, without the library under
   * demonstration, so that a wrong merge shows as much as a missed one.
   */
  record Identity(
      String stage,
      String session,
      String questionNumber,
      String question,
      String answer,
      String agent) {}

  /** The flight this call is expected to belong to. */
  Identity identity() {
    return new Identity(call.stage(), session, questionNumber, question, answer, agent);
  }

  /** The same call, sent to another node. */
  DemoRequest onNode(int other) {
    return new DemoRequest(
        atMillis, other, call, session, questionNumber, question, answer, fileName, agent, note);
  }

  /**
   * Makes the call and returns the answer as text, the same text for the same answer.
   *
   * @param type what the answer is read as, where the call is typed
   */
  String send(InterviewAiInvoker invoker, Class<?> type) {
    return switch (call) {
      case EVALUATE ->
          String.valueOf(invoker.evaluate(session, questionNumber, question, answer, agent, type));
      case FOLLOW_UP ->
          String.valueOf(invoker.followUp(session, questionNumber, question, answer, agent, type));
      case EXTRACT ->
          String.valueOf(
              fileName == null
                  ? invoker.extract(session, questionNumber, question, answer, agent, type)
                  : invoker.extract(session, question, file(fileName), agent, type));
      case DEMEANOR -> {
        if (fileName == null) {
          throw new IllegalStateException("demeanor needs a file; reading the line checks that");
        }
        yield invoker.callAiSyncWithFile(question, session, agent, file(fileName));
      }
    };
  }

  private AiFile file(String name) {
    return AiFile.of(name, "text/plain", answer.getBytes(StandardCharsets.UTF_8));
  }
}
