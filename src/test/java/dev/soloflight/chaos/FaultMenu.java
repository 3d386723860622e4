package dev.soloflight.chaos;

import java.util.ArrayList;
import java.util.List;
import java.util.Random;

/** Faults to choose from, some more often than others. */
final class FaultMenu {
  private record Dish(int weight, FaultLog.Body body) {}

  private final ChaosSetting setting;
  private final List<Dish> dishes = new ArrayList<>();

  FaultMenu(ChaosSetting setting) {
    this.setting = setting;
  }

  FaultMenu add(int weight, FaultKind kind, FaultLog.Body body) {
    if (setting.has(kind)) {
      dishes.add(new Dish(weight, body));
    }
    return this;
  }

  boolean isEmpty() {
    return dishes.isEmpty();
  }

  FaultLog.Body choose(Random random) {
    int left = random.nextInt(dishes.stream().mapToInt(Dish::weight).sum());
    for (Dish dish : dishes) {
      left -= dish.weight();
      if (left < 0) {
        return dish.body();
      }
    }
    throw new AssertionError("weights add up");
  }
}
