/* lane_accept_test.c: the order in which new connections are accepted, errors of accept(), and listeners that
 * do not work. lane_room_test.c tests new connections when there is no room. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "accept_case.h"
#include "support/fail_socket.h"
#include "support/fake_clock.h"

/* ---- listeners that do not work ---- */

/* Another process has called shutdown() on the listener. If the lane still watched the listener, epoll would
 * report it again and again. */
static void test_a_broken_listener_does_not_make_the_lane_spin(void **state)
{
    (void)state;
    struct bb_settings settings = host_settings();
    for (int family = 0; family < 2; family++) {
        struct host *host = host_new(&settings, family ? AF_UNIX : AF_INET);
        struct client *client = new_served(host);
        shutdown(host->worker->listen.listeners[0].fd, SHUT_RDWR);
        host_settle(host);
        assert_true(would_wait(host));
        bb__lane_rescan(host->lane); /* a lane (serving thread) does this after each long request */
        host_settle(host);
        assert_int_equal(host->event_count, 1);
        pthread_mutex_lock(&host->worker->lock);
        assert_false(bb__worker_is_awaited(host->worker));
        pthread_mutex_unlock(&host->worker->lock);
        client_say(client, REQUEST);
        assert_response(client, 200, "GET / ");
        assert_true(would_wait(host));
        client_free(client);
        host_free(host);
    }
}

/* ---- the queue ---- */

static void test_a_descriptor_that_is_no_listener_is_reported(void **state)
{
    (void)state;
    struct host *host = new_host(0);
    assert_int_equal(bb_worker_listen(host->worker, -1, 1), BB_ESYSTEM);
    assert_int_equal(bb_worker_listen(host->worker, 0, BB_LISTENERS_MAX), BB_ENOMEM);

    int datagrams[2]; /* readable, but accept() never works */
    assert_int_equal(socketpair(AF_UNIX, SOCK_DGRAM, 0, datagrams), 0);
    bb_lane_free(host->lane);
    assert_int_equal(bb_worker_listen(host->worker, datagrams[0], 1), BB_OK);
    assert_int_equal(bb_lane_new(&host->lane, host->worker), BB_OK);
    assert_int_equal(send(datagrams[1], "x", 1, 0), 1);
    host_settle(host);
    assert_true(would_wait(host));
    assert_int_equal(host->event_count, 1);
    assert_int_equal(host->events[0].error, EOPNOTSUPP);
    struct client *client = new_served(host);
    client_free(client);
    close(datagrams[1]);
    host_free(host);
}

/* accept() returns the error of a connection that has failed in the queue (accept(2)). The listener and the
 * next connection still work. */
static void test_connections_that_failed_in_the_queue_are_skipped(void **state)
{
    (void)state;
    static const int errors[] = {ECONNABORTED, EPROTO, EINTR,       ENETDOWN, ENOPROTOOPT, EHOSTDOWN, ENONET,
                                 EHOSTUNREACH, EPERM,  ENETUNREACH, 0};
    struct host *host = new_host(0);
    fail_socket.accept_errors = errors;
    struct client *client = new_served(host);
    assert_int_equal(*fail_socket.accept_errors, 0);
    assert_int_equal(host->event_count, 0);
    client_free(client);
    host_free(host);
}

/* Other errors may be temporary, so the lane tries again. */
static void test_accept_is_tried_again_after_other_errors(void **state)
{
    (void)state;
    static const int once[] = {EACCES, 0};
    static int on_and_on[1001];
    struct host *host = new_host(0);
    fail_socket.accept_errors = once;
    struct client *client = client_new_saying(host, REQUEST);
    assert_silence(client);
    assert_int_equal(host->events[0].error, EACCES);
    fake_clock_advance(100);
    assert_response(client, 200, "GET / ");
    client_free(client);

    for (int i = 0; i < 1000; i++) on_and_on[i] = EPERM;
    fail_socket.accept_errors = on_and_on;
    client = client_new_saying(host, REQUEST);
    host_turn(host);
    assert_true(*fail_socket.accept_errors != 0);
    assert_response(client, 200, "GET / ");
    client_free(client);
    host_free(host);
}

static unsigned first_of[2], count_of[2];

static void app_notes_listener(struct host *host, const struct bb_request *request)
{
    unsigned which = request->listener == 7;
    if (count_of[which]++ == 0) first_of[which] = host->served;
    app_echo(host, request);
}

/* The second listener is added later, and its clients connect later. The lane must not accept all clients of
 * the first listener before it accepts clients of the second listener. */
static void test_no_listener_starves_another(void **state)
{
    (void)state;
    struct host *host = new_host(0);
    struct host second = {.family = AF_INET};
    struct client *clients[100];
    bb_lane_free(host->lane);
    assert_int_equal(bb_worker_listen(host->worker, host_bind(&second), 3), BB_OK);
    assert_int_equal(bb_lane_new(&host->lane, host->worker), BB_OK);
    host->app = app_notes_listener;
    for (int i = 0; i < 100; i++) {
        if (i == 50) host->family = AF_INET, host->address = second.address;
        if (i == 50) host->address_len = second.address_len;
        clients[i] = client_new_saying(host, REQUEST);
    }
    host_settle(host);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(count_of[i], 50);
        assert_true(first_of[i] <= 2 * BB_IN_A_ROW);
    }
    for (int i = 0; i < 100; i++) client_free(clients[i]);
    host_free(host);
}

/* `regular` is connected before a flood of new clients. The flood must not delay the request of `regular`. */
static struct client *regular;
static unsigned regular_at;

static void app_notes_regular(struct host *host, const struct bb_request *request)
{
    if (host->served == 20) client_say(regular, "GET /regular HTTP/1.1\r\nHost: x\r\n\r\n");
    if (request->head.target.len > 1) regular_at = host->served;
    app_echo(host, request);
}

static void test_a_flood_of_new_clients_takes_turns_with_others(void **state)
{
    (void)state;
    struct host *host = new_host(0);
    struct client *flood[100];
    regular = new_served(host);
    host->app = app_notes_regular;
    for (int i = 0; i < 100; i++) flood[i] = client_new_saying(host, REQUEST);
    host_settle(host);
    assert_int_equal(host->served, 102);
    assert_true(regular_at > 20 && regular_at <= 20 + 2 * BB_IN_A_ROW);
    client_free(regular);
    for (int i = 0; i < 100; i++) client_free(flood[i]);
    host_free(host);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_broken_listener_does_not_make_the_lane_spin),
        cmocka_unit_test(test_a_descriptor_that_is_no_listener_is_reported),
        cmocka_unit_test(test_connections_that_failed_in_the_queue_are_skipped),
        cmocka_unit_test(test_accept_is_tried_again_after_other_errors),
        cmocka_unit_test(test_no_listener_starves_another),
        cmocka_unit_test(test_a_flood_of_new_clients_takes_turns_with_others),
    };
    return cmocka_run_group_tests_name("lane_accept", tests, NULL, NULL);
}
