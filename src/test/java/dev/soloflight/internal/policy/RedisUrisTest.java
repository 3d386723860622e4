package dev.soloflight.internal.policy;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.lettuce.core.RedisURI;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class RedisUrisTest {
  @ParameterizedTest
  @ValueSource(
      strings = {
        "redis://h",
        "redis://redis_1:6379",
        "rediss://h:6380/3",
        "redis+ssl://h",
        "redis+tls://h",
        "redis://:pw@h:6379",
        "redis://user:p%40w%2F@h:6379/0?timeout=1s",
        "redis://[::1]:6379",
        "redis://a:1,b:2,c",
        "redis://:pw@a:1,b:2",
        "redis://a:1,rediss://b:2",
        "redis-sentinel://a:26379,b:26379/0#master",
        "rediss-sentinel://:pw@a#master",
        "redis-sentinel://a?sentinelMasterId=master",
        "redis-socket:///tmp/redis.sock",
        "redis+socket:///tmp/redis.sock?db=1",
      })
  void what_is_accepted_lettuce_accepts_too(String uri) {
    assertThat(RedisUris.seeds(uri))
        .isNotEmpty()
        .allSatisfy(seed -> assertThatCode(() -> RedisURI.create(seed)).doesNotThrowAnyException());
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "h",
        "h:6379",
        "redis:h",
        "redis://",
        "redis:///0",
        "REDIS://h",
        "http://h",
        "unix:///tmp/x",
        "redis://h:0",
        "redis://h:65536",
        "redis://h:port",
        "redis://h/abc",
        "redis://a b",
        "redis://a,,b",
        "redis://a,",
        "redis://:p@w@h",
        "redis://:p/w@h",
        "redis://:p#w@h",
        "redis://:p w@h",
        "redis://:p^w@h",
        "redis-sentinel://h:26379",
        "redis-sentinel://h:26379#",
        "redis://a,redis-sentinel://b#m",
        "redis-socket://tmp/redis.sock",
        "redis-socket:///",
      })
  void what_cannot_work_is_refused(String uri) {
    assertThatThrownBy(() -> RedisUris.seeds(uri)).isInstanceOf(BadValueException.class);
  }

  @Test
  void the_seeds_of_a_cluster_are_one_uri_each_with_the_same_credentials_and_options() {
    assertThat(RedisUris.seeds("rediss://u:p@a:1,b:2?timeout=1s"))
        .containsExactly("rediss://u:p@a:1?timeout=1s", "rediss://u:p@b:2?timeout=1s");
    assertThat(RedisUris.seeds("redis://a:1,redis://:p@b:2"))
        .containsExactly("redis://a:1", "redis://:p@b:2");
    assertThat(RedisUris.seeds("redis-sentinel://a,b#m")).containsExactly("redis-sentinel://a,b#m");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "redis://h:1/0             | redis://h:1/0",
        "redis://a:1,b:2           | redis://a:1,b:2",
        "redis://u:secret@h:1      | redis://***@h:1",
        "redis://:se@cret@h        | redis://***@h",
        "redis://:secret           | redis://***",
        "redis://secret:secret     | redis://***",
        "u:secret@h                | ***@h",
        "redis://h?x=secret        | redis://h?...",
        "redis://u:s@h?x=secret    | redis://***@h?...",
        "localhost:6379            | localhost:6379",
      })
  void only_scheme_and_hosts_are_shown(String uri, String shown) {
    assertThat(RedisUris.redact(uri)).isEqualTo(shown);
  }
}
