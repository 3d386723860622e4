/** The facade in the words of the business: evaluate, follow up, extract (DESIGN 7). */
@NullMarked
package dev.soloflight.interview;

import org.jspecify.annotations.NullMarked;
