/**
 * Leader and waiters inside one JVM, and the L1 replay cache (DESIGN 4). Internal: may change
 * without notice.
 */
@NullMarked
package dev.soloflight.internal.local;

import org.jspecify.annotations.NullMarked;
