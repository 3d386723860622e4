/** What SoloFlight counts, by stage and source. Internal: may change without notice. */
@NullMarked
package dev.soloflight.internal.metrics;

import org.jspecify.annotations.NullMarked;
