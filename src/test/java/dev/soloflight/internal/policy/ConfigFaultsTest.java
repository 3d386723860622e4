package dev.soloflight.internal.policy;

import static dev.soloflight.internal.policy.Loading.faults;
import static dev.soloflight.internal.policy.Loading.message;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.soloflight.FlightConfigException;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class ConfigFaultsTest {
  @Test
  void several_faults_are_reported_together_in_the_order_of_the_file() {
    String yaml =
        """
        mode: hybird
        redis:
          uri: http://cache
          comand-timeout: 1s
        stages:
          interview-followup:
            takeover-detect: 13s
            result-ttl: 5 minutes
          payment:
            max-attempts: 0
        """;

    assertThat(message(yaml, Map.of("namespace", "a{b}")))
        .isEqualTo(
            """
            test.yml has 7 faults:
              line 1: mode = hybird: expected one of local, distributed, hybrid
              line 3: redis.uri = http://cache: the scheme is not known; expected one of redis, \
            redis+socket, redis+ssl, redis+tls, redis-sentinel, redis-socket, rediss, \
            rediss-sentinel
              line 4: redis.comand-timeout: unknown key; did you mean redis.command-timeout?
              line 7: stages.interview-followup.takeover-detect = 13s (line 7) must be less than \
            stages.interview-followup.running-ttl = 12s (default): a dead owner's record must live \
            until somebody takes over; set the first below 12s or the second above 13s
              line 8: stages.interview-followup.result-ttl = 5 minutes: expected a duration such \
            as 600ms, 10s, 5m, 1h or 1d
              line 10: stages.payment.max-attempts = 0: expected 1 to 1000
              set in code: namespace = a{b}: expected 1 to 100 letters, digits, dots, underscores \
            or dashes""");
  }

  @Test
  void the_exception_has_no_cause_whose_trace_would_hide_the_message() {
    assertThatThrownBy(() -> Loading.load("mode: x"))
        .isInstanceOf(FlightConfigException.class)
        .hasNoCause();
  }

  @Test
  void endless_faults_are_cut_short() {
    StringBuilder yaml = new StringBuilder();
    for (int i = 0; i < 60; i++) {
      yaml.append("nonsense").append(i).append(": 1\n");
    }

    assertThat(message(yaml.toString()))
        .startsWith("test.yml has 60 faults")
        .endsWith("and 10 more");
  }

  // ---- one value

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "mode: 5                               | mode = 5: expected one of local, distributed",
        "distributed-enabled: maybe            | expected true or false",
        "namespace: 'a b'                      | namespace = a b: expected 1 to 100 letters",
        "namespace: 'a:b'                      | expected 1 to 100 letters",
        "namespace: ''                         | namespace = '': expected 1 to 100 letters",
        "namespace: null                       | namespace = '': expected 1 to 100 letters",
        "prefix: 'a{b'                         | prefix = a{b: expected 1 to 100 letters",
        "stream-block-timeout: 0s              | expected more than 0",
        "poll-fallback-interval: 0             | expected more than 0",
        "poll-fallback-interval: -2s           | cannot be negative",
        "redis: {command-timeout: 0}           | redis.command-timeout = 0: expected more than 0",
        "l1: {max-entries: -1}                 | l1.max-entries = -1: expected 0 to",
        "l1: {max-entries: many}               | expected a whole number",
        "l1: {max-entries: 1.5}                | expected a whole number",
        "l1: {ttl: 5 s ago}                    | expected a duration such as",
        "max-result-bytes: 0                   | expected 1 to 268435456",
        "max-result-bytes: 1GB                 | expected 1 to 268435456",
        "max-result-bytes: 8 megs              | expected a size such as 4096, 4KB or 8MB",
        "compression-threshold: -1             | expected a size such as",
        "follower-max-wait: 0s                 | expected more than 0",
        "follower-max-wait: 20000              | is missing: write 20000ms or 20000s",
        "follower-max-wait: 900d               | expected at most 365d",
        "follower-max-wait: 99999999999999d    | expected at most 365d",
        "on-wait-timeout: retry                | expected one of fail, execute",
        "on-ownership-lost: stop               | expected one of continue, cancel",
        "defaults: {heartbeat-interval: 0s}    | expected more than 0",
        "defaults: {running-ttl: 0s}           | expected more than 0",
        "defaults: {takeover-detect: 0s}       | expected more than 0",
        "defaults: {result-ttl: 0s}            | expected more than 0",
        "defaults: {failed-result-ttl: 0s}     | expected more than 0",
        "defaults: {retry-backoff: -1s}        | cannot be negative",
        "defaults: {max-attempts: 0}           | expected 1 to 1000",
        "defaults: {retry-on: IOException}     | expected full class names such as",
        "defaults: {retry-on: [a.b/c]}         | expected full class names such as",
        "defaults: {retry-on: {a: b}}          | expected a list, found a block of keys",
        "defaults: {retry-on: [[a.B]]}         | expected one value, found a list",
        "defaults: {guard: {timeout: soon}}    | such as 600ms, 10s, 5m, 1h or 1d, or off",
        "defaults: {guard: {max-concurrent: a}}| expected a whole number, or off",
        "defaults: {guard: {breaker: on}}      | expected off, or a block of guard.breaker.failure",
        "defaults: {guard: {rate: 5}}          | expected off, or a block of guard.rate.limit",
        "defaults: {guard: {rate: {limit: 0, period: 1s}}} | guard.rate.limit = 0: expected 1 to",
        "defaults: {guard: {rate: {limit: 5}}} | needs guard.rate.period beside it",
        "defaults: {guard: {breaker: {failure-rate: 0, window: 1, open-for: 1s}}} | from 1 to 100",
        "defaults: {guard: {breaker: {failure-rate: 9, window: 0, open-for: 1s}}} | expected 1 to",
        "defaults: {guard: {breaker: {failure-rate: 9, window: 1, open-for: 0s}}} | more than 0",
        "defaults: {guard: {breaker: {failure-rate: 9}}} | breaker.window and guard.breaker.open-for",
      })
  void a_value_that_cannot_be_is_refused_with_key_line_value_and_what_would_be_right(
      String yaml, String expected) {
    assertThat(faults("# a comment\n" + yaml))
        .singleElement()
        .asString()
        .startsWith("line 2: ")
        .contains(expected);
  }

  @Test
  void a_fault_in_the_defaults_is_said_once_and_not_for_every_stage() {
    assertThat(faults("defaults: {running-ttl: soon}")).hasSize(1);
  }

  @Test
  void a_value_that_cannot_be_read_is_not_compared_with_others() {
    assertThat(faults("defaults: {running-ttl: soon, takeover-detect: 30s, result-ttl: 1s}"))
        .singleElement()
        .asString()
        .contains("running-ttl = soon");
  }

  // ---- shape

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "just text          | expected keys such as mode: hybrid, found a single value",
        "[a, b]             | expected keys such as mode: hybrid, found a list",
        "mode: [local]      | mode: expected one value, found a list",
        "mode: {a: b}       | mode: expected one value, found a block of keys",
        "redis: 'redis://h' | redis: expected a block of keys, found a single value",
        "stages: [a, b]     | stages: expected a block of keys, found a list",
        "stages: {a: 5s}    | stages.a: expected a block of keys, found a single value",
        "defaults: off      | defaults: expected a block of keys, found a single value",
        "soloflight: on     | soloflight: expected keys, found a single value",
        "? [a]              | a key must be plain text, found a list",
        "stages: {'*': }    | stages.*: a stage's name has 1 to 100 letters",
        "stages: {'a b': }  | stages.a b: a stage's name has 1 to 100 letters, digits",
      })
  void a_value_of_the_wrong_shape_is_refused(String yaml, String expected) {
    assertThat(faults(yaml)).singleElement().asString().startsWith("line 1: ").contains(expected);
  }

  @Test
  void a_key_given_twice_is_refused_with_both_lines() {
    assertThat(faults("mode: local\nnamespace: a\nmode: hybrid"))
        .containsExactly("line 3: mode: stands in line 1 already; keep one");
    assertThat(faults("stages:\n  a: {result-ttl: 1m}\n  a: {result-ttl: 2m}"))
        .containsExactly("line 3: stages.a: stands in line 2 already; keep one");
    assertThat(faults("l1.ttl: 1s\nl1:\n  ttl: 2s"))
        .containsExactly("line 3: l1.ttl: stands in line 1 already; keep one");
  }

  @Test
  void a_key_beside_the_wrapper_that_belongs_under_it_is_refused() {
    assertThat(faults("soloflight: {mode: local}\nstages: {}\nredis: {}\n"))
        .containsExactly(
            "line 2: stages: put it under soloflight, or it is lost",
            "line 3: redis: put it under soloflight, or it is lost");
  }

  // ---- unknown keys

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "mod: local                            | mod: unknown key; did you mean mode?",
        "stage: {}                             | stage: unknown key; did you mean stages?",
        "default: {}                           | default: unknown key; did you mean defaults?",
        "solo-flight: {}                       | did you mean soloflight?",
        "pollFallbackInterval: 1s              | did you mean poll-fallback-interval?",
        "poll-fallback-interval-millis: 1000   | did you mean poll-fallback-interval?",
        "redis: {url: 'redis://h'}             | redis.url: unknown key; did you mean redis.uri?",
        "l1: {max-entires: 5}                  | did you mean l1.max-entries?",
        "l1-ttl: 5s                            | belongs under defaults or stages.<name>",
        "result-ttl: 5s                        | belongs under defaults or stages.<name>",
        "resultTtl: 5s                         | did you mean defaults.result-ttl?",
        "defaults: {mode: local}               | defaults.mode: no key of this place; it belongs outside",
        "defaults: {reslut-ttl: 5s}            | did you mean defaults.result-ttl?",
        "stages: {a: {timeout: 5s}}            | stages.a.timeout: unknown key; did you mean stages.a.guard.timeout?",
        "stages: {a: {guard: {tiemout: 5s}}}   | did you mean stages.a.guard.timeout?",
        "stages: {a: {'<<': {}}}               | merge keys are not read",
        "defaults: {colour: red}               | unknown key; known are compression-threshold, failed-",
        "colour: red                           | unknown key; known are compression-threshold, distributed",
      })
  void an_unknown_key_is_refused_with_what_was_perhaps_meant(String yaml, String expected) {
    assertThat(faults(yaml)).singleElement().asString().contains("line 1: ", expected);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "mdoe                          | did you mean mode?",
        "stages.a.reslut-ttl           | did you mean stages.a.result-ttl?",
        "stages.a.guard.tiemout        | did you mean stages.a.guard.timeout?",
        "stages.a                      | stages.a: expected stages.<name>.<key>",
        "stages..result-ttl            | a stage's name has 1 to 100",
        "stages.a b.result-ttl         | a stage's name has 1 to 100",
        "stages.                       | expected stages.<name>.<key>",
        "stages                        | unknown key",
        "defaults.max-attemps          | did you mean defaults.max-attempts?",
      })
  void an_unknown_override_is_refused_too(String path, String expected) {
    assertThat(faults("", Map.of(path, "1")))
        .singleElement()
        .asString()
        .startsWith("set in code: ")
        .contains(expected);
  }

  // ---- combinations

  @Test
  void a_heartbeat_that_leaves_no_room_for_a_lost_beat_is_refused() {
    String yaml = "stages:\n  a:\n    heartbeat-interval: 5s\n    takeover-detect: 10s\n";

    assertThat(faults(yaml))
        .containsExactly(
            "line 3: stages.a.heartbeat-interval = 5s (line 3) must be less than half of"
                + " stages.a.takeover-detect = 10s (line 4): an owner that misses one beat is not"
                + " dead; set the first below 5s or the second above 10s");
    Loading.load("stages: {a: {heartbeat-interval: 4999ms, takeover-detect: 10s}}");
  }

  @Test
  void a_takeover_after_the_record_is_gone_is_refused() {
    assertThat(faults("stages: {a: {takeover-detect: 15s}}"))
        .containsExactly(
            "line 1: stages.a.takeover-detect = 15s (line 1) must be less than"
                + " stages.a.running-ttl = 15s (default): a dead owner's record must live until"
                + " somebody takes over; set the first below 15s or the second above 15s");
    Loading.load("stages: {a: {takeover-detect: 14999ms}}");
  }

  @Test
  void a_result_that_lives_shorter_than_a_running_record_is_refused() {
    assertThat(faults("stages: {a: {result-ttl: 14s}}"))
        .containsExactly(
            "line 1: stages.a.result-ttl = 14s (line 1) must not be less than"
                + " stages.a.running-ttl = 15s (default): an owner thought lost may come back for"
                + " that long; set the first to at least 15s or the second to at most 14s");
    Loading.load("stages: {a: {result-ttl: 15s}}");
  }

  @Test
  void a_backoff_that_outlives_the_failure_is_refused() {
    assertThat(faults("stages: {a: {retry-backoff: 1m}}"))
        .containsExactly(
            "line 1: stages.a.retry-backoff = 1m (line 1) must be less than"
                + " stages.a.failed-result-ttl = 60s (default): the failure would be forgotten"
                + " before it may be retried; set the first below 1m or the second above 1m");
    Loading.load("stages: {a: {retry-backoff: 59s}}");
  }

  @Test
  void a_combination_of_a_file_and_an_override_names_both_places() {
    assertThat(
            faults("\nstages: {a: {running-ttl: 11s}}", Map.of("defaults.takeover-detect", "12s")))
        .contains(
            "set in code: defaults.takeover-detect = 12s (set in code) must be less than"
                + " stages.a.running-ttl = 11s (line 2): a dead owner's record must live until"
                + " somebody takes over; set the first below 11s or the second above 12s");
  }

  @Test
  void the_line_is_that_of_the_key_that_somebody_wrote() {
    assertThat(faults("\n\nstages: {a: {running-ttl: 9s}}"))
        .singleElement()
        .asString()
        .startsWith("line 3: stages.a.takeover-detect = 10s (default) must be less than");
  }

  @Test
  void defaults_are_checked_even_if_no_stage_is_named() {
    assertThat(faults("defaults: {result-ttl: 1s}"))
        .anyMatch(fault -> fault.contains("stages.*.running-ttl = 15s (default)"))
        .anyMatch(fault -> fault.contains("stages.interview-followup.running-ttl = 12s (default)"));
  }

  // ---- placeholders

  @Test
  void a_missing_variable_is_refused_with_its_key_and_line() {
    assertThat(
            faults(
                "\nnamespace: ${TEAM}\nstages: {a: {running-ttl: '${TTL}', takeover-detect: 40s}}"))
        .containsExactly(
            "line 2: namespace: the environment variable TEAM is not set; set it, or give a"
                + " default: ${TEAM:default}",
            "line 3: stages.a.running-ttl: the environment variable TTL is not set; set it, or give"
                + " a default: ${TTL:default}");
  }

  @Test
  void a_value_out_of_the_environment_is_checked_like_any_other() {
    ConfigSource source =
        ConfigSource.text("a.yml", "namespace: ${TEAM}").withEnvironment(name -> "a b");

    assertThatThrownBy(() -> ConfigLoader.load(source))
        .hasMessageContaining("line 1: namespace = a b: expected");
  }

  // ---- credentials

  @ParameterizedTest
  @ValueSource(
      strings = {
        "redis: {uri: 'http://user:hunter2@cache'}",
        "redis: {uri: 'redis://:hunter2@cache:99999'}",
        "redis: {uri: 'redis://:hunter2@ca che'}",
        "redis: {uri: 'redis://:hunter2/x@cache'}",
        "redis: {uri: 'redis://:x@hunter2@cache'}",
        "redis: {uri: 'redis://:hunter2'}",
        "redis: {uri: ':hunter2@cache'}",
        "redis: {uri: 'redis://:hunter2@a,b c'}",
        "redis: {uri: 'redis://cache/x?password=hunter2'}",
        "redis: {uri: !hunter2 }",
        "redis: {uri: *hunter2 }",
        "redis: {uri: !!hunter2 x}",
        "redis: {uri: !h!hunter2 x}",
        "redis: {uri: 'hunter2}",
        "redis: {uri: \"hunter2\\q\"}",
        "redis: {uri: {password: hunter2}}",
        "redis: {password: hunter2}",
        "redis:\n  uri: redis://cache\n  hunter2\n",
        "redis:\n  uri: redis://cache\n  password: @hunter2\n",
        "redis: {uri: '${hunter2'}",
        "password: hunter2",
      })
  void credentials_never_appear(String yaml) {
    assertThat(message(yaml)).doesNotContain("hunter2").contains("line ");
    assertThat(message("soloflight:\n  " + yaml.replace("\n", "\n  "))).doesNotContain("hunter2");
  }

  @Test
  void credentials_set_in_code_never_appear() {
    assertThat(message("", Map.of("redis.uri", "redis://:hunter2@cache:0")))
        .contains("set in code: redis.uri = redis://***@cache:0: expected a port")
        .doesNotContain("hunter2");
  }
}
