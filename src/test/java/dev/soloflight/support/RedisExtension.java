package dev.soloflight.support;

import static org.junit.platform.commons.support.AnnotationSupport.isAnnotated;

import io.lettuce.core.api.sync.RedisCommands;
import java.util.Set;
import org.junit.jupiter.api.extension.AfterEachCallback;
import org.junit.jupiter.api.extension.BeforeEachCallback;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.ExtensionContext.Namespace;
import org.junit.jupiter.api.extension.ParameterContext;
import org.junit.jupiter.api.extension.ParameterResolver;

/**
 * Empties the shared Redis before each test and holds the test to {@link Invariants} after it, when
 * its {@code @AfterEach} methods are through. Parameters: {@link TestRedis}, or its {@code
 * RedisCommands<String, String>}.
 */
public final class RedisExtension
    implements BeforeEachCallback, AfterEachCallback, ParameterResolver {
  private static final Namespace NAMESPACE = Namespace.create(RedisExtension.class);

  @Override
  public void beforeEach(ExtensionContext context) {
    TestRedis.shared().sync().flushdb();
    context.getStore(NAMESPACE).put(Threads.class, new Threads(Invariants.libraryThreads()));
  }

  @Override
  public void afterEach(ExtensionContext context) {
    Threads before = context.getStore(NAMESPACE).get(Threads.class, Threads.class);
    Invariants.noLibraryThreadLeft(before.alive());
    if (!isAnnotated(context.getTestMethod(), LeavesKeysWithoutTtl.class)
        && !isAnnotated(context.getTestClass(), LeavesKeysWithoutTtl.class)) {
      Invariants.everyKeyHasTtl(TestRedis.shared().sync());
    }
  }

  @Override
  public boolean supportsParameter(ParameterContext parameter, ExtensionContext context) {
    Class<?> type = parameter.getParameter().getType();
    return type == TestRedis.class || type == RedisCommands.class;
  }

  @Override
  public Object resolveParameter(ParameterContext parameter, ExtensionContext context) {
    TestRedis redis = TestRedis.shared();
    return parameter.getParameter().getType() == TestRedis.class ? redis : redis.sync();
  }

  private record Threads(Set<Thread> alive) {}
}
