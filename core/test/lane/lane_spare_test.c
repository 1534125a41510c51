/* lane_spare_test.c: functions that close some connection to make room, while their caller still uses one.
 * That connection is never freed, also if it is the only candidate. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "accept_case.h"
#include "support/fake_clock.h"

/* Twice SLACK of lane_room.c: above the limit by more than this number, no connection is too young. */
#define TWICE_SLACK 32

/* ---- the only candidate ---- */

static const char large[1 << 20];

static void app_large(struct host *host, const struct bb_request *request)
{
    const struct bb_slice part = {large, sizeof large};
    uint64_t taken;
    (void)request;
    host_fields(host, 200);
    assert_int_equal(bb_reply_head(host->lane, sizeof large), BB_OK);
    assert_int_equal(bb_reply_write(host->lane, &part, 1, true, &taken), BB_OK);
    assert_int_equal(bb_reply_end(host->lane), BB_OK);
}

/* Each function returns whether it has closed a connection. */

static bool close_least_missed(struct bb_lane *lane, struct bb__conn *conn, bool in_hand)
{
    return bb__lane_close_least_missed(lane, in_hand ? conn : NULL);
}

static bool end_slowest(struct bb_lane *lane, struct bb__conn *conn, bool in_hand)
{
    return bb__lane_end_slowest(lane, in_hand ? conn : NULL);
}

static bool keep_to_limit(struct bb_lane *lane, struct bb__conn *conn, bool in_hand)
{
    uint64_t count = lane->set.count;
    bb__lane_keep_to_limit(lane, in_hand ? conn : NULL);
    return lane->set.count < count;
}

/* The caller of these two functions always has a connection in hand. */

static bool make_room(struct bb_lane *lane, struct bb__conn *conn, bool in_hand)
{
    uint64_t count = lane->set.count;
    struct bb__conn other = {.fd = conn->fd};
    bb__lane_make_room(lane, in_hand ? conn : &other);
    return lane->set.count < count;
}

static bool find_place(struct bb_lane *lane, struct bb__conn *conn, bool in_hand)
{
    uint64_t count = lane->set.count;
    struct bb__conn other = {.fd = conn->fd};
    (void)bb__lane_find_place(lane, in_hand ? conn : &other);
    return lane->set.count < count;
}

static const struct {
    const char *says;
    enum bb__timeout_kind kind;
    bool (*closes[5])(struct bb_lane *lane, struct bb__conn *conn, bool in_hand);
} candidates[] = {
    {REQUEST, BB_TIMEOUT_KEEPALIVE, {close_least_missed, keep_to_limit, make_room}},
    {"nonsense\r\n\r\n", BB_TIMEOUT_LINGER, {close_least_missed, keep_to_limit, make_room}},
    {"", BB_TIMEOUT_FRESH, {close_least_missed, keep_to_limit, make_room, find_place}},
    {"GET / HT", BB_TIMEOUT_HEADER, {close_least_missed, keep_to_limit, make_room}},
    {UPLOAD, BB_TIMEOUT_BODY, {end_slowest, keep_to_limit, find_place}},
    {"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\r\n",
     BB_TIMEOUT_WRITE,
     {end_slowest, keep_to_limit, find_place}},
};

/* There is one connection, and it is old enough. The limit is exceeded by as much as the functions require.
 */
static void check(size_t candidate, bool (*closes)(struct bb_lane *, struct bb__conn *, bool))
{
    struct host *host = new_host(1);
    if (candidates[candidate].kind == BB_TIMEOUT_WRITE) host->app = app_large;
    struct client *client = client_new_saying(host, candidates[candidate].says);
    host_settle(host);
    assert_int_equal(host_connections(host), 1);
    struct bb_lane *lane = host->lane;
    struct bb__conn *conn = lane->set.conns;
    assert_int_equal(conn->timeout.kind, candidates[candidate].kind);
    fake_clock_advance(1000);
    lane->context.now = bb__clock_ms();
    uint64_t limit = atomic_exchange(&lane->worker->room.limit, 0);
    atomic_fetch_add(&lane->worker->room.connections, TWICE_SLACK);

    assert_false(closes(lane, conn, true));
    assert_ptr_equal(lane->set.conns, conn);
    lane->context.now += BB_PAUSE_TIME;
    assert_true(closes(lane, conn, false)); /* it is a candidate */
    assert_null(lane->set.conns);

    atomic_fetch_sub(&lane->worker->room.connections, TWICE_SLACK);
    atomic_store(&lane->worker->room.limit, limit);
    client_free(client);
    host_free(host);
}

static void test_the_connection_in_hand_is_spared(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof candidates / sizeof *candidates; i++)
        for (size_t n = 0; n < 5 && candidates[i].closes[n]; n++) check(i, candidates[i].closes[n]);
}

/* ---- the whole path ---- */

#define CROWD 66

/* All older connections have unread bytes when the lane accepts a silent client, so the new connection is the
 * only one without unread bytes. */
static void test_a_silent_client_behind_unread_bytes_is_not_freed_while_it_is_read(void **state)
{
    (void)state;
    struct host *host = new_host(4);
    struct client *crowd[CROWD], *silent;
    for (int i = 0; i < CROWD; i++) crowd[i] = client_new(host);
    host_settle(host);
    fake_clock_advance(BB_PAUSE_TIME); /* the lane pauses once, then accepts all */
    host_settle(host);
    assert_int_equal(host_connections(host), 4 + TWICE_SLACK);
    silent = client_new(host); /* the poller reports this event first */
    for (int i = 0; i < CROWD; i++) (void)send(crowd[i]->fd, "G", 1, MSG_NOSIGNAL);
    host_turn(host);
    assert_int_equal(host_connections(host), 4 + TWICE_SLACK + 1);
    client_say(silent, REQUEST);
    assert_response(silent, 200, "GET / ");
    for (int i = 0; i < CROWD; i++) client_free(crowd[i]);
    client_free(silent);
    host_free(host);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_connection_in_hand_is_spared),
        cmocka_unit_test(test_a_silent_client_behind_unread_bytes_is_not_freed_while_it_is_read),
    };
    return cmocka_run_group_tests_name("lane_spare", tests, NULL, NULL);
}
