package dev.soloflight.chaos;

import static org.assertj.core.api.Assertions.assertThat;

import dev.soloflight.chaos.Findings.Kind;
import org.junit.jupiter.api.Test;

/** Histories that break one promise each, and the same ones with a reason for it. */
class HistoryCheckerTest {
  private final Story story = new Story();

  private void broken(Kind kind, String what) {
    HistoryChecker checked = story.check();
    assertThat(checked.findings().violations())
        .anySatisfy(
            violation -> {
              assertThat(violation.kind()).isEqualTo(kind);
              assertThat(violation.what()).contains(what);
            });
    assertThat(checked.report()).contains(what);
  }

  private void kept() {
    HistoryChecker checked = story.check();
    assertThat(checked.report()).isEmpty();
    assertThat(checked.passed()).isTrue();
  }

  @Test
  void one_execution_whose_value_everybody_gets_is_right() {
    story
        .asked(90, "b", "b1")
        .executed(100, 200, "a", "x", 10)
        .answered(210, "b", "b1", "FOLLOWED", 10, "x")
        .served(300, "c", "c1", "REPLAYED", 10, "x")
        .served(350, "c", "c2", "REPLAYED_L1", 10, "x");
    kept();
    assertThat(story.check().line(7))
        .isEqualTo(
            "chaos: seed=7 faults=0 calls=4 executions=1 duplicates=0 (explained=0) wrong=0 lost=0"
                + " stuck=0 ttl-less=0");
  }

  @Test
  void a_second_execution_after_the_records_life_is_right() {
    story.executed(100, 200, "a", "x", 10).executed(3_300, 3_400, "b", "y", 20);
    kept();
  }

  @Test
  void overlapping_executions_are_wrong() {
    story.executed(100, 900, "a", "x", 10).executed(800, 850, "b", "y", 20);
    broken(Kind.WRONG, "execution y (token 20, attempt 1, OK) began although execution x");
  }

  @Test
  void overlapping_executions_are_explained_by_a_paused_owner() {
    story
        .executed(100, 2_100, "a", "x", 10)
        .executed(1_000, 1_100, "b", "y", 20)
        .fault(300, 1_900, FaultKind.PAUSE_NODE, "node=a");
    kept();
    assertThat(story.check().findings().explained()).isEqualTo(1);
  }

  @Test
  void overlapping_executions_are_not_explained_by_another_nodes_pause() {
    story
        .executed(100, 2_100, "a", "x", 10)
        .executed(1_000, 1_100, "b", "y", 20)
        .fault(300, 1_900, FaultKind.PAUSE_NODE, "node=c");
    broken(Kind.WRONG, "nothing explains it");
  }

  @Test
  void a_second_execution_within_the_records_life_is_wrong() {
    story.executed(100, 200, "a", "x", 10).executed(3_100, 3_150, "b", "y", 20);
    broken(Kind.WRONG, "nothing explains it");
  }

  @Test
  void a_second_execution_is_explained_by_a_lost_record_of_this_flight_alone() {
    story.executed(100, 200, "a", "x", 10).executed(3_000, 3_050, "b", "y", 20);
    story.fault(1_000, 1_001, FaultKind.DELETE, "key=other");
    broken(Kind.WRONG, "nothing explains it");
    story.fault(1_100, 1_101, FaultKind.DELETE, "key=k");
    kept();
  }

  @Test
  void a_second_execution_is_explained_by_a_forget() {
    story
        .executed(100, 200, "a", "x", 10)
        .forgotten(900, 910, "c")
        .executed(1_000, 1_050, "b", "y", 20);
    kept();
  }

  @Test
  void a_fault_that_must_not_matter_explains_nothing() {
    story.executed(100, 200, "a", "x", 10).executed(3_000, 3_050, "b", "y", 20);
    story.fault(1_000, 1_001, FaultKind.SCRIPT_FLUSH, "");
    broken(Kind.WRONG, "nothing explains it");
  }

  @Test
  void a_fault_long_past_explains_nothing() {
    story.fault(100, 200, FaultKind.REDIS_PAUSE, "");
    story.executed(5_100, 5_200, "a", "x", 10).executed(6_000, 6_050, "b", "y", 20);
    broken(Kind.WRONG, "nothing explains it");
  }

  @Test
  void a_failure_that_may_be_tried_again_is_followed_by_another_execution() {
    story
        .asked(98, "a", "a1")
        .began(100, "a", "x", "a1", 10)
        .ended(200, "a", "x", "RETRYABLE", 10)
        .line(202, "ANSWERED a call=a1 error=FlightFailedException code=BUSY exec=x")
        .executed(300, 400, "b", "y", 20);
    kept();
  }

  @Test
  void a_failure_for_good_is_not_followed_by_another_execution() {
    story
        .asked(98, "a", "a1")
        .began(100, "a", "x", "a1", 10)
        .ended(200, "a", "x", "FAILED", 10)
        .line(202, "ANSWERED a call=a1 error=IllegalStateException exec=x")
        .executed(300, 400, "b", "y", 20);
    broken(Kind.WRONG, "nothing explains it");
  }

  @Test
  void a_run_without_a_record_needs_a_redis_out_of_reach() {
    story.executed(100, 200, "a", "x", 0);
    broken(Kind.WRONG, "ran without a record although Redis could be reached");
    story.fault(50, 150, FaultKind.REDIS_STOP, "");
    kept();
  }

  @Test
  void an_ownership_lost_for_no_reason_is_wrong() {
    story.executed(100, 900, "a", "x", 10).line(500, "LOST a exec=x");
    broken(Kind.WRONG, "lost its ownership for no reason");
  }

  @Test
  void an_answer_nobody_computed_is_wrong() {
    story.executed(100, 200, "a", "x", 10).served(300, "b", "b1", "REPLAYED", 10, "ghost");
    broken(Kind.WRONG, "nobody computed: ghost");
  }

  @Test
  void an_answer_before_its_execution_has_ended_is_wrong() {
    story.executed(100, 500, "a", "x", 10).served(300, "b", "b1", "REPLAYED", 10, "x");
    broken(Kind.WRONG, "nobody computed: x");
  }

  @Test
  void an_answer_of_another_flight_is_wrong() {
    story
        .executed(100, 200, "a", "x", 10)
        .line(300, "ASKED b call=b1 key=other deadline=9000000000")
        .answered(310, "b", "b1", "REPLAYED", 10, "x");
    broken(Kind.WRONG, "nobody computed: x");
  }

  @Test
  void a_damaged_answer_is_wrong() {
    story
        .executed(100, 200, "a", "x", 10)
        .asked(300, "b", "b1")
        .line(310, "ANSWERED b call=b1 source=REPLAYED token=10 exec=x hash=damaged");
    broken(Kind.WRONG, "not what execution x");
  }

  @Test
  void an_answer_long_after_its_records_end_is_wrong() {
    story.executed(100, 200, "a", "x", 10).served(12_000, "b", "b1", "REPLAYED", 10, "x");
    broken(Kind.WRONG, "ms after its end");
  }

  @Test
  void a_forgotten_value_served_is_wrong() {
    story
        .executed(100, 200, "a", "x", 10)
        .forgotten(400, 410, "b")
        .served(420, "b", "b1", "REPLAYED", 10, "x");
    broken(Kind.WRONG, "and got the forgotten execution x");
  }

  @Test
  void a_forgotten_value_may_stay_for_a_while_in_another_nodes_l1() {
    story
        .executed(100, 200, "a", "x", 10)
        .forgotten(400, 410, "b")
        .served(1_000, "a", "a1", "REPLAYED_L1", 10, "x");
    kept();
    story.served(2_500, "a", "a2", "REPLAYED_L1", 10, "x");
    broken(Kind.WRONG, "and got the forgotten execution x");
  }

  @Test
  void who_had_asked_before_the_forget_may_get_the_forgotten_value() {
    story
        .asked(150, "a", "a1")
        .executed(100, 900, "a", "x", 10)
        .forgotten(400, 410, "b")
        .answered(905, "a", "a1", "SHARED", 10, "x");
    kept();
  }

  @Test
  void a_token_that_does_not_grow_is_wrong() {
    story.executed(100, 200, "a", "x", 10).executed(3_300, 3_400, "b", "y", 9);
    broken(Kind.WRONG, "its token is not greater");
  }

  @Test
  void two_owners_with_one_token_are_wrong() {
    story.executed(100, 200, "a", "x", 10).executed(3_300, 3_400, "b", "y", 10);
    broken(Kind.WRONG, "has the same token");
  }

  @Test
  void a_lost_owners_outcome_after_its_successors_is_wrong() {
    story
        .fault(150, 1_900, FaultKind.PAUSE_NODE, "node=a")
        .executed(100, 2_100, "a", "x", 10)
        .executed(1_000, 1_100, "b", "y", 20)
        .served(1_200, "c", "c1", "REPLAYED", 20, "y");
    kept();
    story.served(2_200, "c", "c2", "REPLAYED", 10, "x");
    broken(Kind.WRONG, "although call c1 had token 20");
  }

  @Test
  void a_missed_deadline_is_stuck() {
    story.asked(100, "a", "a1").failed(5_100 + 1_200, "a", "a1", "FlightTimeoutException");
    broken(Kind.STUCK, "1200 ms after its deadline");
  }

  @Test
  void a_deadline_missed_by_a_paused_node_is_not_missed() {
    story
        .asked(100, "a", "a1")
        .failed(6_300, "a", "a1", "FlightTimeoutException")
        .fault(4_000, 6_200, FaultKind.PAUSE_NODE, "node=a");
    kept();
  }

  @Test
  void a_timeout_before_the_deadline_is_wrong() {
    story.asked(100, "a", "a1").failed(2_000, "a", "a1", "FlightTimeoutException");
    broken(Kind.WRONG, "timed out before its deadline");
  }

  @Test
  void an_error_that_is_not_promised_is_wrong() {
    story.asked(100, "a", "a1").failed(110, "a", "a1", "NullPointerException");
    broken(Kind.WRONG, "failed with NullPointerException");
  }

  @Test
  void a_call_without_an_answer_is_lost_unless_its_node_was_killed() {
    story.asked(100, "a", "a1");
    broken(Kind.LOST, "call a1 was never answered");
    story.fault(200, 201, FaultKind.KILL_NODE, "node=a");
    kept();
  }

  @Test
  void a_paid_result_that_its_caller_does_not_get_is_lost() {
    story
        .asked(98, "a", "a1")
        .began(100, "a", "x", "a1", 10)
        .ended(5_110, "a", "x", "OK", 10)
        .failed(5_120, "a", "a1", "FlightTimeoutException");
    broken(Kind.LOST, "got FlightTimeoutException instead of its result");
  }

  @Test
  void a_dead_owner_whose_successor_comes_late_is_stuck() {
    story
        .asked(98, "a", "a1")
        .began(100, "a", "x", "a1", 10)
        .asked(200, "b", "b1")
        .fault(1_000, 1_001, FaultKind.KILL_NODE, "node=a")
        .began(2_500, "b", "y", "b1", 20)
        .ended(2_600, "b", "y", "OK", 20)
        .answered(2_610, "b", "b1", "EXECUTED", 20, "y");
    broken(Kind.STUCK, "nobody took over");
  }

  @Test
  void a_dead_owner_is_replaced_in_time() {
    story
        .asked(98, "a", "a1")
        .began(100, "a", "x", "a1", 10)
        .asked(200, "b", "b1")
        .fault(1_000, 1_001, FaultKind.KILL_NODE, "node=a")
        .began(1_600, "b", "y", "b1", 20)
        .ended(1_700, "b", "y", "OK", 20)
        .answered(1_710, "b", "b1", "EXECUTED", 20, "y");
    kept();
    assertThat(story.check().findings().takeoversTimed()).isEqualTo(1);
  }

  @Test
  void a_key_without_a_ttl_counts() {
    story.line(500, "ETERNAL driver name=soloflight:x");
    broken(Kind.TTL_LESS, "soloflight:x");
  }

  @Test
  void a_key_that_is_left_counts() {
    story.keysLeft(1);
    broken(Kind.STUCK, "keys left in Redis at the end: 1");
  }
}
