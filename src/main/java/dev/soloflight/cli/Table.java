package dev.soloflight.cli;

import java.util.ArrayList;
import java.util.List;

/** Text in columns; what is a number stands to the right. */
final class Table {
  private final List<List<String>> rows = new ArrayList<>();

  Table row(Object... cells) {
    List<String> row = new ArrayList<>();
    for (Object cell : cells) {
      row.add(String.valueOf(cell));
    }
    rows.add(row);
    return this;
  }

  List<String> lines() {
    List<String> lines = new ArrayList<>();
    for (List<String> row : rows) {
      StringBuilder line = new StringBuilder();
      for (int column = 0; column < row.size(); column++) {
        String cell = row.get(column);
        String blanks = " ".repeat(width(column) - cell.length());
        line.append(rightAligned(column) ? blanks + cell : cell + blanks).append("  ");
      }
      lines.add(line.toString().stripTrailing());
    }
    return lines;
  }

  private int width(int column) {
    return rows.stream().mapToInt(row -> row.get(column).length()).max().orElse(0);
  }

  private boolean rightAligned(int column) {
    return rows.stream().skip(1).allMatch(row -> row.get(column).matches("-?\\d+( \\w+)?|-"));
  }
}
