/**
 * YAML and builder settings as immutable, validated records (DESIGN 8). Internal: may change
 * without notice.
 */
@NullMarked
package dev.soloflight.internal.policy;

import org.jspecify.annotations.NullMarked;
