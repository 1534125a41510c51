/* lane_reserve_test.c: the last descriptors are left to the host. What connections there is no room for at
 * all is lane_room_test.c's. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "accept_case.h"
#include "fake_clock.h"

#define UPLOAD "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\n\r\n"

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
    assert_true(host->lane->paused);
    host->worker->reserve = reserve;
    fake_clock_advance(100);
    assert_answer(next, 200, "GET / ");
    bb_lane_free(busy);
    for (int i = 0; i < 4; i++) client_free(idle[i]);
    client_free(upload);
    client_free(next);
    host_free(host);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_lane_with_few_connections_keeps_off_as_well),
    };
    return cmocka_run_group_tests_name("lane_reserve", tests, NULL, NULL);
}
