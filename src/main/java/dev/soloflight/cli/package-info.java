/** The command line (DESIGN 9). Not part of the lean library's needs. */
@NullMarked
package dev.soloflight.cli;

import org.jspecify.annotations.NullMarked;
