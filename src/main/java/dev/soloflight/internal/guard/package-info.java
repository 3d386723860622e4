/**
 * Timeout, bulkhead, breaker and rate limit around the task. Internal: may change without notice.
 */
@NullMarked
package dev.soloflight.internal.guard;

import org.jspecify.annotations.NullMarked;
