package dev.soloflight.limits;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Sees each script as Redis does, by MONITOR: its time is the server's. While tasks only run, each
 * is a beat.
 */
final class BeatMonitor implements AutoCloseable {
  /** A flight's latest beat: which in a row, and when. */
  private record Beat(int number, double atSeconds) {}

  /** The gaps before the n-th beat of each flight. */
  private static final class Round {
    private int flights;
    private double longestGapSeconds;
  }

  private final Socket socket;
  private final BufferedReader lines;
  private final Map<String, Beat> latest = new HashMap<>();
  private final List<Round> rounds = new ArrayList<>();

  BeatMonitor(int port) throws IOException {
    socket = new Socket(InetAddress.getLoopbackAddress(), port);
    lines =
        new BufferedReader(
            new InputStreamReader(socket.getInputStream(), StandardCharsets.ISO_8859_1));
    socket.getOutputStream().write("MONITOR\r\n".getBytes(StandardCharsets.US_ASCII));
  }

  /**
   * Reads on until each of so many flights has beaten so often again, and gives the longest gap
   * before each of these beats, in seconds.
   */
  List<Double> awaitRounds(int flights, int count) throws IOException {
    while (rounds.size() < count || rounds.get(count - 1).flights < flights) {
      String line = lines.readLine();
      if (line == null) {
        throw new IOException("MONITOR has ended");
      }
      // +1700000000.123456 [0 127.0.0.1:5] "evalsha" "sha" "1" "key" ...
      String[] words = line.split(" ", 8);
      if (words.length == 8 && words[3].equalsIgnoreCase("\"evalsha\"")) {
        beaten(words[6], Double.parseDouble(words[0].replace("+", "")));
      }
    }
    return rounds.subList(0, count).stream().map(round -> round.longestGapSeconds).toList();
  }

  private void beaten(String record, double atSeconds) {
    Beat before = latest.get(record);
    latest.put(record, new Beat(before == null ? 0 : before.number + 1, atSeconds));
    if (before == null) {
      return;
    }
    if (rounds.size() == before.number) {
      rounds.add(new Round());
    }
    Round round = rounds.get(before.number);
    round.flights++;
    round.longestGapSeconds = Math.max(round.longestGapSeconds, atSeconds - before.atSeconds);
  }

  @Override
  public void close() throws IOException {
    socket.close();
  }
}
