/* lane_queue_test.c: connections that are in the listeners' queues when bb_worker_drain() is called. Tests
 * which worker serves these connections, and when. */
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <unistd.h>

#include <cmocka.h>

#include "lane/drain_case.h"
#include "support/fail_socket.h"
#include "support/fake_clock.h"
#include "support/fake_pause.h"
#include "support/sleeping.h"

static void test_a_drain_serves_queued_connections(void **state)
{
    (void)state;
    static const int families[] = {AF_UNIX, AF_INET};
    for (int family = 0; family < 2; family++) {
        struct host *host = host_new_default(families[family]);
        struct client *clients[40];
        for (int i = 0; i < 40; i++) {
            clients[i] = client_new(host);
            client_say(clients[i], i % 2 ? REQUEST : "GET / HT"); /* half of the clients send half a head */
        }
        bb_worker_drain(host->worker, BB_QUEUE_TAKE);
        host_settle(host);
        for (int i = 0; i < 40; i++) {
            if (i % 2 == 0) client_say(clients[i], "TP/1.1\r\nHost: x\r\n\r\n");
            assert_last_response(clients[i], "GET / ");
        }
        assert_drained(host);
    }
}

static void test_queued_connections_that_no_lane_takes_are_closed(void **state)
{
    (void)state;
    struct host *host = host_new_default(AF_INET);
    struct client *client = client_new(host);
    bb_worker_drain(host->worker, BB_QUEUE_TAKE);
    client_free(client);
    host_free(host);
}

/* bb_worker_drain() finds no free descriptor, so a lane must take the queued connections later. */
static void drain_without_descriptors(struct host *host)
{
    static const int errors[] = {EMFILE, 0};
    fail_socket.accept_errors = errors;
    bb_worker_drain(host->worker, BB_QUEUE_TAKE);
    fail_socket.accept_errors = NULL;
    assert_false(bb__worker_has_closed(host->worker));
}

static void test_a_listener_that_is_closed_with_its_lane_is_forgotten(void **state)
{
    (void)state;
    struct host *other = host_new_default(AF_UNIX), *host = host_new_default(AF_UNIX);
    int number = host->worker->listen.listeners[0].fd;
    drain_without_descriptors(host);
    bb_lane_free(host->lane);
    host->lane = NULL;
    assert_int_equal(dup2(other->worker->listen.listeners[0].fd, number), number);
    struct client *client = client_new(other);
    bb_worker_drain(host->worker, BB_QUEUE_TAKE);
    client_say(client, REQUEST);
    assert_response(client, 200, "GET / ");
    client_free(client);
    host_settle_to(other, 0);
    host->descriptors++;
    host_free(host);
    assert_int_equal(close(number), 0);
    host_free(other);
}

struct leaver {
    struct bb_lane *lane;
    atomic_int id;
};

static void *free_lane(void *argument)
{
    struct leaver *leaver = argument;
    atomic_store(&leaver->id, gettid());
    bb_lane_free(leaver->lane);
    return NULL;
}

/* The old lane ends while a new lane is made. Both lanes wait for the worker's lock. The new lane is counted
 * in listen.lane_count before it has the lock. So the old lane knows that it is not the last lane. */
static void test_a_lane_that_begins_as_the_last_lane_ends_takes_the_queue(void **state)
{
    (void)state;
    struct host *host = host_new_default(AF_UNIX);
    struct client *client = client_new(host);
    struct leaver leaver = {.lane = host->lane};
    pthread_t thread;
    drain_without_descriptors(host);
    pthread_mutex_lock(&host->worker->lock);
    assert_int_equal(pthread_create(&thread, NULL, free_lane, &leaver), 0);
    while (atomic_load(&leaver.id) == 0 || !sleeps(atomic_load(&leaver.id))) (void)sched_yield();
    bb__worker_lane_listens(host->worker);
    pthread_mutex_unlock(&host->worker->lock);
    assert_int_equal(pthread_join(thread, NULL), 0);
    assert_int_equal(bb_lane_new(&host->lane, host->worker), BB_OK);
    bb__worker_lane_stops(host->worker);
    client_say(client, REQUEST);
    assert_last_response(client, "GET / ");
    assert_drained(host);
}

static void test_queued_connections_are_left_to_other_processes(void **state)
{
    (void)state;
    static const int families[] = {AF_UNIX, AF_INET};
    for (int family = 0; family < 2; family++) {
        struct host *host = host_new_default(families[family]);
        int elsewhere = dup(host->worker->listen.listeners[0].fd);
        struct client *mine = client_new(host), *client;
        client_say(mine, "GET / HT");
        host_settle(host);
        assert_true(would_wait(host));
        host_turn(host); /* the lane has found no event, and is not in bb_lane_wait() */
        client = client_new(host);
        client_say(client, REQUEST);
        bb_worker_drain(host->worker, BB_QUEUE_LEAVE);
        bb_worker_drain(host->worker, BB_QUEUE_TAKE); /* too late: the listeners are closed */
        host_settle(host);
        assert_int_equal(host->served, 0);
        client_say(mine, "TP/1.1\r\nHost: x\r\n\r\n");
        assert_last_response(mine, "GET / ");
        int accepted = accept(elsewhere, NULL, NULL);
        assert_true(accepted >= 0);
        close(accepted);
        close(elsewhere);
        client_free(client);
        assert_drained(host);
    }
}

/* The kernel has woken only this lane for the first connection. So the lane must serve this connection, but
 * not the second one. */
static void test_a_connection_that_has_woken_a_lane_is_not_left(void **state)
{
    (void)state;
    struct host *host = host_new_default(AF_UNIX);
    int elsewhere = dup(host->worker->listen.listeners[0].fd);
    struct client *first = client_new(host), *second = client_new(host);
    client_say(first, REQUEST);
    client_say(second, REQUEST);
    bb_lane_wait(host->lane);
    bb_worker_drain(host->worker, BB_QUEUE_LEAVE);
    assert_last_response(first, "GET / ");
    assert_silence(second);
    close(elsewhere);
    client_free(second);
    assert_drained(host);
}

static struct host *closing;
static struct client *newcomer;

static void comes(void)
{
    fail_socket.before_unwatching = NULL;
    newcomer = client_new(closing);
    client_say(newcomer, REQUEST);
}

/* While the listener is being closed, a client connects and wakes the lane. */
static void comes_and_wakes_the_lane(void)
{
    comes();
    bb_lane_wait(closing->lane);
}

static void test_a_lane_that_is_woken_as_its_listener_closes_serves(void **state)
{
    (void)state;
    closing = host_new_default(AF_UNIX);
    int elsewhere = dup(closing->worker->listen.listeners[0].fd);
    fail_socket.before_unwatching = comes_and_wakes_the_lane;
    bb_worker_drain(closing->worker, BB_QUEUE_LEAVE);
    assert_last_response(newcomer, "GET / ");
    close(elsewhere);
    assert_drained(closing);
}

/* ---- clients that connect during the drain ---- */

static void test_a_client_that_connects_as_the_listeners_close_is_served(void **state)
{
    (void)state;
    closing = host_new_default(AF_INET);
    fail_socket.before_unwatching = comes;
    bb_worker_drain(closing->worker, BB_QUEUE_TAKE);
    assert_last_response(newcomer, "GET / ");
    assert_drained(closing);
}

static struct host *flooded;
static struct client *flood[400];
static unsigned flood_count;

static void flood_comes(void)
{
    fake_clock_advance(10);
    for (int i = 0; i < 16 && flood_count < 400; i++) flood[flood_count++] = client_new(flooded);
}

static void test_a_flood_of_connections_does_not_delay_a_drain(void **state)
{
    (void)state;
    flooded = host_new_default(AF_UNIX);
    flood_count = 0;
    flood_comes();
    in_the_pause = flood_comes;
    bb_worker_drain(flooded->worker, BB_QUEUE_TAKE);
    in_the_pause = NULL;
    assert_true(bb__worker_has_closed(flooded->worker));
    assert_in_range(flood_count, 300, 399);
    for (unsigned i = 0; i < flood_count; i++) client_free(flood[i]);
    assert_drained(flooded);
}

/* bb_worker_drain() accepts some queued connections, then pauses for 1 ms, and so on. On a busy machine such
 * a pause can take far longer. */
static void pause_takes_long(void)
{
    fake_clock_advance(1000);
}

static void test_all_queued_connections_are_taken_if_pauses_are_long(void **state)
{
    (void)state;
    flooded = host_new_default(AF_UNIX);
    for (flood_count = 0; flood_count < 400; flood_count++) flood[flood_count] = client_new(flooded);
    in_the_pause = pause_takes_long;
    bb_worker_drain(flooded->worker, BB_QUEUE_TAKE);
    in_the_pause = NULL;
    assert_int_equal(atomic_load(&flooded->worker->queued.count), 400);
    for (unsigned i = 0; i < flood_count; i++) client_free(flood[i]);
    assert_drained(flooded);
}

/* ---- two workers ---- */

/* Two processes share a listener and begin to drain at about the same time. Each process accepts a part of
 * the queued connections. */
static struct bb_worker *other;

static void other_is_told(void)
{
    in_the_pause = NULL;
    bb_worker_drain(other, BB_QUEUE_TAKE);
}

static void test_workers_that_drain_together_share_the_queue(void **state)
{
    (void)state;
    enum { QUEUED = 400 };
    struct host *host = host_new_default(AF_UNIX);
    struct bb_settings settings = host_settings();
    struct client *clients[QUEUED];
    assert_int_equal(bb_worker_new(&other, &settings), BB_OK);
    assert_int_equal(bb_worker_listen(other, dup(host->worker->listen.listeners[0].fd), 0), BB_OK);
    for (int i = 0; i < QUEUED; i++) clients[i] = client_new(host);
    in_the_pause = other_is_told;
    bb_worker_drain(host->worker, BB_QUEUE_TAKE);
    assert_int_equal(atomic_load(&host->worker->queued.count), 1);
    assert_int_equal(atomic_load(&other->queued.count), QUEUED - 1);
    bb_worker_free(other);
    for (int i = 0; i < QUEUED; i++) client_free(clients[i]);
    assert_drained(host);
}

static unsigned pauses;

static void pause_is_counted(void)
{
    pauses++;
    fake_clock_advance(1);
}

/* In the first 50 ms, a worker accepts one connection at a time, because other workers may wake up later.
 * After 50 ms it accepts BB_IN_A_ROW connections at a time. If it accepted all connections at once, the other
 * workers would get none. */
static void test_a_long_queue_is_taken_in_larger_parts_after_a_time(void **state)
{
    (void)state;
    enum { AWAKE = 50 };
    flooded = host_new_default(AF_UNIX);
    for (flood_count = 0; flood_count < 400; flood_count++) flood[flood_count] = client_new(flooded);
    pauses = 0;
    in_the_pause = pause_is_counted;
    bb_worker_drain(flooded->worker, BB_QUEUE_TAKE);
    in_the_pause = NULL;
    assert_in_range(pauses, AWAKE + (400 - AWAKE) / BB_IN_A_ROW, AWAKE + (400 - AWAKE) / BB_IN_A_ROW + 1);
    for (unsigned i = 0; i < flood_count; i++) client_free(flood[i]);
    assert_drained(flooded);
}

static struct client *slow;

/* The client `slow` reads its response while the lane serves queued connections. */
static void app_large_or_short(struct host *host, const struct bb_request *request)
{
    static char body[900 * 1000];
    memset(body, 'x', sizeof body);
    if (request->head.target.len > 1)
        host_respond(host, 200, body, sizeof body);
    else
        app_echo(host, request);
    while (slow && client_receive(slow)) continue;
}

static void test_queued_connections_do_not_delay_a_response(void **state)
{
    (void)state;
    struct host *host = host_new_default(AF_INET);
    struct client *clients[100], *large = client_new(host);
    int little = 64 * 1024;
    host->app = app_large_or_short;
    setsockopt(large->fd, SOL_SOCKET, SO_RCVBUF, &little, sizeof little);
    host_settle(host);
    setsockopt(host->lane->set.conns->fd, SOL_SOCKET, SO_SNDBUF, &little, sizeof little);
    client_say(large, "GET /large HTTP/1.1\r\nHost: x\r\n\r\n");
    host_settle(host);
    assert_int_equal(host->lane->set.conns->state, BB_CONN_FLUSH);
    for (int i = 0; i < 100; i++) {
        clients[i] = client_new(host);
        client_say(clients[i], REQUEST);
    }
    bb_worker_drain(host->worker, BB_QUEUE_TAKE);
    slow = large;
    while (host->served < 50) host_turn(host);
    slow = NULL;
    assert_in_range(bb__buf_len(&large->in), 500 * 1000, 1000 * 1000);
    host_settle(host);
    for (int i = 0; i < 100; i++) client_free(clients[i]);
    client_free(large);
    assert_drained(host);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_drain_serves_queued_connections),
        cmocka_unit_test(test_queued_connections_that_no_lane_takes_are_closed),
        cmocka_unit_test(test_a_listener_that_is_closed_with_its_lane_is_forgotten),
        cmocka_unit_test(test_a_lane_that_begins_as_the_last_lane_ends_takes_the_queue),
        cmocka_unit_test(test_queued_connections_are_left_to_other_processes),
        cmocka_unit_test(test_a_connection_that_has_woken_a_lane_is_not_left),
        cmocka_unit_test(test_a_lane_that_is_woken_as_its_listener_closes_serves),
        cmocka_unit_test(test_a_client_that_connects_as_the_listeners_close_is_served),
        cmocka_unit_test(test_a_flood_of_connections_does_not_delay_a_drain),
        cmocka_unit_test(test_all_queued_connections_are_taken_if_pauses_are_long),
        cmocka_unit_test(test_workers_that_drain_together_share_the_queue),
        cmocka_unit_test(test_a_long_queue_is_taken_in_larger_parts_after_a_time),
        cmocka_unit_test(test_queued_connections_do_not_delay_a_response),
    };
    return cmocka_run_group_tests_name("lane_queue", tests, NULL, NULL);
}
