/* lane_aside_test.c: bb_lane_step_aside(): a worker accepts no connections while its host (the program that
 * calls the core) does out-of-band work between two requests. Tests which events the worker does not get,
 * which requests a lane (a thread of the host) still serves, and that the worker gets all events again after
 * bb_lane_step_back(). */
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "drain_case.h"
#include "support/fail_socket.h"
#include "support/fake_clock.h"

static struct bb_lane *second_lane(struct host *host)
{
    struct bb_lane *lane;
    assert_int_equal(bb_lane_new(&lane, host->worker), BB_OK);
    return lane;
}

static void wait_without_events(struct bb_lane *lane)
{
    bb_lane_wake(lane);
    assert_int_equal(bb_lane_wait(lane), BB_OK);
}

static bool is_woken(struct bb_lane *lane)
{
    return lane_has_events(lane);
}

static struct client *client_asks(struct host *host)
{
    struct client *client = client_new(host);
    client_say(client, REQUEST);
    return client;
}

static void assert_responded(struct client *client)
{
    assert_response(client, 200, "GET / ");
    client_free(client);
}

/* ---- events that the worker does not get ---- */

static void test_a_client_that_connects_meanwhile_is_left_to_others(void **state)
{
    (void)state;
    static const int families[] = {AF_UNIX, AF_INET};
    for (int family = 0; family < 2; family++) {
        struct host *host = host_new_default(families[family]);
        int elsewhere = dup(host->worker->listen.listeners[0].fd);
        host_settle(host);
        assert_int_equal(bb_lane_step_aside(host->lane, BB_ASIDE_IDLE), BB_OK);
        struct client *client = client_asks(host);
        host_settle(host);
        assert_int_equal(host->served, 0);
        int accepted = accept(elsewhere, NULL, NULL);
        assert_true(accepted >= 0);
        bb_lane_step_back(host->lane);
        close(accepted);
        close(elsewhere);
        client_free(client);
        host_free(host);
    }
}

static void test_a_client_that_still_waits_is_served_after_the_step_back(void **state)
{
    (void)state;
    struct host *host = host_new_default(AF_UNIX);
    host_settle(host);
    assert_int_equal(bb_lane_step_aside(host->lane, BB_ASIDE_IDLE), BB_OK);
    struct client *client = client_asks(host);
    assert_false(is_woken(host->lane));
    bb_lane_step_back(host->lane);
    bb_lane_step_back(host->lane);
    assert_true(is_woken(host->lane));
    assert_responded(client);
    host_free(host);
}

/* Asserts that no lane accepts a client until host->lane steps back. */
static void assert_woken_when_it_is_back(struct host *host, struct bb_lane *second)
{
    struct client *client = client_asks(host);
    assert_false(is_woken(second));
    bb_lane_step_back(host->lane);
    assert_true(is_woken(second));
    assert_responded(client);
    bb_lane_free(second);
    host_free(host);
}

static void test_no_lane_of_the_worker_is_woken_by_a_new_connection(void **state)
{
    (void)state;
    struct host *host = host_new_default(AF_UNIX);
    struct bb_lane *second = second_lane(host);
    host_settle(host);
    wait_without_events(second);
    assert_int_equal(bb_lane_step_aside(host->lane, BB_ASIDE_IDLE), BB_OK);
    assert_woken_when_it_is_back(host, second);
}

/* The second lane is created while the first lane has stepped aside. */
static void test_a_lane_that_begins_meanwhile_does_not_listen(void **state)
{
    (void)state;
    struct host *host = host_new_default(AF_UNIX);
    host_settle(host);
    assert_int_equal(bb_lane_step_aside(host->lane, BB_ASIDE_IDLE), BB_OK);
    assert_woken_when_it_is_back(host, second_lane(host));
}

/* ---- requests that the lane still serves ---- */

static void test_an_accepted_connection_is_served_meanwhile(void **state)
{
    (void)state;
    struct host *host = host_new_default(AF_UNIX);
    struct client *client = client_asks(host);
    assert_response(client, 200, "GET / ");
    host_settle(host);
    assert_int_equal(bb_lane_step_aside(host->lane, BB_ASIDE_IDLE), BB_OK);
    client_say(client, REQUEST);
    assert_responded(client);
    bb_lane_step_back(host->lane);
    host_settle_to(host, 0);
    host_free(host);
}

/* ---- when a lane does not step aside ---- */

static void test_a_lane_does_not_step_aside_while_requests_wait(void **state)
{
    (void)state;
    struct host *host = host_new_default(AF_UNIX);
    struct bb_lane *second = second_lane(host);
    struct client *kept = client_asks(host);
    assert_response(kept, 200, "GET / ");
    host_settle(host);
    wait_without_events(second);

    client_say(kept, REQUEST);
    assert_int_equal(bb_lane_step_aside(host->lane, BB_ASIDE_IDLE), BB_AGAIN);
    assert_response(kept, 200, "GET / ");
    host_settle(host);

    struct client *queued = client_asks(host); /* the kernel may have woken only the second lane */
    assert_int_equal(bb_lane_step_aside(host->lane, BB_ASIDE_IDLE), BB_AGAIN);
    assert_true(is_woken(second));
    assert_responded(queued);
    client_free(kept);
    bb_lane_free(second);
    host_settle_to(host, 0);
    host_free(host);
}

static void test_a_lane_does_not_step_aside_while_another_lane_serves(void **state)
{
    (void)state;
    struct host *host = host_new_default(AF_UNIX);
    struct bb_lane *second = second_lane(host);
    host_settle(host);
    assert_int_equal(bb_lane_step_aside(host->lane, BB_ASIDE_IDLE), BB_AGAIN);
    wait_without_events(second);
    assert_int_equal(bb_lane_step_aside(host->lane, BB_ASIDE_IDLE), BB_OK);
    assert_int_equal(bb_lane_step_aside(second, BB_ASIDE_ANYWAY), BB_AGAIN);
    bb_lane_step_back(second); /* no effect: the lane has not stepped aside */
    struct client *client = client_asks(host);
    assert_false(is_woken(host->lane));
    bb_lane_step_back(host->lane);
    assert_responded(client);
    bb_lane_free(second);
    host_free(host);
}

static void test_a_lane_can_step_aside_although_another_lane_serves(void **state)
{
    (void)state;
    struct host *host = host_new_default(AF_UNIX);
    struct bb_lane *second = second_lane(host); /* has not waited yet, so it counts as busy */
    struct client *client = client_asks(host);
    assert_int_equal(bb_lane_step_aside(host->lane, BB_ASIDE_IDLE), BB_AGAIN);
    assert_int_equal(bb_lane_step_aside(host->lane, BB_ASIDE_ANYWAY), BB_OK);
    assert_false(is_woken(second));
    bb_lane_step_back(host->lane);
    assert_responded(client);
    bb_lane_free(second);
    host_free(host);
}

/* ---- connections of a lane that has stepped aside ---- */

static struct host *new_host_with_io_thread(void)
{
    struct host *host = host_new_default(AF_UNIX);
    bb_lane_free(host->lane);
    assert_int_equal(bb_worker_start_io_thread(host->worker), BB_OK);
    assert_int_equal(bb_lane_new(&host->lane, host->worker), BB_OK);
    return host;
}

static void serve_one(struct host *host)
{
    const struct bb_request *request;
    wait_without_events(host->lane);
    assert_int_equal(bb_lane_next(host->lane, &request), BB_OK);
    app_echo(host, request);
}

/* The client has pipelined requests behind the last request that the lane has served. The I/O thread puts the
 * connection into the shared queue. */
static void test_pipelined_requests_are_passed_on_meanwhile(void **state)
{
    (void)state;
    struct host *host = new_host_with_io_thread();
    struct client *client = client_asks(host);
    assert_response(client, 200, "GET / ");
    client_say(client, REQUEST REQUEST);
    serve_one(host);
    assert_int_equal(bb_lane_step_aside(host->lane, BB_ASIDE_ANYWAY), BB_OK);
    client_say(client, REQUEST);
    while (atomic_load(&host->worker->room.connections) > 0) sched_yield();
    bb_lane_step_back(host->lane);
    for (int responses = 0; responses < 2; responses++) assert_response(client, 200, "GET / ");
    assert_responded(client);
    host_free(host);
}

/* ---- nudges ---- */

/* A nudge (an empty message in the shared queue) wakes the lane before accepting is paused. The lane must
 * send another nudge, for another lane. */
static void test_a_nudge_is_passed_on_while_accepting_is_paused(void **state)
{
    (void)state;
    struct host *host = host_new_default(AF_UNIX);
    struct bb__shared_queue *shared_queue = &host->worker->shared.queue;
    char bytes[BB_SHARED_QUEUE_BYTES];
    struct bb__shared_message message;
    const struct bb_request *request;
    bb__shared_queue_nudge(shared_queue);
    wait_without_events(host->lane);
    struct client *client = client_asks(host);
    bb__worker_pause_accepting(host->worker, true);
    assert_int_equal(bb__shared_queue_take(shared_queue, bytes, &message),
                     BB_OK); /* as if another lane had received the nudge */
    assert_int_equal(bb_lane_next(host->lane, &request), BB_AGAIN);
    assert_int_equal(bb__shared_queue_take(shared_queue, bytes, &message), BB_OK);
    assert_int_equal(bb__shared_queue_take(shared_queue, bytes, &message), BB_AGAIN);
    bb__worker_pause_accepting(host->worker, false);
    assert_responded(client);
    host_free(host);
}

/* ---- the end of a worker or a lane ---- */

static void test_a_drain_ends_the_step_aside(void **state)
{
    (void)state;
    struct host *host = host_new_default(AF_UNIX);
    host_settle(host);
    assert_int_equal(bb_lane_step_aside(host->lane, BB_ASIDE_IDLE), BB_OK);
    struct client *client = client_asks(host);
    bb_worker_drain(host->worker, BB_QUEUE_TAKE);
    bb_lane_step_back(host->lane);
    assert_int_equal(bb_lane_step_aside(host->lane, BB_ASIDE_ANYWAY), BB_AGAIN);
    assert_last_response(client, "GET / ");
    assert_drained(host);
}

static void test_the_end_of_the_lane_ends_the_step_aside(void **state)
{
    (void)state;
    struct host *host = host_new_default(AF_UNIX);
    struct bb_lane *second = second_lane(host);
    host_settle(host);
    assert_int_equal(bb_lane_step_aside(second, BB_ASIDE_ANYWAY), BB_OK);
    struct client *client = client_asks(host);
    assert_false(is_woken(host->lane));
    bb_lane_free(second);
    assert_responded(client);
    host_free(host);
}

/* No descriptor can be watched when the lane steps back (ENOSPC). No lane of the worker accepts until a later
 * attempt to step back succeeds. Then all lanes accept. */
static void test_a_step_back_without_room_is_made_later(void **state)
{
    (void)state;
    struct host *host = host_new_default(AF_UNIX);
    struct bb_lane *second = second_lane(host);
    host_settle(host);
    assert_int_equal(bb_lane_step_aside(second, BB_ASIDE_ANYWAY), BB_OK);
    struct client *client = client_asks(host);
    fail_socket.watch_error = ENOSPC;
    bb_lane_step_back(second);
    assert_true(is_woken(host->lane));
    host_settle(host);
    assert_int_equal(host->served, 0);
    fail_socket.watch_error = 0;
    host_settle(host);
    assert_int_equal(host->served, 0);
    fake_clock_advance(200);
    assert_responded(client);
    bb_lane_free(second);
    host_free(host);
}

/* host->lane has paused accepting (EMFILE). Only host->lane itself ends this pause. */
static void test_a_step_back_does_not_end_the_pause_of_another_lane(void **state)
{
    (void)state;
    static const int no_room[] = {EMFILE, EMFILE, 0};
    struct host *host = host_new_default(AF_UNIX);
    struct bb_scoreboard *scoreboard;
    assert_int_equal(bb_scoreboard_new(&scoreboard, 2), BB_OK);
    bb_worker_scoreboard(host->worker, scoreboard);
    struct bb__slot *slot = host->lane->intake.slot = bb__scoreboard_claim(scoreboard);
    struct client *client = client_asks(host);
    fail_socket.accept_errors = no_room;
    host_settle(host);
    fail_socket.accept_errors = NULL;
    assert_int_equal(host->served, 0);
    assert_true(slot->paused);
    struct bb_lane *second = second_lane(host);
    assert_int_equal(bb_lane_step_aside(second, BB_ASIDE_ANYWAY), BB_OK);
    bb_lane_step_back(second);
    assert_true(is_woken(second));
    assert_false(is_woken(host->lane));
    fake_clock_advance(200);
    assert_responded(client);
    assert_false(slot->paused);
    bb_lane_free(second);
    host_free(host);
    bb_scoreboard_free(scoreboard);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_client_that_connects_meanwhile_is_left_to_others),
        cmocka_unit_test(test_a_client_that_still_waits_is_served_after_the_step_back),
        cmocka_unit_test(test_no_lane_of_the_worker_is_woken_by_a_new_connection),
        cmocka_unit_test(test_a_lane_that_begins_meanwhile_does_not_listen),
        cmocka_unit_test(test_an_accepted_connection_is_served_meanwhile),
        cmocka_unit_test(test_a_lane_does_not_step_aside_while_requests_wait),
        cmocka_unit_test(test_a_lane_does_not_step_aside_while_another_lane_serves),
        cmocka_unit_test(test_a_lane_can_step_aside_although_another_lane_serves),
        cmocka_unit_test(test_pipelined_requests_are_passed_on_meanwhile),
        cmocka_unit_test(test_a_nudge_is_passed_on_while_accepting_is_paused),
        cmocka_unit_test(test_a_drain_ends_the_step_aside),
        cmocka_unit_test(test_the_end_of_the_lane_ends_the_step_aside),
        cmocka_unit_test(test_a_step_back_without_room_is_made_later),
        cmocka_unit_test(test_a_step_back_does_not_end_the_pause_of_another_lane),
    };
    return cmocka_run_group_tests_name("lane_aside", tests, NULL, NULL);
}
