package dev.soloflight.support;

import io.lettuce.core.codec.StringCodec;
import io.lettuce.core.output.StatusOutput;
import io.lettuce.core.protocol.CommandArgs;
import io.lettuce.core.protocol.CommandType;

/**
 * A Redis user with rights of its own, on one server until that server restarts (users that must
 * outlive it: {@link RedisProcess.Builder#users}).
 */
public final class AclUser implements AutoCloseable {
  private static final String PASSWORD = "secret-of-a-test";

  private final RedisProcess server;
  private final String name;

  private AclUser(RedisProcess server, String name) {
    this.server = server;
    this.name = name;
  }

  /**
   * A user that may do nothing but what the rules say.
   *
   * @param rules as ACL SETUSER takes them: {@code "~soloflight:*", "+@all", "-xread"}
   */
  public static AclUser create(RedisProcess server, String name, String... rules) {
    AclUser user = new AclUser(server, name);
    user.setUser("reset", "on", ">" + PASSWORD);
    user.change(rules);
    return user;
  }

  /** How this user reaches the server, password included. */
  public String uri() {
    return "redis://" + name + ":" + PASSWORD + "@" + RedisProcess.HOST + ":" + server.port();
  }

  /** Further rules on top of the present ones; open connections feel them at once. */
  public void change(String... rules) {
    setUser(rules);
  }

  /** Deletes the user; the server closes its connections. */
  @Override
  public void close() {
    server.sync().aclDeluser(name);
  }

  private void setUser(String... rules) {
    CommandArgs<String, String> args = new CommandArgs<>(StringCodec.UTF8).add("SETUSER").add(name);
    for (String rule : rules) {
      args.add(rule);
    }
    server.sync().dispatch(CommandType.ACL, new StatusOutput<>(StringCodec.UTF8), args);
  }
}
