/* lane_reserve_test.c: the last descriptors are left to the host. What connections there is no room for at
 * all is lane_room_test.c's. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "accept_case.h"
#include "support/fake_clock.h"

/* Another lane has most of the connections, and closes none: it is busy. That is nobody's leave to take what
 * is the application's. */
static void test_a_lane_with_few_connections_keeps_off_as_well(void **state)
{
    (void)state;
    struct host *host = new_host(0);
    struct client *idle[4];
    for (int i = 0; i < 4; i++) idle[i] = new_served(host);
    struct bb_lane *busy = host->lane;
    assert_int_equal(bb_lane_new(&host->lane, host->worker), BB_OK);
    int reserve = host->worker->reserve;
    host->worker->reserve = 0;
    struct client *upload = new_saying(host, UPLOAD), *next = new_saying(host, REQUEST);
    host_settle(host);
    assert_int_equal(host_connections(host), 1);
    assert_true(host->lane->accept.paused);
    host->worker->reserve = reserve;
    fake_clock_advance(100);
    assert_answer(next, 200, "GET / ");
    bb_lane_free(busy);
    for (int i = 0; i < 4; i++) client_free(idle[i]);
    client_free(upload);
    client_free(next);
    host_free(host);
}

/* Of a message for whose descriptors there are no numbers the kernel drops them: its client would be lost. */
static void test_who_was_passed_on_waits_for_room(void **state)
{
    (void)state;
    struct host *host = new_host(0);
    struct client *passed = new_served(host), *upload = new_saying(host, UPLOAD);
    host_settle(host);
    client_say(passed, REQUEST);
    pass_on(host, host->lane->set.conns->next); /* the older one */
    int reserve = host->worker->reserve;
    host->worker->reserve = 0;
    bb__worker_set_room(host->worker, 1);
    for (int tenth = 0; tenth < 3; tenth++) {
        assert_silence(passed);
        assert_true(host->lane->accept.paused && would_wait(host));
        fake_clock_advance(100);
    }
    host->worker->reserve = reserve; /* the application has closed some */
    assert_answer(passed, 200, "GET / ");
    client_free(passed);
    client_free(upload);
    host_free(host);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_lane_with_few_connections_keeps_off_as_well),
        cmocka_unit_test(test_who_was_passed_on_waits_for_room),
    };
    return cmocka_run_group_tests_name("lane_reserve", tests, NULL, NULL);
}
