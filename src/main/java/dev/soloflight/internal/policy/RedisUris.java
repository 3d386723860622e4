package dev.soloflight.internal.policy;

import java.net.URI;
import java.net.URISyntaxException;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** Checks and splits {@code redis.uri}, in the terms of Lettuce's RedisURI but without Lettuce. */
final class RedisUris {
  private static final Set<String> PLAIN = Set.of("redis", "rediss", "redis+ssl", "redis+tls");
  private static final Set<String> SENTINEL = Set.of("redis-sentinel", "rediss-sentinel");
  private static final Set<String> SOCKET = Set.of("redis-socket", "redis+socket");

  private static final Pattern URI_PARTS =
      Pattern.compile("([a-z+-]+)://([^/?#]*)([^?#]*)(\\?[^#]*)?(#.*)?");
  private static final Pattern HOST_AND_PORT =
      Pattern.compile("(?:[A-Za-z0-9._-]+|\\[[0-9A-Fa-f:.]+\\])(?::(\\d{1,5}))?");
  private static final Pattern HOSTS =
      Pattern.compile("[\\w.-]*(:\\d{1,5})?(,[\\w.-]+(:\\d{1,5})?)*(?=[/?#]|$)");
  private static final Pattern NEXT_URI = Pattern.compile(",(?=[a-z+-]+://)");

  private static final int MAX_CHARS = 4000;

  private RedisUris() {}

  /**
   * @throws BadValueException saying what would be right, without repeating the text
   */
  static void check(String text) {
    seeds(text);
  }

  /**
   * One URI per node: the seeds of a Cluster may be written as {@code redis://a:1,b:2} or {@code
   * redis://a:1,redis://b:2}. A Sentinel URI stays whole.
   *
   * @throws BadValueException saying what would be right, without repeating the text
   */
  static List<String> seeds(String text) {
    if (text.length() > MAX_CHARS) {
      throw bad("expected at most " + MAX_CHARS + " characters");
    }
    String[] uris = NEXT_URI.split(text.trim(), -1);
    List<String> seeds = new ArrayList<>();
    for (String uri : uris) {
      seeds.addAll(split(uri, uris.length > 1));
    }
    return List.copyOf(seeds);
  }

  /** The scheme and the hosts, nothing that could be a password. */
  static String redact(String text) {
    int scheme = text.indexOf("://");
    String start = scheme < 0 || scheme > 20 ? "" : text.substring(0, scheme + 3);
    int credentials = text.lastIndexOf('@') + 1;
    String rest =
        text.substring(Math.max(credentials, start.length())).replaceFirst("[?].*", "?...");
    if (credentials > 0) {
      return start + "***@" + rest;
    }
    return rest.length() <= MAX_CHARS && HOSTS.matcher(rest).lookingAt()
        ? start + rest
        : start + "***";
  }

  private static List<String> split(String uri, boolean oneOfSeveral) {
    Matcher parts = URI_PARTS.matcher(uri);
    if (!parts.matches()) {
      throw bad("expected redis://host:port, or another scheme: " + schemes());
    }
    String scheme = parts.group(1);
    String authority = parts.group(2);
    String path = parts.group(3);
    String tail = path + orEmpty(parts.group(4)) + orEmpty(parts.group(5));
    if (SOCKET.contains(scheme)) {
      if (oneOfSeveral || !authority.isEmpty() || path.length() < 2) {
        throw bad("expected one absolute path: " + scheme + ":///path/to/redis.sock");
      }
      return List.of(uri);
    }
    if (!PLAIN.contains(scheme) && !SENTINEL.contains(scheme)) {
      throw bad("the scheme is not known; expected one of " + schemes());
    }
    int at = authority.lastIndexOf('@');
    String credentials = authority.substring(0, at + 1);
    if (tail.contains("@") || authority.indexOf('@') != at || !isUri(uri)) {
      throw bad(
          "special characters of a user name or password must be percent-encoded:"
              + " @ is %40, / is %2F, # is %23, ? is %3F, a blank is %20");
    }
    String[] hosts = authority.substring(at + 1).split(",", -1);
    for (String host : hosts) {
      checkHost(host);
    }
    if (!path.matches("(/\\d{0,5})?")) {
      throw bad("expected nothing or the number of a database after the host, for example /0");
    }
    if (SENTINEL.contains(scheme)) {
      if (oneOfSeveral || !tail.matches(".*(#|[?&]sentinelMasterId=)[^&#].*")) {
        throw bad("expected " + scheme + "://host:port,host:port/0#name-of-the-master");
      }
      return List.of(uri);
    }
    List<String> seeds = new ArrayList<>();
    for (String host : hosts) {
      seeds.add(scheme + "://" + credentials + host + tail);
    }
    return seeds;
  }

  private static void checkHost(String hostAndPort) {
    Matcher matcher = HOST_AND_PORT.matcher(hostAndPort);
    if (!matcher.matches()) {
      throw bad("expected host or host:port, several of them separated by commas");
    }
    String port = matcher.group(1);
    if (port != null && (Integer.parseInt(port) < 1 || Integer.parseInt(port) > 65535)) {
      throw bad("expected a port from 1 to 65535");
    }
  }

  private static boolean isUri(String text) {
    try {
      return !new URI(text).isOpaque();
    } catch (URISyntaxException e) {
      return false;
    }
  }

  private static String schemes() {
    List<String> all = new ArrayList<>(PLAIN);
    all.addAll(SENTINEL);
    all.addAll(SOCKET);
    return String.join(", ", all.stream().sorted().toList());
  }

  private static String orEmpty(@Nullable String text) {
    return text == null ? "" : text;
  }

  private static BadValueException bad(String expected) {
    return new BadValueException(expected);
  }
}
