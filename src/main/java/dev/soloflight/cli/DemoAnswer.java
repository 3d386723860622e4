package dev.soloflight.cli;

/**
 * What the demo reads the model's JSON as.
 *
 * @param call the number of the model call that produced it: two answers to one flight that differ
 *     here were paid for twice
 * @param score the score
 * @param comment the model's words
 */
record DemoAnswer(int call, int score, String comment) {}
