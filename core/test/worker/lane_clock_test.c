/* lane_clock_test.c: times that another lane or the I/O thread has set after this lane has read its clock. A
 * lane is a thread that serves requests. */
#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "lane/accept_case.h"
#include "support/fail_socket.h"
#include "support/fake_clock.h"

/* Another owner has set the time of a connection after the lane has read its clock. The connection is not
 * old. */
static void test_a_connection_with_a_later_time_is_spared(void **state)
{
    (void)state;
    struct host *host = new_host(2);
    struct client *first = new_served(host), *second = client_new_saying(host, "GET / HT");
    host_settle(host);
    for (struct bb__conn *conn = host->lane->set.conns; conn; conn = conn->set.next)
        conn->timeout.since = fake_clock + 1;
    assert_false(bb__lane_close_least_missed(host->lane, NULL));
    fake_clock_advance(1001);
    host_settle(host);
    assert_true(bb__lane_close_least_missed(host->lane, NULL));
    assert_end(first);
    client_free(first);
    client_free(second);
    host_free(host);
}

/* Another lane of the worker has just ended the connection of a slow client, by a clock that it has read
 * later. */
static void test_two_lanes_together_end_ten_clients_per_second(void **state)
{
    (void)state;
    struct host *host = new_host(3);
    struct client *upload = client_new_saying(host, UPLOAD);
    host_settle(host);
    fake_clock_advance(1000);
    host_settle(host);
    atomic_store(&host->worker->room.ended_slow, fake_clock + 1);
    assert_false(bb__lane_end_slowest(host->lane, NULL));
    fake_clock_advance(101);
    host_settle(host);
    assert_true(bb__lane_end_slowest(host->lane, NULL));
    assert_response(upload, 408, NULL);
    client_free(upload);
    host_free(host);
}

/* No connection can be accepted for 5 s. Another lane has noted the beginning, by a clock that it has read
 * later. */
static void test_a_worker_without_descriptors_wants_to_be_replaced_after_five_seconds(void **state)
{
    (void)state;
    static const int no_room[] = {EMFILE, EMFILE, 0};
    struct host *host = new_host(0);
    fail_socket.accept_errors = no_room;
    host->worker->parent.fd = INT_MAX; /* as if the parent had ended */
    atomic_store(&host->worker->room.starved, fake_clock + 1);
    struct client *client = client_new_saying(host, REQUEST);
    host_settle(host);
    assert_int_equal(host->event_count, 1);
    assert_int_equal(host->events[0].error, EMFILE);
    fake_clock_advance(5001);
    host_settle(host);
    host->worker->parent.fd = -1;
    assert_int_equal(host->event_count, 3);
    assert_string_equal(host->events[1].text, "accept: idle connections are closed, or accepting pauses");
    assert_string_equal(host->events[2].text, "wants to be replaced: no connection can be accepted");
    fake_clock_advance(100);
    assert_response(client, 200, "GET / ");
    client_free(client);
    host_free(host);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_connection_with_a_later_time_is_spared),
        cmocka_unit_test(test_two_lanes_together_end_ten_clients_per_second),
        cmocka_unit_test(test_a_worker_without_descriptors_wants_to_be_replaced_after_five_seconds),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
