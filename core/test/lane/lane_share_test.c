/* lane_share_test.c: a lane finds several requests in one poll: which requests it serves, which requests it
 * puts into the shared queue, and in which order. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "accept_case.h"

#define CLIENTS 4

static char order[256];

static void app_notes_order(struct host *host, const struct bb_request *request)
{
    const struct bb_slice *target = &request->head.target;
    strncat(order, target->at, target->len);
    app_echo(host, request);
}

/* A host with persistent connections, and a scoreboard with a lane of another process. */
struct crowd {
    struct bb_scoreboard *scoreboard;
    struct bb__slot *other;
    struct host *host;
    struct client *clients[CLIENTS];
};

static struct crowd new_crowd(unsigned mean)
{
    struct crowd crowd;
    assert_int_equal(bb_scoreboard_new(&crowd.scoreboard, 8), BB_OK);
    crowd.host = new_host(0);
    crowd.other = bb__scoreboard_claim(crowd.scoreboard);
    atomic_store(&crowd.other->pid, 1);
    host_enter_scoreboard(crowd.host, crowd.scoreboard);
    for (int i = 0; i < CLIENTS; i++) crowd.clients[i] = new_served(crowd.host);
    host_settle(crowd.host);
    crowd.host->lane->shares.mean = mean;
    crowd.host->app = app_notes_order;
    order[0] = '\0';
    return crowd;
}

static void free_crowd(struct crowd *crowd)
{
    for (int i = 0; i < CLIENTS; i++) client_free(crowd->clients[i]);
    host_free(crowd->host);
    bb_scoreboard_free(crowd->scoreboard);
}

static void ask(struct crowd *crowd, int client, const char *target)
{
    char request[64];
    snprintf(request, sizeof request, "GET %s HTTP/1.1\r\nHost: x\r\n\r\n", target);
    client_say(crowd->clients[client], request);
}

static void assert_all_responded(struct crowd *crowd)
{
    for (int i = 0; i < CLIENTS; i++) {
        assert_true(client_read(crowd->clients[i], true));
        assert_int_equal(crowd->clients[i]->status, 200);
    }
}

/* Empties the shared queue. Returns how many messages there were. */
static unsigned message(const struct crowd *crowd)
{
    char bytes[BB_SHARED_QUEUE_BYTES];
    struct bb__shared_message message[8];
    unsigned count = 0;
    while (count < 8 &&
           bb__shared_queue_take(&crowd->host->worker->shared.queue, bytes, &message[count]) == BB_OK)
        for (count++; message[count - 1].fd_count > 0;)
            close(message[count - 1].fds[--message[count - 1].fd_count]);
    return count;
}

/* Polls once, and serves the first request that the poll finds. */
static void serve_one(struct crowd *crowd)
{
    const struct bb_request *request;
    bb_lane_wake(crowd->host->lane);
    bb_lane_wait(crowd->host->lane);
    assert_int_equal(bb_lane_next(crowd->host->lane, &request), BB_OK);
    app_notes_order(crowd->host, request);
}

static void test_as_many_requests_are_passed_on_as_other_lanes_are_idle(void **state)
{
    LINUX_ONLY;
    for (int idle = 0; idle <= 1; idle++) {
        struct crowd crowd = new_crowd(1000);
        bb__scoreboard_set_idle(crowd.other, idle);
        for (int i = 0; i < CLIENTS; i++) ask(&crowd, i, "/");
        serve_one(&crowd);
        assert_int_equal(message(&crowd), idle);
        host_settle(crowd.host);
        free_crowd(&crowd);
    }
}

/* The shared queue was full, so the I/O thread has left a request to the lane. */
static void test_a_look_finds_room_in_the_shared_queue_again(void **state)
{
    LINUX_ONLY;
    struct crowd crowd = new_crowd(1000);
    struct bb_lane *lane = crowd.host->lane;
    struct bb__conn *conn = lane->set.conns; /* the newest connection */
    bb__scoreboard_set_idle(crowd.other, true);
    ask(&crowd, CLIENTS - 1, "/");
    assert_int_equal(bb__conn_on_ready(conn, &lane->context, BB_INTEREST_READ), BB_CONN_REQUEST);
    assert_false(bb__lane_settle(lane, conn, BB_CONN_AGAIN));
    lane->set.shared_queue_is_full = true;
    for (int i = 0; i < CLIENTS - 1; i++) ask(&crowd, i, "/");
    serve_one(&crowd);
    assert_int_equal(message(&crowd), 1);
    host_settle(crowd.host);
    free_crowd(&crowd);
}

static void test_short_requests_are_not_passed_on(void **state)
{
    (void)state;
    struct crowd crowd = new_crowd(50);
    bb__scoreboard_set_idle(crowd.other, true);
    for (int i = 0; i < CLIENTS; i++) ask(&crowd, i, "/");
    serve_one(&crowd);
    assert_int_equal(message(&crowd), 0);
    host_settle(crowd.host);
    assert_all_responded(&crowd);
    free_crowd(&crowd);
}

/* A request in the shared queue has already waited for a lane. So the lane serves it first, whichever event
 * the kernel reports first. */
static void test_a_request_that_was_passed_on_comes_first(void **state)
{
    (void)state;
    struct crowd crowd = new_crowd(1000);
    struct bb_lane *lane = crowd.host->lane;
    for (int i = 0; i < 3; i++) ask(&crowd, i, "/own");
    ask(&crowd, 3, "/passed");
    pass_on(crowd.host, lane->set.conns); /* the newest connection */
    host_settle(crowd.host);
    assert_all_responded(&crowd);
    assert_string_equal(order, "/passed/own/own/own");
    free_crowd(&crowd);
}

/* Takes 300 us, so the lane polls again after each request. */
static void app_takes_its_time(struct host *host, const struct bb_request *request)
{
    uint64_t begun = bb__clock_us();
    while (bb__clock_us() - begun < 300) continue;
    app_notes_order(host, request);
}

static void test_new_connections_and_the_shared_queue_take_turns(void **state)
{
    (void)state;
    for (int is_long = 0; is_long <= 1; is_long++) {
        struct crowd crowd = new_crowd(is_long ? 1000 : 0);
        struct client *fresh[CLIENTS];
        if (is_long) crowd.host->app = app_takes_its_time;
        for (int i = 0; i < CLIENTS; i++) ask(&crowd, i, "/passed");
        while (crowd.host->lane->set.conns) {
            pass_on(crowd.host, crowd.host->lane->set.conns);
            bb__worker_nudge(crowd.host->worker); /* a nudge (an empty message) does not count as a turn */
        }
        for (int i = 0; i < CLIENTS; i++) {
            fresh[i] = client_new(crowd.host);
            client_say(fresh[i], "GET /new HTTP/1.1\r\nHost: x\r\n\r\n");
        }
        host_settle(crowd.host);
        assert_all_responded(&crowd);
        const char *second = order + (order[1] == 'n' ? strlen("/new") : 0);
        assert_int_equal(strncmp(second, "/passed/new/passed/new/passed/new/passed", 40), 0);
        for (int i = 0; i < CLIENTS; i++) client_free(fresh[i]);
        free_crowd(&crowd);
    }
}

static struct crowd *passing;

/* Puts another request into the shared queue while the lane serves the first request. */
static void app_passes_one_on(struct host *host, const struct bb_request *request)
{
    host->app = app_notes_order;
    ask(passing, CLIENTS - 1, "/passed");
    pass_on(host, host->lane->set.conns->set.next);
    app_notes_order(host, request);
}

static void test_long_requests_are_accepted_one_at_a_time(void **state)
{
    (void)state;
    struct crowd crowd = new_crowd(1000);
    struct client *fresh[CLIENTS];
    passing = &crowd;
    crowd.host->app = app_passes_one_on;
    crowd.host->lane->accept.last_streak = CLIENTS;
    for (int i = 0; i < CLIENTS; i++) {
        fresh[i] = client_new(crowd.host);
        client_say(fresh[i], "GET /new HTTP/1.1\r\nHost: x\r\n\r\n");
    }
    host_settle(crowd.host);
    assert_string_equal(order, "/new/passed/new/new/new");
    for (int i = 0; i < CLIENTS; i++) client_free(fresh[i]);
    free_crowd(&crowd);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_as_many_requests_are_passed_on_as_other_lanes_are_idle),
        cmocka_unit_test(test_a_look_finds_room_in_the_shared_queue_again),
        cmocka_unit_test(test_short_requests_are_not_passed_on),
        cmocka_unit_test(test_a_request_that_was_passed_on_comes_first),
        cmocka_unit_test(test_new_connections_and_the_shared_queue_take_turns),
        cmocka_unit_test(test_long_requests_are_accepted_one_at_a_time),
    };
    return cmocka_run_group_tests_name("lane_share", tests, NULL, NULL);
}
