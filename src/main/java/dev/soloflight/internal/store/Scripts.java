package dev.soloflight.internal.store;

import io.lettuce.core.RedisNoScriptException;
import io.lettuce.core.ScriptOutputType;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutionException;

/** Runs scripts: EVALSHA first; where the server does not know the script, the whole text. */
final class Scripts {
  private Scripts() {}

  static <T> CompletionStage<T> run(
      Link link, Script script, ScriptOutputType output, String key, byte[]... args) {
    String[] keys = {key};
    CompletionStage<T> sent = link.commands().evalsha(script.sha1(), output, keys, args);
    return sent.handle(
            (reply, e) -> {
              if (e == null) {
                return CompletableFuture.completedStage(reply);
              }
              // Restart, failover, SCRIPT FLUSH, another Cluster node: EVAL also loads it there.
              if (rootOf(e) instanceof RedisNoScriptException) {
                CompletionStage<T> again =
                    link.commands().eval(script.source(), output, keys, args);
                return again;
              }
              return CompletableFuture.<T>failedStage(e);
            })
        .thenCompose(stage -> stage);
  }

  static String text(Object bulk) {
    return bulk instanceof byte[] bytes
        ? new String(bytes, StandardCharsets.UTF_8)
        : String.valueOf(bulk);
  }

  static Throwable rootOf(Throwable e) {
    Throwable root = e;
    while ((root instanceof CompletionException || root instanceof ExecutionException)
        && root.getCause() != null) {
      root = root.getCause();
    }
    return root;
  }

  /** The deepest message: Lettuce wraps what happened in what it was doing. */
  static String describe(Throwable e) {
    Throwable root = rootOf(e);
    while (root.getCause() != null && root.getCause() != root) {
      root = root.getCause();
    }
    String message = root.getMessage();
    return message == null ? root.getClass().getSimpleName() : message;
  }
}
