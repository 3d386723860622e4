package dev.soloflight.support;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.lettuce.core.SetArgs;
import io.lettuce.core.api.sync.RedisCommands;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.ParameterContext;
import org.junit.jupiter.api.extension.ParameterResolver;

@WithRedis
@ExtendWith(RedisExtensionTest.ContextResolver.class)
class RedisExtensionTest {
  /** Hands a test the context in which its extensions work. */
  static final class ContextResolver implements ParameterResolver {
    @Override
    public boolean supportsParameter(ParameterContext parameter, ExtensionContext context) {
      return parameter.getParameter().getType() == ExtensionContext.class;
    }

    @Override
    public Object resolveParameter(ParameterContext parameter, ExtensionContext context) {
      return context;
    }
  }

  @RepeatedTest(2)
  void every_test_finds_redis_empty(TestRedis redis, RedisCommands<String, String> commands) {
    assertThat(commands.dbsize()).isZero();
    commands.set("left-by-the-test-before", "v", SetArgs.Builder.ex(600));
    assertThat(redis.sync().dbsize()).isEqualTo(1);
  }

  @Test
  void a_key_without_a_ttl_fails_the_test_and_is_named(
      RedisCommands<String, String> redis, ExtensionContext context) {
    redis.set("mortal", "v", SetArgs.Builder.ex(600));
    new RedisExtension().afterEach(context);

    redis.set("eternal", "v");
    assertThatThrownBy(() -> new RedisExtension().afterEach(context))
        .isInstanceOf(AssertionError.class)
        .hasMessageContaining("keys in Redis without a TTL")
        .hasMessageContaining("eternal")
        .hasMessageNotContaining("mortal");
    redis.del("eternal");
  }

  @Test
  @LeavesKeysWithoutTtl
  void a_key_without_a_ttl_passes_where_the_test_says_so(RedisCommands<String, String> redis) {
    redis.set("eternal", "v");
    assertThat(redis.pttl("eternal")).isEqualTo(-1);
  }

  @Test
  void a_thread_left_behind_fails_the_test_and_is_named(ExtensionContext context)
      throws InterruptedException {
    CountDownLatch end = new CountDownLatch(1);
    Thread leaked = new Thread(() -> awaitQuietly(end), "soloflight-leaked");
    leaked.start();
    try {
      assertThatThrownBy(() -> new RedisExtension().afterEach(context))
          .hasMessageContaining("threads that the test left behind")
          .hasMessageContaining("soloflight-leaked");
    } finally {
      end.countDown();
      leaked.join();
    }
  }

  private static void awaitQuietly(CountDownLatch latch) {
    try {
      latch.await();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
