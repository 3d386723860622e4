package dev.soloflight.interview;

/**
 * A model provider's client, in one method, so that any client fits in a lambda.
 *
 * <p>It is called once for each execution of a flight, on the thread of one of the callers, and
 * concurrently for different flights. It should not retry by itself: SoloFlight owns the retries,
 * and its stage policy bounds them. An interrupt asks it to stop.
 */
@FunctionalInterface
public interface AiClient {
  /**
   * Sends one request and waits for the model's text.
   *
   * @param request what to ask; {@link AiRequest#idempotencyKey()} is the same for every owner of a
   *     flight, so a provider that honours such a key deduplicates what a dead owner had begun
   * @return the model's text
   * @throws Exception whatever went wrong; a {@link dev.soloflight.FlightFailedException} to give
   *     the failure a code and to say whether another try may help
   */
  String chat(AiRequest request) throws Exception;
}
