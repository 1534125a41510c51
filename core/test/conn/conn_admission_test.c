/* conn_admission_test.c: what happens to a complete request if all lanes are busy. io_queue_test.c tests this
 * with real lanes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "conn/conn_admission.h"
#include "conn_transfer_case.h"
#include "support/fake_clock.h"
#include "support/fake_micros.h"

#define TIMEOUT 1000 /* ms */
#define MOST    2

static struct bb_scoreboard *scoreboard;
static struct bb__slot *slot;
static struct bb__conn_admission queue;

/* Puts `others` messages into the shared queue. Returns a connection that has a complete request for
 * `target`. */
static struct move *begin_behind(const char *target, int others)
{
    static const struct iovec word = {(char *)"", 1};
    char request[128];
    struct move *move = begin();
    assert_int_equal(bb_scoreboard_new(&scoreboard, 1), BB_OK);
    slot = bb__scoreboard_claim(scoreboard);
    move->shared_queue.turns = &scoreboard->memory->turns;
    queue = (struct bb__conn_admission){&move->shared_queue, scoreboard};
    move->from.worker->settings.queue_timeout = TIMEOUT;
    move->from.worker->settings.max_queue = MOST;
    strcpy(move->from.worker->settings.health_paths, "/up /healthz");
    move->from.context.admission = &queue;
    for (int i = 0; i < others; i++)
        assert_int_equal(bb__shared_queue_send(&move->shared_queue, bb__clock_us(), &word, 1, NULL, 0),
                         BB_OK);
    snprintf(request, sizeof request, "GET %s HTTP/1.1\r\nHost: x\r\n\r\n", target);
    say_text(move, request, BB_CONN_REQUEST);
    bb__conn_has_to_wait(move->conn);
    return move;
}

static void end_behind(struct move *move)
{
    end(move);
    bb_scoreboard_free(scoreboard);
}

static enum bb__conn_verdict turn(struct move *move)
{
    return bb__conn_admit(move->conn, &move->from.context);
}

static void pass_ms(uint64_t time)
{
    fake_clock += time;
    fake_micros = 0;
}

static void test_a_request_is_queued_while_there_is_room(void **state)
{
    (void)state;
    for (int others = 0; others < MOST; others++) {
        struct move *move = begin_behind("/", others);
        pass_ms(TIMEOUT);
        assert_int_equal(turn(move), BB_ADMIT_QUEUE);
        end_behind(move);
    }
}

/* A lane may be about to receive the first message. So the queue counts as full only if this message has
 * waited for more than 10 ms. */
static void test_a_request_is_rejected_if_the_queue_stays_full(void **state)
{
    (void)state;
    struct move *move = begin_behind("/", MOST);
    assert_false(bb__conn_queue_is_full(&move->from.context));
    assert_int_equal(turn(move), BB_ADMIT_HOLD);
    pass_ms(11);
    assert_int_equal(turn(move), BB_ADMIT_REJECT);
    assert_true(bb__conn_queue_is_full(&move->from.context));
    end_behind(move);
}

static void test_a_request_is_rejected_at_once_behind_one_that_waits_for_long(void **state)
{
    (void)state;
    struct move *move = begin_behind("/", MOST);
    pass_ms(11);
    move->conn->wait.ready_at = bb__clock_us();
    assert_int_equal(turn(move), BB_ADMIT_REJECT);
    end_behind(move);
}

static void test_idle_lanes_make_room_in_the_queue(void **state)
{
    (void)state;
    for (int more = 0; more <= 1; more++) {
        struct move *move = begin_behind("/", MOST + more);
        pass_ms(11);
        bb__scoreboard_set_idle(slot, true);
        assert_int_equal(turn(move), more == 0 ? BB_ADMIT_QUEUE : BB_ADMIT_REJECT);
        end_behind(move);
    }
}

static void test_requests_that_lanes_hold_count_as_queued(void **state)
{
    (void)state;
    struct move *move = begin_behind("/", 1);
    assert_false(bb__conn_queue_is_full_with(&move->from.context, 0));
    assert_true(bb__conn_queue_is_full_with(&move->from.context, 1));
    end_behind(move);
}

static void test_no_request_is_rejected_without_limits(void **state)
{
    (void)state;
    struct move *move = begin_behind("/", 100);
    move->from.worker->settings.max_queue = move->from.worker->settings.queue_timeout = 0;
    pass_ms(TIMEOUT);
    assert_int_equal(turn(move), BB_ADMIT_QUEUE);
    assert_false(bb__conn_queue_is_full(&move->from.context));
    assert_false(bb__conn_is_overdue(move->conn, &move->from.context));
    end_behind(move);
}

static void test_a_request_is_overdue_after_queue_timeout(void **state)
{
    (void)state;
    struct move *move = begin_behind("/", 0);
    pass_ms(TIMEOUT - 1);
    fake_micros = 999;
    assert_false(bb__conn_is_overdue(move->conn, &move->from.context));
    pass_ms(1);
    assert_true(bb__conn_is_overdue(move->conn, &move->from.context));
    end_behind(move);
}

/* The request moves through the queue to another lane. */
static void test_the_time_of_a_request_moves_with_it(void **state)
{
    (void)state;
    struct move *move = begin_behind("/", 0);
    pass_ms(TIMEOUT / 2);
    leave(move);
    pass_ms(TIMEOUT / 2);
    move->to.worker->settings.queue_timeout = TIMEOUT;
    move->to.context.admission = &queue;
    arrive(move);
    assert_int_equal(bb__conn_resume(move->conn, &move->to.context), BB_CONN_WAIT);
    assert_int_equal(move->conn->state, BB_CONN_HEAD);
    end_behind(move);
}

static void test_the_time_of_a_request_does_not_count_for_the_next_one(void **state)
{
    (void)state;
    struct move *move = begin_behind("/", 0);
    uint64_t began = bb__clock_us();
    pass_ms(TIMEOUT);
    leave(move);
    arrive(move);
    take_request(move, bb__conn_resume(move->conn, &move->to.context));
    assert_int_equal(bb__conn_waits_since(move->conn), began);
    assert_int_equal(respond(move), BB_CONN_WAIT);
    say_text(move, "GET /next HTTP/1.1\r\nHost: x\r\n\r\n", BB_CONN_REQUEST);
    assert_int_equal(bb__conn_waits_since(move->conn), 0);
    end_behind(move);
}

static void test_requests_for_health_paths_are_held(void **state)
{
    (void)state;
    static const struct {
        const char *target;
        bool is_one;
    } cases[] = {{"/up", true},
                 {"/healthz", true},
                 {"/healthz?deep", true},
                 {"http://x/up", true},
                 {"/u", false},
                 {"/upper", false},
                 {"/up/", false},
                 {"/UP", false},
                 {"/%75p", false},
                 {"/up%20/healthz", false},
                 {"/", false}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct move *move = begin_behind(cases[i].target, MOST);
        pass_ms(11);
        assert_int_equal(turn(move), cases[i].is_one ? BB_ADMIT_HOLD : BB_ADMIT_REJECT);
        end_behind(move);
    }
}

/* The connection of a health check first stays with its lane. After queue_timeout, or when a lane is idle,
 * the health check goes into the queue. */
static void test_a_health_check_waits_with_its_lane_then_in_the_queue(void **state)
{
    (void)state;
    struct move *move = begin_behind("/up", MOST);
    struct bb__conn_context *context = &move->from.context;
    pass_ms(TIMEOUT - 1);
    assert_int_equal(turn(move), BB_ADMIT_HOLD);
    pass_ms(1);
    assert_int_equal(turn(move), BB_ADMIT_QUEUE);
    assert_int_equal(bb__conn_waits_since(move->conn), bb__clock_us());
    pass_ms(TIMEOUT);
    assert_false(bb__conn_is_overdue(move->conn, context));
    bb__conn_restart_health_check(move->conn, context);
    assert_int_equal(turn(move), BB_ADMIT_HOLD);
    bb__scoreboard_set_idle(slot, true);
    assert_int_equal(turn(move), BB_ADMIT_QUEUE);
    bb__scoreboard_set_idle(slot, false);
    move->from.worker->settings.queue_timeout = 0;
    assert_int_equal(turn(move), BB_ADMIT_QUEUE); /* without queue_timeout, it is queued at once */
    end_behind(move);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_request_is_queued_while_there_is_room),
        cmocka_unit_test(test_a_request_is_rejected_if_the_queue_stays_full),
        cmocka_unit_test(test_a_request_is_rejected_at_once_behind_one_that_waits_for_long),
        cmocka_unit_test(test_idle_lanes_make_room_in_the_queue),
        cmocka_unit_test(test_requests_that_lanes_hold_count_as_queued),
        cmocka_unit_test(test_no_request_is_rejected_without_limits),
        cmocka_unit_test(test_a_request_is_overdue_after_queue_timeout),
        cmocka_unit_test(test_the_time_of_a_request_moves_with_it),
        cmocka_unit_test(test_the_time_of_a_request_does_not_count_for_the_next_one),
        cmocka_unit_test(test_requests_for_health_paths_are_held),
        cmocka_unit_test(test_a_health_check_waits_with_its_lane_then_in_the_queue),
    };
    return cmocka_run_group_tests_name("conn_admission", tests, NULL, NULL);
}
