/**
 * SoloFlight: one expensive call, however many times and on however many machines it is asked for.
 *
 * <p>The road of a call, top to bottom; each layer knows only the one below it (DESIGN 2):
 *
 * <pre>
 * interview.InterviewAiInvoker   the facade in the words of the business
 *   SoloFlight                   the public entry: key + result type + task -> result
 *     internal.local             leader and waiters in this JVM, L1 replay cache
 *       internal.coordinator     the state machine seen from a client: acquire -> own | follow | replay
 *         internal.store         the steps of the protocol as methods; the only package that knows Redis
 *           lua/*.lua            the state machine itself (src/main/resources/lua)
 * </pre>
 *
 * <p>Beside the road: {@code internal.policy}, {@code internal.codec}, {@code internal.guard},
 * {@code internal.metrics}, {@code cli}. What lies under {@code internal} may change without
 * notice.
 */
@NullMarked
package dev.soloflight;

import org.jspecify.annotations.NullMarked;
