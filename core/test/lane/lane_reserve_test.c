/* lane_reserve_test.c: the core leaves the last descriptors to the host (the program that calls the core).
 * lane_room_test.c tests what happens without free descriptors. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "accept_case.h"
#include "support/fake_clock.h"

/* Two lanes (threads that serve requests) share the descriptors. One lane has most of the connections, is
 * busy, and closes no connection. The other lane still must not use the descriptors reserved for the
 * application. */
static void test_a_lane_with_few_connections_leaves_the_reserve_alone(void **state)
{
    (void)state;
    struct host *host = new_host(0);
    struct client *idle[4];
    for (int i = 0; i < 4; i++) idle[i] = new_served(host);
    struct bb_lane *busy = host->lane;
    assert_int_equal(bb_lane_new(&host->lane, host->worker), BB_OK);
    int reserve = host->worker->room.reserve;
    host->worker->room.reserve = 0;
    struct client *upload = client_new_saying(host, UPLOAD), *next = client_new_saying(host, REQUEST);
    host_settle(host);
    assert_int_equal(host_connections(host), 1);
    assert_true(host->lane->accept.paused);
    host->worker->room.reserve = reserve;
    fake_clock_advance(100);
    assert_response(next, 200, "GET / ");
    bb_lane_free(busy);
    for (int i = 0; i < 4; i++) client_free(idle[i]);
    client_free(upload);
    client_free(next);
    host_free(host);
}

/* If the process has no free descriptor for a connection in a message, the kernel closes this connection. So
 * the lane does not receive the message yet. */
static void test_a_connection_that_was_passed_on_waits_for_room(void **state)
{
    (void)state;
    struct host *host = new_host(0);
    struct client *passed = new_served(host), *upload = client_new_saying(host, UPLOAD);
    host_settle(host);
    client_say(passed, REQUEST);
    pass_on(host, host->lane->set.conns->set.next); /* the older connection */
    int reserve = host->worker->room.reserve;
    host->worker->room.reserve = 0;
    bb__worker_set_room(host->worker, 1);
    for (int tenth = 0; tenth < 3; tenth++) {
        assert_silence(passed);
        assert_true(host->lane->accept.paused && would_wait(host));
        fake_clock_advance(100);
    }
    host->worker->room.reserve = reserve; /* as if the application had closed some descriptors */
    assert_response(passed, 200, "GET / ");
    client_free(passed);
    client_free(upload);
    host_free(host);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_lane_with_few_connections_leaves_the_reserve_alone),
        cmocka_unit_test(test_a_connection_that_was_passed_on_waits_for_room),
    };
    return cmocka_run_group_tests_name("lane_reserve", tests, NULL, NULL);
}
