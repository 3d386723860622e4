/**
 * How far it goes: callers, keys, nodes, sizes, beats. Figures are printed; what must hold is
 * asserted.
 */
@NullMarked
package dev.soloflight.limits;

import org.jspecify.annotations.NullMarked;
