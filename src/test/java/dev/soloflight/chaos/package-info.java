/**
 * The fault bench: real JVMs on a real Redis, faults by a seed, and a checker that proves DESIGN 10
 * from what all of them wrote down.
 *
 * <p>{@link dev.soloflight.chaos.ChaosDriver} starts nodes ({@link dev.soloflight.chaos.ChaosNode})
 * and injects faults; both write a history, one line an {@link dev.soloflight.chaos.Event}; {@link
 * dev.soloflight.chaos.HistoryChecker} reads the histories. Run it with {@code mvn verify -Pchaos}.
 */
package dev.soloflight.chaos;
