/* lane_reserve_test.c: the core leaves the last descriptors to the host (the program that calls the core),
 * and leaves connections in the shared queue while it has no descriptor for them. lane_room_test.c tests what
 * else happens without free descriptors. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "accept_case.h"
#include "support/fake_clock.h"
#include "support/few_descriptors.h"

/* Two lanes share the descriptors. One lane has most of the connections, is busy, and closes no connection.
 * The other lane still must not use the descriptors reserved for the application. */
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
    LINUX_ONLY; /* elsewhere the descriptor is open already */
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

/* Puts a request into the shared queue whose head and body are files, so the message has three
 * descriptors. */
static struct client *new_with_files(struct host *host)
{
    static char head[21000], body[9000];
    int len = snprintf(head, sizeof head,
                       "POST / HTTP/1.1\r\nHost: x\r\nX: %020000d\r\nContent-Length: 9000\r\n\r\n", 0);
    struct client *client = new_served(host);
    struct bb_lane *lane = host->lane;
    struct bb__conn *conn = lane->set.conns;
    assert_int_equal(write(client->fd, head, (size_t)len), len);
    while (conn->state != BB_CONN_BODY) (void)bb__conn_on_ready(conn, &lane->context, BB_INTEREST_READ);
    assert_int_equal(write(client->fd, body, sizeof body), sizeof body);
    while (bb__conn_on_ready(conn, &lane->context, BB_INTEREST_READ) != BB_CONN_REQUEST) continue;
    bb__conn_set_pass(&lane->set, &lane->context, conn, &host->worker->shared.queue);
    return client;
}

/* If one of the descriptors of a message has no place, the connection in the message is lost. */
static void test_a_message_waits_for_places_for_all_its_descriptors(void **state)
{
    LINUX_ONLY;
    (void)state;
    struct host *host = new_host(0);
    for (int places = 0; places < 3; places++) {
        struct client *client = new_with_files(host);
        atomic_store(&host->worker->room.exhausted, true);
        limit_descriptors(places);
        for (int tenth = 0; tenth < 3; tenth++) {
            host_settle(host);
            assert_true(host->lane->accept.paused);
            fake_clock_advance(100);
        }
        unlimit_descriptors();
        assert_response(client, 200, NULL);
        client_free(client);
        host_settle(host);
    }
    host_free(host);
}

/* Lets the client's request wait in the shared queue while the process has no free descriptor. */
static struct client *new_left_behind(struct host *host)
{
    struct client *client = new_served(host);
    client_say(client, REQUEST);
    pass_on(host, host->lane->set.conns);
    atomic_store(&host->worker->room.exhausted, true);
    return client;
}

/* A lane that cannot take a message wakes another lane for it once, not with each pause. */
static void test_a_message_that_is_left_wakes_another_lane_once(void **state)
{
    LINUX_ONLY;
    (void)state;
    struct host *host = new_host(0);
    struct client *passed = new_left_behind(host);
    limit_descriptors(0);
    for (int tenth = 0; tenth < 20; tenth++) {
        host_settle(host);
        fake_clock_advance(100);
    }
    unlimit_descriptors();
    static char bytes[BB_SHARED_QUEUE_BYTES];
    struct bb__shared_message message;
    int messages = 0;
    while (bb__shared_queue_take(&host->worker->shared.queue, bytes, &message) == BB_OK) {
        messages++;
        while (message.fd_count > 0) close(message.fds[--message.fd_count]);
    }
    assert_in_range(messages, 1, 2);
    client_free(passed);
    host_free(host);
}

/* Each lane of the server drains. Descriptors are free again a moment later. */
static void test_the_last_worker_waits_for_descriptors(void **state)
{
    (void)state;
    struct host *host = new_host(0);
    struct bb_scoreboard *scoreboard;
    assert_int_equal(bb_scoreboard_new(&scoreboard, 1), BB_OK);
    host_enter_scoreboard(host, scoreboard);
    struct client *passed = new_left_behind(host);
    limit_descriptors(0);
    host_settle(host);
    bb_worker_drain(host->worker, BB_QUEUE_TAKE);
    for (int looks = 0; looks < 3; looks++) host_settle(host);
    unlimit_descriptors();
    fake_clock_advance(100);
    assert_response(passed, 200, "GET / ");
    client_free(passed);
    for (int tenth = 0; tenth < 30 && host->last != BB_DRAINED; tenth++) {
        host_settle(host);
        fake_clock_advance(100);
    }
    assert_int_equal(host->last, BB_DRAINED);
    host_free(host);
    bb_scoreboard_free(scoreboard);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_lane_with_few_connections_leaves_the_reserve_alone),
        cmocka_unit_test(test_a_connection_that_was_passed_on_waits_for_room),
        cmocka_unit_test(test_a_message_waits_for_places_for_all_its_descriptors),
        cmocka_unit_test(test_a_message_that_is_left_wakes_another_lane_once),
        cmocka_unit_test(test_the_last_worker_waits_for_descriptors),
    };
    return cmocka_run_group_tests_name("lane_reserve", tests, NULL, NULL);
}
