/* event_ring_test.c: the ring of events that the host (the program that calls the core) should log. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/event_ring.h"

static void test_the_ring_returns_events_in_order(void **state)
{
    (void)state;
    struct bb__event_ring ring = {0};
    struct bb_event event;
    assert_int_equal(bb__event_take(&ring, &event), BB_AGAIN);
    for (int round = 0; round < 3 * BB_EVENT_RING_MAX; round++) {
        bb__event_add(&ring, 507, round, "first", "192.0.2.1");
        bb__event_add(&ring, 0, 0, "second", NULL);
        assert_int_equal(bb__event_take(&ring, &event), BB_OK);
        assert_int_equal(event.status, 507);
        assert_int_equal(event.error, round);
        assert_string_equal(event.text, "first");
        assert_string_equal(event.peer, "192.0.2.1");
        assert_int_equal(bb__event_take(&ring, &event), BB_OK);
        assert_string_equal(event.text, "second");
        assert_string_equal(event.peer, "");
        assert_int_equal(bb__event_take(&ring, &event), BB_AGAIN);
    }
}

static void test_a_full_ring_keeps_the_oldest_events(void **state)
{
    (void)state;
    struct bb__event_ring ring = {0};
    struct bb_event event;
    for (int i = 0; i < 100; i++) bb__event_add(&ring, i, 0, "text", NULL);
    for (int i = 0; i < BB_EVENT_RING_MAX; i++) {
        assert_int_equal(bb__event_take(&ring, &event), BB_OK);
        assert_int_equal(event.status, i);
    }
    assert_int_equal(bb__event_take(&ring, &event), BB_AGAIN);
}

/* At most one event of a kind is reported per second. An event that is left out is counted, and the next
 * report has the count. An event is also left out if the ring is full. */
static void test_one_event_of_a_kind_is_reported_per_second(void **state)
{
    (void)state;
    static const struct bb_event event = {.status = 507, .error = 5, .text = "text", .peer = "192.0.2.1"};
    static const uint64_t times[] = {1, 1000, 1001, 2000, 2001, 2002, 9000};
    static const int left_out[] = {0, -1, 1, -1, 1, -1, 1}; /* -1: no event is reported */
    struct bb__event_ring ring = {0};
    struct bb__event_pace pace = {0}, other = {0};
    struct bb_event reported;
    for (size_t i = 0; i < sizeof times / sizeof *times; i++) {
        bb__event_add_paced(&ring, &pace, times[i], &event);
        assert_int_equal(bb__event_take(&ring, &reported), left_out[i] < 0 ? BB_AGAIN : BB_OK);
        if (left_out[i] < 0) continue;
        assert_int_equal(reported.left_out, left_out[i]);
        assert_int_equal(reported.status, 507);
        assert_int_equal(reported.error, 5);
        assert_string_equal(reported.text, "text");
        assert_string_equal(reported.peer, "192.0.2.1");
    }
    for (int i = 0; i < BB_EVENT_RING_MAX; i++) bb__event_add(&ring, i, 0, "text", NULL);
    bb__event_add_paced(&ring, &other, 1, &event);
    while (bb__event_take(&ring, &reported) == BB_OK) assert_int_not_equal(reported.status, 507);
    bb__event_add_paced(&ring, &other, 2, &event);
    assert_int_equal(bb__event_take(&ring, &reported), BB_OK);
    assert_int_equal(reported.left_out, 1);
}

/* During a flood of events, one event is reported at once. A second later another event is reported, with the
 * number of events left out. */
static void test_events_left_out_are_reported_after_a_second(void **state)
{
    (void)state;
    static const struct bb_event event = {.status = 507, .text = "text", .peer = "192.0.2.1"};
    struct bb__event_ring ring = {0};
    struct bb__event_pace pace = {0};
    struct bb_event reported;
    bb__event_tell_rest(&ring, &pace, 1000);
    for (int i = 0; i < 1000; i++) bb__event_add_paced(&ring, &pace, 1000, &event);
    assert_int_equal(bb__event_take(&ring, &reported), BB_OK);
    assert_int_equal(ring.left_out, 999);
    bb__event_tell_rest(&ring, &pace, 1999);
    assert_int_equal(bb__event_take(&ring, &reported), BB_AGAIN);
    bb__event_tell_rest(&ring, &pace, 2000);
    assert_int_equal(bb__event_take(&ring, &reported), BB_OK);
    assert_int_equal(reported.status, 507);
    assert_int_equal(reported.left_out, 998); /* 1000 events: 998 left out, the first event, and this event */
    assert_string_equal(reported.peer, "192.0.2.1");
    assert_int_equal(ring.left_out, 0);
    bb__event_tell_rest(&ring, &pace, 9000);
    assert_int_equal(bb__event_take(&ring, &reported), BB_AGAIN);
}

static void test_a_peer_that_is_too_long_is_cut(void **state)
{
    (void)state;
    struct bb__event_ring ring = {0};
    struct bb_event event;
    char peer[100];
    memset(peer, 'x', sizeof peer);
    peer[sizeof peer - 1] = '\0';
    bb__event_add(&ring, 0, 0, "text", peer);
    assert_int_equal(bb__event_take(&ring, &event), BB_OK);
    assert_int_equal(strlen(event.peer), sizeof event.peer - 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_ring_returns_events_in_order),
        cmocka_unit_test(test_a_full_ring_keeps_the_oldest_events),
        cmocka_unit_test(test_one_event_of_a_kind_is_reported_per_second),
        cmocka_unit_test(test_events_left_out_are_reported_after_a_second),
        cmocka_unit_test(test_a_peer_that_is_too_long_is_cut),
    };
    return cmocka_run_group_tests_name("event_ring", tests, NULL, NULL);
}
