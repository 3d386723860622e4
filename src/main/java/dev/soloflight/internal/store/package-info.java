/**
 * The protocol's steps as methods; the only package that knows Redis (DESIGN 3). Internal: may
 * change without notice.
 */
@NullMarked
package dev.soloflight.internal.store;

import org.jspecify.annotations.NullMarked;
