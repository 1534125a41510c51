/* lane_room_test.c: new connections when there is no room: which connection is closed, and which clients
 * wait. No lane may spin, and no client may starve. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "accept_case.h"
#include "support/fail_socket.h"
#include "support/fake_clock.h"
#include "support/few_descriptors.h"

/* ---- max_connections ---- */

static void test_the_connection_that_is_idle_for_longest_is_closed(void **state)
{
    (void)state;
    struct host *host = new_host(3);
    struct client *clients[5];
    for (int i = 0; i < 3; i++) clients[i] = new_served(host);
    fake_clock_advance(1);
    client_say(clients[0], REQUEST); /* now another client has been idle for longest */
    assert_response(clients[0], 200, "GET / ");
    fake_clock_advance(100);

    clients[3] = new_served(host);
    assert_end(clients[1]);
    clients[4] = new_served(host);
    assert_end(clients[2]);
    assert_int_equal(host_connections(host), 3);
    assert_silence(clients[0]);
    assert_silence(clients[3]);
    for (int i = 0; i < 5; i++) client_free(clients[i]);
    host_free(host);
}

/* If no connection is idle, the lane still accepts one new connection. The next client waits for 100 ms. */
static void test_a_new_connection_never_starves(void **state)
{
    (void)state;
    struct host *host = new_host(2);
    struct client *uploads[2] = {client_new_saying(host, UPLOAD), client_new_saying(host, UPLOAD)};
    host_settle(host);
    assert_int_equal(host_connections(host), 2);

    struct client *third = client_new_saying(host, UPLOAD), *fourth = client_new_saying(host, REQUEST);
    host_settle(host);
    assert_int_equal(host_connections(host), 3);
    assert_silence(fourth);
    assert_true(would_wait(host));
    fake_clock_advance(99);
    assert_silence(fourth);
    fake_clock_advance(1);
    assert_response(fourth, 200, "GET / ");
    client_free(third);
    client_free(fourth);
    for (int i = 0; i < 2; i++) client_free(uploads[i]);
    host_free(host);
}

/* A connection is not closed in its first second, because its bytes may be on their way. Later it may be
 * closed for a new client. */
static void test_young_connections_are_spared(void **state)
{
    (void)state;
    static const char *const says[] = {"", "GET / HT", "nonsense\r\n\r\n"};
    static const int kinds[] = {BB_TIMEOUT_FRESH, BB_TIMEOUT_HEADER, BB_TIMEOUT_LINGER};
    for (int i = 0; i < 3; i++) {
        struct host *host = new_host(2);
        struct client *upload = client_new_saying(host, UPLOAD), *young = client_new_saying(host, says[i]);
        host_settle(host);
        assert_non_null(bb__timeout_oldest(&host->lane->set.timeouts, kinds[i]));

        fake_clock_advance(999);
        struct client *second = client_new_saying(host, UPLOAD);
        host_settle(host);
        assert_int_equal(host_connections(host), 3);
        fake_clock_advance(100);
        struct client *third = client_new_saying(host, REQUEST);
        assert_response(third, 200, "GET / ");
        assert_int_equal(host_connections(host), 3);
        while (client_more(young)) continue;
        assert_int_equal(young->end, CLIENT_ENDED);
        client_free(upload);
        client_free(young);
        client_free(second);
        client_free(third);
        host_free(host);
    }
}

/* The longest idle connection has a request that no lane has read yet. So the lane closes the other idle
 * connection. */
static void test_a_connection_with_an_unread_request_is_spared(void **state)
{
    (void)state;
    struct host *host = new_host(2);
    struct client *first = new_served(host), *second = new_served(host), *third = client_new(host);
    fake_clock_advance(100);
    client_say(first, REQUEST);
    client_say(third, REQUEST);
    assert_response(third, 200, "GET / ");
    assert_end(second);
    assert_response(first, 200, "GET / ");
    assert_int_equal(host_connections(host), 2);
    client_free(first);
    client_free(second);
    client_free(third);
    host_free(host);
}

/* The age of an incomplete head counts from its first byte. Later bytes do not make the connection
 * younger. */
static void test_a_connection_that_was_spared_is_no_younger(void **state)
{
    (void)state;
    struct host *host = new_host(2);
    struct client *drip = client_new_saying(host, "GET / HT");
    host_settle(host);
    fake_clock_advance(500);
    struct client *upload = client_new_saying(host, UPLOAD);
    host_settle(host);
    fake_clock_advance(500);
    struct client *third = client_new_saying(host, UPLOAD);
    client_say(drip, "TP");
    host_settle(host);
    assert_int_equal(host_connections(host), 2);
    assert_end(drip);
    client_free(drip);
    client_free(upload);
    client_free(third);
    host_free(host);
}

/* The client has closed the connection. The lane closes this connection for a new client before the lane has
 * handled the event of the client's close. */
static void test_a_connection_may_be_closed_while_its_event_waits(void **state)
{
    (void)state;
    struct host *host = new_host(1);
    struct client *idle = new_served(host);
    fake_clock_advance(100);
    struct client *second = client_new_saying(host, REQUEST);
    client_free(idle);
    host_settle(host);
    assert_response(second, 200, "GET / ");
    assert_int_equal(host_connections(host), 1);
    client_free(second);
    host_free(host);
}

/* The lane that has the idle connections is busy, and only this lane can close them. Another lane must not
 * wait for the busy lane. */
static void test_idle_connections_of_a_busy_lane_keep_nobody_out(void **state)
{
    (void)state;
    struct host *host = new_host(4);
    struct client *idle[4], *clients[4];
    for (int i = 0; i < 4; i++) idle[i] = new_served(host);
    fake_clock_advance(100);
    struct bb_lane *busy = host->lane;
    assert_int_equal(bb_lane_new(&host->lane, host->worker), BB_OK);
    for (int i = 0; i < 4; i++) {
        clients[i] = client_new_saying(host, REQUEST);
        assert_response(clients[i], 200, "GET / ");
        assert_false(host->lane->accept.paused);
        fake_clock_advance(100);
    }
    struct bb_lane *other = host->lane;
    host->lane = busy;
    host_settle(host);
    assert_int_equal(atomic_load(&host->worker->room.connections), 4);
    bb_lane_free(other);
    for (int i = 0; i < 4; i++) {
        client_free(idle[i]);
        client_free(clients[i]);
    }
    host_free(host);
}

/* ---- no descriptors ---- */

#define MANY 50

static void test_idle_connections_are_closed_if_there_are_no_descriptors(void **state)
{
    (void)state;
    struct host *host = new_host(0);
    struct client *clients[MANY];
    for (int i = 0; i < MANY; i++) clients[i] = client_new_saying(host, REQUEST);
    limit_descriptors(5);
    for (uint64_t since = real_ms(); host->served < MANY && real_ms() - since < WAIT_LIMIT;
         fake_clock_advance(1))
        host_turn(host);
    assert_int_equal(host->served, MANY);
    assert_true(host_connections(host) >= 4); /* accept4() fails with EMFILE on an empty queue as well */
    unlimit_descriptors();
    for (int i = 0; i < MANY; i++) {
        assert_response(clients[i], 200, "GET / ");
        client_free(clients[i]);
    }
    assert_int_equal(host->event_count, 1); /* at most one event per second */
    assert_int_equal(host->events[0].error, EMFILE);
    host_free(host);
}

/* A client that has just got a response may be about to send a request. So its connection is closed only with
 * its next response, and no request is lost. */
static void test_responses_close_their_connections_if_room_is_needed(void **state)
{
    (void)state;
    struct host *host = new_host(0);
    struct client *first = new_served(host), *second = new_served(host), *third;
    third = client_new_saying(host, REQUEST);
    limit_descriptors(0);
    assert_silence(third);
    assert_silence(first);
    client_say(first, REQUEST);
    assert_response(first, 200, "GET / ");
    assert_string_equal(client_field(first, "Connection"), "close");
    assert_end(first);
    assert_silence(third);
    unlimit_descriptors();
    client_free(first);
    assert_response(third, 200, "GET / "); /* without a wait */
    fake_clock_advance(100);
    client_say(second, REQUEST);
    assert_response(second, 200, "GET / ");
    assert_null(client_field(second, "Connection"));
    client_free(second);
    client_free(third);
    host_free(host);
}

static void test_a_lane_without_idle_connections_pauses_and_does_not_spin(void **state)
{
    (void)state;
    struct host *host = new_host(0);
    struct client *uploads[2] = {client_new_saying(host, UPLOAD), client_new_saying(host, UPLOAD)};
    struct client *clients[2] = {client_new_saying(host, REQUEST), client_new_saying(host, REQUEST)};
    limit_descriptors(2);
    for (int tenth = 0; tenth < 9; tenth++) { /* lane_slow_test.c tests longer times */
        host_settle(host);
        assert_int_equal(host_connections(host), 2);
        assert_true(host->lane->accept.paused);
        assert_true(would_wait(host));
        fake_clock_advance(99);
        host_settle(host);
        assert_true(host->lane->accept.paused && would_wait(host));
        fake_clock_advance(1);
    }
    assert_int_equal(host->event_count, 1);

    uint64_t since = real_ms();
    bb_lane_wait(host->lane); /* a lane that pauses wakes up by itself */
    assert_true(real_ms() - since < WAIT_LIMIT);
    unlimit_descriptors();
    for (int i = 0; i < 2; i++) {
        assert_response(clients[i], 200, "GET / ");
        client_free(clients[i]);
        client_free(uploads[i]);
    }
    host_free(host);
}

/* Queued clients are connected, and expect responses. So a drain waits until there is room. */
static void test_a_drain_without_descriptors_loses_no_client(void **state)
{
    (void)state;
    struct host *host = new_host(0);
    struct client *queued[3];
    for (int i = 0; i < 3; i++) queued[i] = client_new_saying(host, REQUEST);
    limit_descriptors(0);
    bb_worker_drain(host->worker, BB_QUEUE_TAKE);
    host_settle(host);
    assert_int_equal(host->last, BB_AGAIN);
    assert_true(would_wait(host));
    unlimit_descriptors();
    limit_descriptors(1);
    fake_clock_advance(100);
    for (int i = 0; i < 3; i++) {
        host_settle(host);
        assert_int_equal(host->served, i + 1);
        assert_response(queued[i], 200, "GET / ");
        assert_end(queued[i]);
        assert_true(would_wait(host));
        fake_clock_advance(1000); /* ms; now the lane may close this connection for the next client */
    }
    unlimit_descriptors();
    for (int i = 0; i < 3; i++) client_free(queued[i]);
    host_settle_to(host, 0);
    assert_int_equal(host->last, BB_DRAINED);
    host_free(host);
}

static void app_wants_a_descriptor(struct host *host, const struct bb_request *request)
{
    int fd = dup(0);
    assert_true(fd >= 0);
    close(fd);
    app_echo(host, request);
}

static void test_a_drain_leaves_descriptors_to_the_application(void **state)
{
    (void)state;
    struct host *host = new_host(0);
    struct client *queued[12];
    for (int i = 0; i < 12; i++)
        queued[i] = client_new_saying(host, "GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
    host->app = app_wants_a_descriptor;
    int limit = limit_descriptors(7);
    host->worker->room.reserve = limit - limit / 4;
    bb_worker_drain(host->worker, BB_QUEUE_TAKE);
    for (uint64_t since = real_ms(); host->served < 12 && real_ms() - since < WAIT_LIMIT;
         fake_clock_advance(10))
        host_turn(host);
    assert_int_equal(host->served, 12);
    unlimit_descriptors();
    for (int i = 0; i < 12; i++) {
        assert_response(queued[i], 200, "GET / ");
        client_free(queued[i]);
    }
    host_free(host);
}

/* epoll has no memory to watch the listener. The lane tries again later. */
static void test_a_listener_that_cannot_be_watched_is_tried_again(void **state)
{
    (void)state;
    struct host *host = new_host(0);
    bb_lane_free(host->lane);
    fail_socket.watch_error = ENOMEM;
    assert_int_equal(bb_lane_new(&host->lane, host->worker), BB_ESYSTEM);
    fail_socket.watch_error = 0;
    assert_int_equal(bb_lane_new(&host->lane, host->worker), BB_OK);

    struct client *uploads[2] = {client_new_saying(host, UPLOAD), client_new_saying(host, UPLOAD)};
    struct client *client = client_new_saying(host, REQUEST);
    limit_descriptors(2);
    host_settle(host);
    assert_true(host->lane->accept.paused);
    unlimit_descriptors();
    fail_socket.watch_error = ENOSPC;
    for (int tenth = 0; tenth < 5; tenth++) {
        fake_clock_advance(100);
        assert_silence(client);
        assert_true(host->lane->accept.paused && would_wait(host));
    }
    fail_socket.watch_error = 0;
    fake_clock_advance(100);
    assert_response(client, 200, "GET / ");
    for (int i = 0; i < 2; i++) client_free(uploads[i]);
    client_free(client);
    host_free(host);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_connection_that_is_idle_for_longest_is_closed),
        cmocka_unit_test(test_a_new_connection_never_starves),
        cmocka_unit_test(test_young_connections_are_spared),
        cmocka_unit_test(test_a_connection_with_an_unread_request_is_spared),
        cmocka_unit_test(test_a_connection_that_was_spared_is_no_younger),
        cmocka_unit_test(test_a_connection_may_be_closed_while_its_event_waits),
        cmocka_unit_test(test_idle_connections_of_a_busy_lane_keep_nobody_out),
        cmocka_unit_test(test_idle_connections_are_closed_if_there_are_no_descriptors),
        cmocka_unit_test(test_responses_close_their_connections_if_room_is_needed),
        cmocka_unit_test(test_a_lane_without_idle_connections_pauses_and_does_not_spin),
        cmocka_unit_test(test_a_drain_without_descriptors_loses_no_client),
        cmocka_unit_test(test_a_drain_leaves_descriptors_to_the_application),
        cmocka_unit_test(test_a_listener_that_cannot_be_watched_is_tried_again),
    };
    return cmocka_run_group_tests_name("lane_room", tests, NULL, NULL);
}
