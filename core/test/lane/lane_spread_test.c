/* lane_spread_test.c: when a lane leaves the next connections to other lanes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "accept_case.h"
#include "support/fail_socket.h"

static unsigned unwatched;

static void count_unwatched(void)
{
    unwatched++;
}

/* The host (a program that calls the core) has one lane. All processes share the scoreboard, where each lane
 * has a slot. `other` is the slot of a lane in another process. */
struct pair {
    struct bb_scoreboard *scoreboard;
    struct bb__slot *other;
    struct host *host;
};

static struct pair new_pair(void)
{
    struct pair pair;
    struct bb_settings settings = host_settings();
    assert_int_equal(bb_scoreboard_new(&pair.scoreboard, 8), BB_OK);
    pair.host = host_new(&settings, AF_UNIX);
    pair.other = bb__scoreboard_claim(pair.scoreboard);
    host_enter_scoreboard(pair.host, pair.scoreboard);
    fail_socket.before_unwatching = count_unwatched;
    return pair;
}

static void free_pair(struct pair *pair)
{
    fail_socket.before_unwatching = NULL;
    host_free(pair->host);
    bb_scoreboard_free(pair->scoreboard);
}

#define CLOSING "GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"

/* The host serves `count` new connections, in groups of `at_a_time`. For each connection, the other lane
 * serves `others` requests. Returns how often the host's lane has left the kernel's wait queue and entered it
 * again (lane_spread.c). Each time, epoll stops watching the listener and the shared queue. */
static unsigned turns_at_a_time(struct pair *pair, int count, int at_a_time, unsigned others)
{
    struct client *clients[8];
    unwatched = 0;
    for (int i = 0; i < count; i += at_a_time) {
        for (int j = 0; j < at_a_time; j++) clients[j] = client_new_saying(pair->host, CLOSING);
        bb_lane_wait(pair->host->lane);
        host_serve(pair->host);
        for (int j = 0; j < at_a_time; j++) {
            assert_response(clients[j], 200, "GET / ");
            client_free(clients[j]);
            atomic_fetch_add(&pair->other->requests, others);
        }
    }
    return unwatched / 2;
}

static unsigned turns(struct pair *pair, int count, unsigned others)
{
    return turns_at_a_time(pair, count, 1, others);
}

static void test_a_lane_with_more_than_others_becomes_the_last(void **state)
{
    (void)state;
    struct pair pair = new_pair();
    assert_int_equal(turns(&pair, 30, 0), 0);
    assert_in_range(turns(&pair, 34, 0), 31, 33);
    free_pair(&pair);
}

static void test_even_shares_need_no_turns(void **state)
{
    (void)state;
    struct pair pair = new_pair();
    assert_int_equal(turns(&pair, 200, 1), 0);
    free_pair(&pair);
}

static void test_a_lane_with_less_than_others_stays_the_first(void **state)
{
    (void)state;
    struct pair pair = new_pair();
    (void)turns(&pair, 40, 0);
    atomic_fetch_add(&pair.other->requests, 100);
    assert_int_equal(turns(&pair, 80, 0), 0);
    free_pair(&pair);
}

static void test_no_turns_are_taken_if_no_other_lane_can_serve(void **state)
{
    (void)state;
    struct pair pair = new_pair();
    atomic_store(&pair.other->began, 1); /* ms; the other lane is busy with a long request */
    assert_int_equal(turns(&pair, 200, 0), 0);
    free_pair(&pair);
}

/* The other lane has served many requests. Then a new lane with no served requests replaces the other
 * lane. */
static void test_a_new_lane_has_nothing_to_catch_up_with(void **state)
{
    (void)state;
    struct pair pair = new_pair();
    atomic_store(&pair.other->requests, 1000000);
    (void)turns(&pair, 32, 1);
    assert_in_range(turns(&pair, 64, 0), 31, 33);
    atomic_store(&pair.other->requests, 0);
    assert_in_range(turns(&pair, 64, 0), 16, 33);
    free_pair(&pair);
}

static void test_connections_that_come_together_are_one_turn(void **state)
{
    (void)state;
    struct pair pair = new_pair();
    assert_in_range(turns(&pair, 64, 0), 32, 33);
    /* The lane leaves the kernel's wait queue at most once per group of 8 connections. */
    assert_in_range(turns_at_a_time(&pair, 64, 8, 0), 0, 8);
    free_pair(&pair);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_lane_with_more_than_others_becomes_the_last),
        cmocka_unit_test(test_even_shares_need_no_turns),
        cmocka_unit_test(test_a_lane_with_less_than_others_stays_the_first),
        cmocka_unit_test(test_no_turns_are_taken_if_no_other_lane_can_serve),
        cmocka_unit_test(test_a_new_lane_has_nothing_to_catch_up_with),
        cmocka_unit_test(test_connections_that_come_together_are_one_turn),
    };
    return cmocka_run_group_tests_name("lane_spread", tests, NULL, NULL);
}
