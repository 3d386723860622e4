package dev.soloflight.internal.coordinator;

import dev.soloflight.internal.store.Commit;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/** An ownership that no record knows of: in local mode, or while Redis cannot be reached. */
final class LocalOwnership implements Ownership {
  private static final CompletableFuture<Boolean> CONFIRMED =
      CompletableFuture.completedFuture(true);
  private static final CompletableFuture<Settlement> PUBLISHED =
      CompletableFuture.completedFuture(new Settlement.Published());

  private final long ownerToken;
  private final boolean degraded;
  private volatile @Nullable String idempotencyKey;

  private LocalOwnership(long ownerToken, boolean degraded, @Nullable String idempotencyKey) {
    this.ownerToken = ownerToken;
    this.degraded = degraded;
    this.idempotencyKey = idempotencyKey;
  }

  static LocalOwnership local(long ownerToken) {
    return new LocalOwnership(ownerToken, false, null);
  }

  static LocalOwnership degraded(String idempotencyKey) {
    return new LocalOwnership(0, true, idempotencyKey);
  }

  @Override
  public long ownerToken() {
    return ownerToken;
  }

  /** Made when first asked for: most local tasks never do, and randomness is not free. */
  @Override
  public String idempotencyKey() {
    String made = idempotencyKey;
    if (made == null) {
      synchronized (this) {
        made = idempotencyKey;
        if (made == null) {
          made = UUID.randomUUID().toString();
          idempotencyKey = made;
        }
      }
    }
    return made;
  }

  @Override
  public int attempt() {
    return 1;
  }

  @Override
  public boolean held() {
    return !degraded;
  }

  @Override
  public boolean degraded() {
    return degraded;
  }

  @Override
  public boolean recorded() {
    return false;
  }

  @Override
  public CompletableFuture<Boolean> confirm() {
    return CONFIRMED;
  }

  @Override
  public void onLost(Runnable listener) {}

  @Override
  public CompletableFuture<Settlement> complete(Commit commit, long deadlineNanos) {
    return PUBLISHED;
  }

  @Override
  public CompletableFuture<Void> release(String reason) {
    return CompletableFuture.completedFuture(null);
  }
}
