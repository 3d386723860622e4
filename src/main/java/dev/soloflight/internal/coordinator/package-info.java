/**
 * The state machine seen from a client: acquire, then own, follow or replay (DESIGN 3). Internal:
 * may change without notice.
 */
@NullMarked
package dev.soloflight.internal.coordinator;

import org.jspecify.annotations.NullMarked;
