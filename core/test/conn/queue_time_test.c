/* queue_time_test.c: how long a request has waited (its queue time) when the host, the program that calls the
 * core, gets the request. test/ext tests requests that the I/O thread has read. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "lane/accept_case.h"
#include "support/fake_clock.h"
#include "support/fake_micros.h"

#define EACH_TAKES 5 /* ms per request */
#define WAITED     (EACH_TAKES * UINT64_C(1000))

#define GET "GET / HTTP/1.1\r\nHost: x\r\n\r\n"

static uint64_t times[64];

static void app_takes_its_time(struct host *host, const struct bb_request *request)
{
    times[host->served - 1] = request->queue_time;
    fake_clock_advance(EACH_TAKES);
    host_respond(host, 200, "", 0);
}

/* A host with `count` persistent connections. times[0] is the queue time of the next request that is
 * served. */
static struct host *new_timed_host(struct client **clients, unsigned count)
{
    struct host *host = new_host(0);
    for (unsigned i = 0; i < count; i++) clients[i] = new_served(host);
    host_settle(host);
    host->served = 0;
    host->app = app_takes_its_time;
    fake_micros = 0;
    return host;
}

static void free_all(struct host *host, struct client **clients, unsigned count)
{
    for (unsigned i = 0; i < count; i++) client_free(clients[i]);
    host_free(host);
}

static void assert_times(struct host *host, unsigned count, const uint64_t *expected)
{
    host_settle(host);
    assert_int_equal(host->served, count);
    for (unsigned i = 0; i < count; i++) assert_int_equal(times[i], expected[i]);
}

static void test_a_request_that_is_read_and_served_at_once_has_not_waited(void **state)
{
    (void)state;
    struct client *clients[1];
    struct host *host = new_timed_host(clients, 1);
    client_say(clients[0], "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n\r\n1");
    host_settle(host);
    fake_clock_advance(100);
    client_say(clients[0], "2");
    host_settle(host);
    fake_clock_advance(100);
    client_say(clients[0], "3");
    assert_times(host, 1, (uint64_t[]){0});
    free_all(host, clients, 1);
}

static void test_requests_that_one_look_finds_wait_for_each_other(void **state)
{
    (void)state;
    struct client *clients[3];
    struct host *host = new_timed_host(clients, 3);
    for (int i = 0; i < 3; i++) client_say(clients[i], GET);
    assert_times(host, 3, (uint64_t[]){0, WAITED, 2 * WAITED});

    client_say(clients[0], GET);
    bb_lane_wait(host->lane); /* without bb_lane_wake() this poll finds only one event */
    host_serve(host);
    assert_times(host, 4, (uint64_t[]){0, WAITED, 2 * WAITED, 0});
    free_all(host, clients, 3);
}

static void app_is_quick(struct host *host, const struct bb_request *request)
{
    fake_micros += 400;
    app_takes_its_time(host, request);
    fake_clock_advance((uint64_t)-EACH_TAKES);
}

/* The exact time would need another clock call for each request. */
static void test_a_wait_of_less_than_a_tick_counts_as_zero(void **state)
{
    (void)state;
    struct client *clients[4];
    struct host *host = new_timed_host(clients, 4);
    host->app = app_is_quick;
    for (int i = 0; i < 4; i++) client_say(clients[i], GET);
    assert_times(host, 4, (uint64_t[]){0, 0, 0, 0});
    free_all(host, clients, 4);
}

/* The lane accepts a connection and serves its request. After that, the lane accepts the next connection. */
static void test_the_time_of_a_new_connection_begins_when_it_is_accepted(void **state)
{
    (void)state;
    struct client *clients[5];
    struct host *host = new_timed_host(clients, 1);
    for (int i = 1; i < 5; i++) {
        clients[i] = client_new(host);
        client_say(clients[i], GET);
    }
    client_say(clients[0], GET);
    host_settle(host);
    assert_int_equal(host->served, 5);
    unsigned fresh = 0;
    for (int i = 0; i < 5; i++) {
        fresh += times[i] == 0;
        if (times[i] > 0) assert_in_range(times[i], WAITED, 4 * WAITED); /* the persistent connection */
    }
    assert_true(fresh >= 4);
    free_all(host, clients, 5);
}

static void test_the_time_of_a_pipelined_request_begins_with_the_response_before(void **state)
{
    (void)state;
    struct client *clients[1];
    struct host *host = new_timed_host(clients, 1);
    client_say(clients[0], GET GET GET);
    assert_times(host, 3, (uint64_t[]){0, 0, 0});
    free_all(host, clients, 1);
}

/* After BB_IN_A_ROW requests in a row, a connection waits until the lane has served its other connections. */
static void test_a_connection_waits_for_others_after_its_turn(void **state)
{
    (void)state;
    struct client *clients[2];
    struct host *host = new_timed_host(clients, 2);
    uint64_t expected[BB_IN_A_ROW + 3] = {[BB_IN_A_ROW] = BB_IN_A_ROW * WAITED, WAITED};
    for (int i = 0; i < BB_IN_A_ROW + 2; i++) client_say(clients[0], GET);
    client_say(clients[1], GET);
    assert_times(host, BB_IN_A_ROW + 3, expected);
    free_all(host, clients, 2);
}

static void test_the_time_for_which_a_lane_steps_aside_counts(void **state)
{
    (void)state;
    struct client *clients[1];
    struct host *host = new_timed_host(clients, 1);
    const struct bb_request *request;
    client_say(clients[0], GET GET);
    bb_lane_wake(host->lane);
    bb_lane_wait(host->lane);
    assert_int_equal(bb_lane_next(host->lane, &request), BB_OK);
    host_respond(host, 200, "", 0);
    assert_int_equal(bb_lane_step_aside(host->lane, BB_ASIDE_ANYWAY), BB_OK);
    fake_clock_advance(EACH_TAKES);
    bb_lane_step_back(host->lane);
    assert_times(host, 1, (uint64_t[]){WAITED});
    free_all(host, clients, 1);
}

static void test_a_request_that_was_passed_on_has_waited_since_it_was_read(void **state)
{
    (void)state;
    struct client *clients[1];
    struct host *host = new_timed_host(clients, 1);
    struct bb_lane *lane = host->lane;
    struct bb__conn *conn = lane->set.conns;
    client_say(clients[0], GET);
    assert_int_equal(bb__conn_on_ready(conn, &lane->context, BB_INTEREST_READ), BB_CONN_REQUEST);
    bb__conn_set_pass(&lane->set, &lane->context, conn, &host->worker->shared.queue);
    fake_clock_advance(EACH_TAKES);
    assert_times(host, 1, (uint64_t[]){WAITED});
    free_all(host, clients, 1);
}

static void test_the_time_of_a_queued_connection_begins_with_the_drain(void **state)
{
    (void)state;
    struct client *clients[2];
    struct host *host = new_timed_host(clients, 0);
    for (int i = 0; i < 2; i++) {
        clients[i] = client_new(host);
        client_say(clients[i], GET);
    }
    bb_worker_drain(host->worker, BB_QUEUE_TAKE);
    assert_times(host, 2, (uint64_t[]){0, WAITED});
    free_all(host, clients, 2);
}

static struct client *slow;

static void app_lets_time_pass(struct host *host, const struct bb_request *request)
{
    app_takes_its_time(host, request);
    if (host->served != 2) return;
    fake_clock_advance(host->worker->settings.header_timeout);
    client_say(slow, "\r\n");
}

/* The lane reads the request because the request's timeout is over, not because a poll has reported it. */
static void test_a_request_that_is_complete_at_its_timeout_has_not_waited(void **state)
{
    (void)state;
    struct client *clients[3];
    struct host *host = new_timed_host(clients, 3);
    slow = clients[2];
    host->app = app_lets_time_pass;
    client_say(slow, "GET / HTTP/1.1\r\nHost: x\r\n");
    host_settle(host);
    for (int i = 0; i < 2; i++) client_say(clients[i], GET);
    assert_times(host, 3, (uint64_t[]){0, WAITED, 0});
    free_all(host, clients, 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_request_that_is_read_and_served_at_once_has_not_waited),
        cmocka_unit_test(test_requests_that_one_look_finds_wait_for_each_other),
        cmocka_unit_test(test_a_wait_of_less_than_a_tick_counts_as_zero),
        cmocka_unit_test(test_the_time_of_a_new_connection_begins_when_it_is_accepted),
        cmocka_unit_test(test_the_time_of_a_pipelined_request_begins_with_the_response_before),
        cmocka_unit_test(test_a_connection_waits_for_others_after_its_turn),
        cmocka_unit_test(test_the_time_for_which_a_lane_steps_aside_counts),
        cmocka_unit_test(test_a_request_that_was_passed_on_has_waited_since_it_was_read),
        cmocka_unit_test(test_the_time_of_a_queued_connection_begins_with_the_drain),
        cmocka_unit_test(test_a_request_that_is_complete_at_its_timeout_has_not_waited),
    };
    return cmocka_run_group_tests_name("queue_time", tests, NULL, NULL);
}
