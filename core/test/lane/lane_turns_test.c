/* lane_turns_test.c: a lane that always has work. The lane lets other threads have the host's lock (Ruby's
 * global lock), and sends unsent bytes before it serves the next request. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "accept_case.h"
#include "io_thread/io_work.h"
#include "support/fake_clock.h"
#include "support/fake_micros.h"

#define A_MILLISECOND 1000 /* us */
#define LARGE         (600 * 1000)

/* ---- the host's lock ---- */

/* Two lanes, and a struct bb__io_thread without a running thread. */
struct pair {
    struct host *host;
    struct bb_lane *lane, *other;
    struct bb__io_thread io;
};

static void begin(struct pair *pair)
{
    *pair = (struct pair){.host = new_host(0), .io.link.kick.fd = -1, .io.link.queue.fd = -1};
    pair->lane = pair->host->lane;
    pair->host->worker->io = &pair->io.link;
    assert_int_equal(bb_lane_new(&pair->other, pair->host->worker), BB_OK);
}

static void end(struct pair *pair)
{
    bb_lane_free(pair->other);
    pair->host->worker->io = NULL;
    host_free(pair->host);
}

static void wake_other(struct pair *pair)
{
    bb_lane_wake(pair->other);
    assert_int_equal(bb_lane_wait(pair->other), BB_OK);
}

static bool gives_way_after(struct pair *pair, bool others_have_requests, uint64_t us)
{
    fake_micros += us;
    return bb_lane_gives_way(pair->lane, others_have_requests);
}

static void assert_has_set(struct bb_lane *lane, bool has_set)
{
    assert_int_equal(bb__owner_state_of(bb__owner_look(&lane->owner)),
                     has_set ? BB_OWNER_IDLE : BB_OWNER_BUSY);
}

static void assert_nothing_to_do(struct bb_lane *lane)
{
    const struct bb_request *request;
    assert_int_equal(bb_lane_next(lane, &request), BB_AGAIN);
    assert_has_set(lane, true);
}

static void test_a_lane_gives_way_to_a_woken_lane(void **state)
{
    (void)state;
    struct pair pair;
    begin(&pair);
    assert_false(gives_way_after(&pair, false, 10 * A_MILLISECOND));
    wake_other(&pair);
    for (int turn = 0; turn < 2; turn++) {
        assert_false(gives_way_after(&pair, false, 10 * A_MILLISECOND));
        assert_false(gives_way_after(&pair, false, A_MILLISECOND - 1));
        assert_has_set(pair.lane, true);
        assert_true(gives_way_after(&pair, false, 1));
        assert_has_set(pair.lane, false);
        assert_nothing_to_do(pair.lane);
    }
    assert_nothing_to_do(pair.other);
    assert_false(gives_way_after(&pair, false, 0));
    assert_false(gives_way_after(&pair, false, A_MILLISECOND));
    end(&pair);
}

static void test_a_lane_gives_way_to_a_lane_with_a_request(void **state)
{
    (void)state;
    struct pair pair;
    begin(&pair);
    assert_false(gives_way_after(&pair, true, 0));
    assert_true(gives_way_after(&pair, true, A_MILLISECOND));
    /* The lane that has just got the lock does not give way at once. */
    assert_false(bb_lane_gives_way(pair.other, true));
    assert_nothing_to_do(pair.lane);
    end(&pair);
}

static void test_a_pipelined_request_keeps_its_place(void **state)
{
    (void)state;
    struct pair pair;
    const struct bb_request *request;
    begin(&pair);
    struct client *client = client_new_saying(pair.host, REQUEST REQUEST);
    host_turn(pair.host);
    client_say(client, REQUEST REQUEST);
    bb_lane_wake(pair.lane);
    assert_int_equal(bb_lane_wait(pair.lane), BB_OK);
    assert_int_equal(bb_lane_next(pair.lane, &request), BB_OK);
    app_echo(pair.host, request);
    assert_non_null(pair.lane->pick.again);
    assert_false(gives_way_after(&pair, true, 0));
    assert_true(gives_way_after(&pair, true, A_MILLISECOND));
    assert_null(pair.lane->pick.again);
    assert_non_null(pair.lane->set.ready_first);
    host_settle(pair.host);
    for (int i = 0; i < 4; i++) assert_response(client, 200, "GET / ");
    client_free(client);
    end(&pair);
}

/* ---- unsent bytes ---- */

static struct bb__conn *large_conn;
static uint64_t owed;

static void app_large_or_small(struct host *host, const struct bb_request *request)
{
    static char large[LARGE];
    if (request->head.target.len > 1) {
        large_conn = host->lane->current;
        host_respond(host, 200, large, sizeof large);
        return;
    }
    owed = bb__conn_unsent(large_conn);
    app_echo(host, request);
}

static void take(struct client *client, size_t bytes)
{
    char taken[4096];
    ssize_t got;
    for (size_t left = bytes; left > 0 && (got = recv(client->fd, taken, sizeof taken, 0)) > 0;)
        left -= (size_t)got < left ? (size_t)got : left;
}

static void test_unsent_bytes_leave_before_the_next_request(void **state)
{
    (void)state;
    struct host *host = new_host(0);
    struct client *others[3], *large = new_served(host);
    for (int i = 0; i < 3; i++) others[i] = new_served(host);
    host->app = app_large_or_small;
    client_say(large, "GET /large HTTP/1.1\r\nHost: x\r\n\r\n");
    host_turn(host);
    uint64_t before = bb__conn_unsent(large_conn);
    assert_true(before > 0);
    for (int i = 0; i < 3; i++) client_say(others[i], REQUEST);
    take(large, LARGE - before);
    host_turn(host);
    assert_true(owed < before);
    for (int i = 0; i < 3; i++) assert_response(others[i], 200, "GET / ");
    for (int i = 0; i < 3; i++) client_free(others[i]);
    client_free(large);
    host_settle_to(host, 0);
    host_free(host);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_lane_gives_way_to_a_woken_lane),
        cmocka_unit_test(test_a_lane_gives_way_to_a_lane_with_a_request),
        cmocka_unit_test(test_a_pipelined_request_keeps_its_place),
        cmocka_unit_test(test_unsent_bytes_leave_before_the_next_request),
    };
    return cmocka_run_group_tests_name("lane_turns", tests, NULL, NULL);
}
