/* lane_aside_test.c: a worker that steps aside between two requests: what it no longer hears of, what it
 * still serves, and that all is as before when it is back. */
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

static bool is_told(const struct bb_lane *lane)
{
    struct pollfd watched = {.fd = lane->set.poller.fd, .events = POLLIN};
    return poll(&watched, 1, 0) == 1;
}

static struct client *client_asks(struct host *host)
{
    struct client *client = client_new(host);
    client_say(client, REQUEST);
    return client;
}

static void assert_answered(struct client *client)
{
    assert_answer(client, 200, "GET / ");
    client_free(client);
}

/* ---- what it does not hear of ---- */

static void test_who_comes_meanwhile_is_for_others(void **state)
{
    (void)state;
    static const int families[] = {AF_UNIX, AF_INET};
    for (int family = 0; family < 2; family++) {
        struct host *host = new_host(families[family]);
        int elsewhere = dup(host->worker->listeners[0].fd);
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

static void test_who_still_waits_is_served_when_it_is_back(void **state)
{
    (void)state;
    struct host *host = new_host(AF_UNIX);
    host_settle(host);
    assert_int_equal(bb_lane_step_aside(host->lane, BB_ASIDE_IDLE), BB_OK);
    struct client *client = client_asks(host);
    assert_false(is_told(host->lane));
    bb_lane_step_back(host->lane);
    bb_lane_step_back(host->lane);
    assert_true(is_told(host->lane));
    assert_answered(client);
    host_free(host);
}

/* The host's lane is aside. */
static void assert_told_when_it_is_back(struct host *host, struct bb_lane *second)
{
    struct client *client = client_asks(host);
    assert_false(is_told(second));
    bb_lane_step_back(host->lane);
    assert_true(is_told(second));
    assert_answered(client);
    bb_lane_free(second);
    host_free(host);
}

static void test_no_lane_of_the_worker_hears_of_it(void **state)
{
    (void)state;
    struct host *host = new_host(AF_UNIX);
    struct bb_lane *second = second_lane(host);
    host_settle(host);
    wait_without_events(second);
    assert_int_equal(bb_lane_step_aside(host->lane, BB_ASIDE_IDLE), BB_OK);
    assert_told_when_it_is_back(host, second);
}

/* Made, or resuming after a pause, while another is aside. */
static void test_a_lane_that_begins_to_listen_meanwhile(void **state)
{
    (void)state;
    struct host *host = new_host(AF_UNIX);
    host_settle(host);
    assert_int_equal(bb_lane_step_aside(host->lane, BB_ASIDE_IDLE), BB_OK);
    assert_told_when_it_is_back(host, second_lane(host));
}

/* ---- what it still serves ---- */

static void test_what_was_accepted_is_served(void **state)
{
    (void)state;
    struct host *host = new_host(AF_UNIX);
    struct client *client = client_asks(host);
    assert_answer(client, 200, "GET / ");
    host_settle(host);
    assert_int_equal(bb_lane_step_aside(host->lane, BB_ASIDE_IDLE), BB_OK);
    client_say(client, REQUEST);
    assert_answered(client);
    bb_lane_step_back(host->lane);
    host_settle_to(host, 0);
    host_free(host);
}

/* ---- when it does not ---- */

static void test_not_before_what_has_come_is_served(void **state)
{
    (void)state;
    struct host *host = new_host(AF_UNIX);
    struct bb_lane *second = second_lane(host);
    struct client *kept = client_asks(host);
    assert_answer(kept, 200, "GET / ");
    host_settle(host);
    wait_without_events(second);

    client_say(kept, REQUEST);
    assert_int_equal(bb_lane_step_aside(host->lane, BB_ASIDE_IDLE), BB_AGAIN);
    assert_answer(kept, 200, "GET / ");
    host_settle(host);

    struct client *queued = client_asks(host); /* the second lane may be the only one that was woken for it */
    assert_int_equal(bb_lane_step_aside(host->lane, BB_ASIDE_IDLE), BB_AGAIN);
    assert_true(is_told(second));
    assert_answered(queued);
    client_free(kept);
    bb_lane_free(second);
    host_settle_to(host, 0);
    host_free(host);
}

static void test_not_while_another_lane_serves(void **state)
{
    (void)state;
    struct host *host = new_host(AF_UNIX);
    struct bb_lane *second = second_lane(host);
    host_settle(host);
    assert_int_equal(bb_lane_step_aside(host->lane, BB_ASIDE_IDLE), BB_AGAIN);
    wait_without_events(second);
    assert_int_equal(bb_lane_step_aside(host->lane, BB_ASIDE_IDLE), BB_OK);
    assert_int_equal(bb_lane_step_aside(second, BB_ASIDE_ANYWAY), BB_AGAIN);
    bb_lane_step_back(second); /* it is not the one */
    struct client *client = client_asks(host);
    assert_false(is_told(host->lane));
    bb_lane_step_back(host->lane);
    assert_answered(client);
    bb_lane_free(second);
    host_free(host);
}

static void test_anyway(void **state)
{
    (void)state;
    struct host *host = new_host(AF_UNIX);
    struct bb_lane *second = second_lane(host); /* as if it served */
    struct client *client = client_asks(host);
    assert_int_equal(bb_lane_step_aside(host->lane, BB_ASIDE_IDLE), BB_AGAIN);
    assert_int_equal(bb_lane_step_aside(host->lane, BB_ASIDE_ANYWAY), BB_OK);
    assert_false(is_told(second));
    bb_lane_step_back(host->lane);
    assert_answered(client);
    bb_lane_free(second);
    host_free(host);
}

/* ---- what the I/O thread has meanwhile ---- */

static struct host *new_host_with_io_thread(void)
{
    struct host *host = new_host(AF_UNIX);
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

/* Behind the request that was served last. */
static void test_what_is_pipelined_is_passed_on(void **state)
{
    (void)state;
    struct host *host = new_host_with_io_thread();
    struct client *client = client_asks(host);
    assert_answer(client, 200, "GET / ");
    client_say(client, REQUEST REQUEST);
    serve_one(host);
    assert_int_equal(bb_lane_step_aside(host->lane, BB_ASIDE_ANYWAY), BB_OK);
    client_say(client, REQUEST);
    while (atomic_load(&host->worker->connections) > 0) sched_yield();
    bb_lane_step_back(host->lane);
    for (int answers = 0; answers < 2; answers++) assert_answer(client, 200, "GET / ");
    assert_answered(client);
    host_free(host);
}

/* ---- who is nudged ---- */

/* A lane that stands back may have been told of a nudge before: it is for others. */
static void test_a_nudge_is_handed_on(void **state)
{
    (void)state;
    struct host *host = new_host(AF_UNIX);
    struct bb__shared_queue *shared_queue = &host->worker->shared_queue;
    char bytes[BB_SHARED_QUEUE_BYTES];
    struct bb__shared_message message;
    const struct bb_request *request;
    bb__shared_queue_nudge(shared_queue);
    wait_without_events(host->lane);
    struct client *client = client_asks(host);
    bb__worker_pause_accepting(host->worker, true);
    assert_int_equal(bb__shared_queue_take(shared_queue, bytes, &message),
                     BB_OK); /* somebody has been quicker */
    assert_int_equal(bb_lane_next(host->lane, &request), BB_AGAIN);
    assert_int_equal(bb__shared_queue_take(shared_queue, bytes, &message), BB_OK);
    assert_int_equal(bb__shared_queue_take(shared_queue, bytes, &message), BB_AGAIN);
    bb__worker_pause_accepting(host->worker, false);
    assert_answered(client);
    host_free(host);
}

/* ---- ends ---- */

static void test_a_drain_comes_meanwhile(void **state)
{
    (void)state;
    struct host *host = new_host(AF_UNIX);
    host_settle(host);
    assert_int_equal(bb_lane_step_aside(host->lane, BB_ASIDE_IDLE), BB_OK);
    struct client *client = client_asks(host);
    bb_worker_drain(host->worker, BB_QUEUE_TAKE);
    bb_lane_step_back(host->lane);
    assert_int_equal(bb_lane_step_aside(host->lane, BB_ASIDE_ANYWAY), BB_AGAIN);
    assert_last_answer(client, "GET / ");
    assert_drained(host);
}

static void test_a_lane_ends_meanwhile(void **state)
{
    (void)state;
    struct host *host = new_host(AF_UNIX);
    struct bb_lane *second = second_lane(host);
    host_settle(host);
    assert_int_equal(bb_lane_step_aside(second, BB_ASIDE_ANYWAY), BB_OK);
    struct client *client = client_asks(host);
    assert_false(is_told(host->lane));
    bb_lane_free(second);
    assert_answered(client);
    host_free(host);
}

/* Nobody of the worker accepts until there is room again, and then all do. */
static void test_no_room_to_come_back(void **state)
{
    (void)state;
    struct host *host = new_host(AF_UNIX);
    struct bb_lane *second = second_lane(host);
    host_settle(host);
    assert_int_equal(bb_lane_step_aside(second, BB_ASIDE_ANYWAY), BB_OK);
    struct client *client = client_asks(host);
    fail_socket.watch_error = ENOSPC;
    bb_lane_step_back(second);
    assert_true(is_told(host->lane));
    host_settle(host);
    assert_int_equal(host->served, 0);
    fail_socket.watch_error = 0;
    host_settle(host);
    assert_int_equal(host->served, 0);
    fake_clock_advance(200);
    assert_answered(client);
    bb_lane_free(second);
    host_free(host);
}

/* It has its own time to come back. */
static void test_a_lane_that_pauses_is_left_alone(void **state)
{
    (void)state;
    static const int no_room[] = {EMFILE, EMFILE, 0};
    struct host *host = new_host(AF_UNIX);
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
    assert_true(is_told(second));
    assert_false(is_told(host->lane));
    fake_clock_advance(200);
    assert_answered(client);
    assert_false(slot->paused);
    bb_lane_free(second);
    host_free(host);
    bb_scoreboard_free(scoreboard);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_who_comes_meanwhile_is_for_others),
        cmocka_unit_test(test_who_still_waits_is_served_when_it_is_back),
        cmocka_unit_test(test_no_lane_of_the_worker_hears_of_it),
        cmocka_unit_test(test_a_lane_that_begins_to_listen_meanwhile),
        cmocka_unit_test(test_what_was_accepted_is_served),
        cmocka_unit_test(test_not_before_what_has_come_is_served),
        cmocka_unit_test(test_not_while_another_lane_serves),
        cmocka_unit_test(test_anyway),
        cmocka_unit_test(test_what_is_pipelined_is_passed_on),
        cmocka_unit_test(test_a_nudge_is_handed_on),
        cmocka_unit_test(test_a_drain_comes_meanwhile),
        cmocka_unit_test(test_a_lane_ends_meanwhile),
        cmocka_unit_test(test_no_room_to_come_back),
        cmocka_unit_test(test_a_lane_that_pauses_is_left_alone),
    };
    return cmocka_run_group_tests_name("lane_aside", tests, NULL, NULL);
}
