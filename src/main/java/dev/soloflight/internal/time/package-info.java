/** Time as it comes in from outside. Internal: may change without notice. */
@NullMarked
package dev.soloflight.internal.time;

import org.jspecify.annotations.NullMarked;
