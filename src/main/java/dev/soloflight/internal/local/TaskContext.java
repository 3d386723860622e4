package dev.soloflight.internal.local;

import dev.soloflight.FlightContext;
import dev.soloflight.FlightKey;
import dev.soloflight.internal.coordinator.Ownership;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** What a task sees of its ownership. */
record TaskContext(FlightKey key, Ownership ownership, Executor executor) implements FlightContext {
  private static final Logger log = LoggerFactory.getLogger(TaskContext.class);

  @Override
  public long ownerToken() {
    return ownership.ownerToken();
  }

  @Override
  public String idempotencyKey() {
    return ownership.idempotencyKey();
  }

  @Override
  public int attempt() {
    return ownership.attempt();
  }

  @Override
  public boolean isOwner() {
    return ownership.held();
  }

  @Override
  public void onOwnershipLost(Runnable listener) {
    ownership.onLost(
        () -> {
          try {
            executor.execute(() -> tell(listener));
          } catch (RejectedExecutionException e) {
            log.warn("flight {}: the async executor refused an ownership-lost listener", key, e);
          }
        });
  }

  private void tell(Runnable listener) {
    try {
      listener.run();
    } catch (Throwable e) {
      log.warn("flight {}: an ownership-lost listener failed", key, e);
    }
  }
}
