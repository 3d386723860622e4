/** A result and its stored bytes (DESIGN 6). Internal: may change without notice. */
@NullMarked
package dev.soloflight.internal.codec;

import org.jspecify.annotations.NullMarked;
