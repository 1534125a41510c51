/* lane_accept_test.c: new connections when there is no room for them: which one goes, who waits, and that
 * nobody spins or is starved. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/resource.h>

#include <cmocka.h>

#include "client.h"
#include "fail_socket.h"
#include "fake_clock.h"

#define REQUEST "GET / HTTP/1.1\r\nHost: x\r\n\r\n"
#define UPLOAD  "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\n\r\n"

static struct host *new_host(uint64_t max_connections)
{
    struct bb_settings settings = host_settings();
    settings.max_connections = max_connections;
    return host_new(&settings, AF_UNIX);
}

static struct client *new_served(struct host *host)
{
    struct client *client = client_new(host);
    client_say(client, REQUEST);
    assert_answer(client, 200, "GET / ");
    return client;
}

static struct client *new_saying(struct host *host, const char *text)
{
    struct client *client = client_new(host);
    client_say(client, text);
    return client;
}

/* ---- max_connections ---- */

static void test_the_longest_idle_goes(void **state)
{
    (void)state;
    struct host *host = new_host(3);
    struct client *clients[5];
    for (int i = 0; i < 3; i++) clients[i] = new_served(host);
    client_say(clients[0], REQUEST); /* the first is not the longest idle any more */
    assert_answer(clients[0], 200, "GET / ");

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

/* With nobody idle the new one is served all the same; the next one waits a little. */
static void test_a_new_one_is_never_starved(void **state)
{
    (void)state;
    struct host *host = new_host(2);
    struct client *uploads[2] = {new_saying(host, UPLOAD), new_saying(host, UPLOAD)};
    host_settle(host);
    assert_int_equal(host_connections(host), 2);

    struct client *third = new_saying(host, UPLOAD), *fourth = new_saying(host, REQUEST);
    host_settle(host);
    assert_int_equal(host_connections(host), 3);
    assert_silence(fourth);
    assert_true(would_wait(host));
    fake_clock_advance(99);
    assert_silence(fourth);
    fake_clock_advance(1);
    assert_answer(fourth, 200, "GET / ");
    client_free(third);
    client_free(fourth);
    for (int i = 0; i < 2; i++) client_free(uploads[i]);
    host_free(host);
}

/* What a young connection waits for may be on its way; an old one keeps nobody out. */
static void test_the_young_are_spared(void **state)
{
    (void)state;
    static const char *const says[] = {"", "GET / HT", "nonsense\r\n\r\n"};
    static const int kinds[] = {BB_DEADLINE_FRESH, BB_DEADLINE_HEADER, BB_DEADLINE_LINGER};
    for (int i = 0; i < 3; i++) {
        struct host *host = new_host(2);
        struct client *upload = new_saying(host, UPLOAD), *young = new_saying(host, says[i]);
        host_settle(host);
        assert_non_null(bb__deadline_oldest(&host->lane->context.deadlines, kinds[i]));

        fake_clock_advance(999);
        struct client *second = new_saying(host, UPLOAD);
        host_settle(host);
        assert_int_equal(host_connections(host), 3);
        fake_clock_advance(100);
        struct client *third = new_saying(host, REQUEST);
        assert_answer(third, 200, "GET / ");
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

/* ---- no descriptors ---- */

static struct rlimit before;

/* Leaves the process so many descriptors more. */
static void limit_descriptors(int more)
{
    int fds[8];
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
    for (int i = 0; i <= more; i++) fds[i] = dup(0);
    struct rlimit few = {.rlim_cur = (rlim_t)fds[more], .rlim_max = before.rlim_max};
    for (int i = 0; i <= more; i++) close(fds[i]);
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &few), 0);
}

static void unlimit_descriptors(void)
{
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
}

#define MANY 50

static void test_without_descriptors_the_idle_go_and_no_answer_is_lost(void **state)
{
    (void)state;
    struct host *host = new_host(0);
    struct client *clients[MANY];
    for (int i = 0; i < MANY; i++) clients[i] = new_saying(host, REQUEST);
    limit_descriptors(5);
    while (host->served < MANY) host_turn(host);
    assert_true(host_connections(host) >= 4); /* accept4() says EMFILE to an empty queue as well */
    unlimit_descriptors();
    for (int i = 0; i < MANY; i++) {
        assert_answer(clients[i], 200, "GET / ");
        client_free(clients[i]);
    }
    assert_int_equal(host->news_count, 1); /* once a second */
    assert_int_equal(host->news[0].error, EMFILE);
    host_free(host);
}

static void test_with_nobody_idle_it_pauses_and_does_not_spin(void **state)
{
    (void)state;
    struct host *host = new_host(0);
    struct client *uploads[2] = {new_saying(host, UPLOAD), new_saying(host, UPLOAD)};
    struct client *clients[2] = {new_saying(host, REQUEST), new_saying(host, REQUEST)};
    limit_descriptors(2);
    for (int tenth = 0; tenth < 20; tenth++) {
        host_settle(host);
        assert_int_equal(host_connections(host), 2);
        assert_true(host->lane->paused);
        assert_true(would_wait(host));
        fake_clock_advance(99);
        host_settle(host);
        assert_true(host->lane->paused && would_wait(host));
        fake_clock_advance(1);
    }
    assert_int_equal(host->news_count, 2);

    uint64_t since = real_ms();
    bb_lane_wait(
        host->lane); /* the pause that is over ends no wait; and a lane that pauses wakes up by itself */
    assert_true(real_ms() - since < 1000);
    unlimit_descriptors();
    for (int i = 0; i < 2; i++) {
        assert_answer(clients[i], 200, "GET / ");
        client_free(clients[i]);
        client_free(uploads[i]);
    }
    host_free(host);
}

/* The queue has been promised an answer: an order to drain that comes meanwhile waits for room. */
static void test_a_drain_without_descriptors_loses_nobody(void **state)
{
    (void)state;
    struct host *host = new_host(0);
    struct client *queued[3];
    for (int i = 0; i < 3; i++) queued[i] = new_saying(host, REQUEST);
    limit_descriptors(0);
    bb_worker_drain(host->worker);
    host_settle(host);
    assert_int_equal(host->last, BB_AGAIN);
    assert_true(would_wait(host));
    unlimit_descriptors();
    limit_descriptors(1);
    fake_clock_advance(100);
    for (int i = 0; i < 3; i++) {
        host_settle(host);
        assert_int_equal(host->served, i + 1);
        assert_answer(queued[i], 200, "GET / ");
        assert_end(queued[i]);
        assert_true(would_wait(host));
        fake_clock_advance(1000); /* now it may go for the next one */
    }
    unlimit_descriptors();
    for (int i = 0; i < 3; i++) client_free(queued[i]);
    host_settle_to(host, 0);
    assert_int_equal(host->last, BB_DRAINED);
    host_free(host);
}

/* No memory to watch a listener: it is tried again later. */
static void test_a_listener_that_cannot_be_watched(void **state)
{
    (void)state;
    struct host *host = new_host(0);
    bb_lane_free(host->lane);
    fail_socket.watch_error = ENOMEM;
    assert_int_equal(bb_lane_new(&host->lane, host->worker), BB_ESYSTEM);
    fail_socket.watch_error = 0;
    assert_int_equal(bb_lane_new(&host->lane, host->worker), BB_OK);

    struct client *uploads[2] = {new_saying(host, UPLOAD), new_saying(host, UPLOAD)};
    struct client *client = new_saying(host, REQUEST);
    limit_descriptors(2);
    host_settle(host);
    assert_true(host->lane->paused);
    unlimit_descriptors();
    fail_socket.watch_error = ENOSPC;
    for (int tenth = 0; tenth < 5; tenth++) {
        fake_clock_advance(100);
        assert_silence(client);
        assert_true(host->lane->paused && would_wait(host));
    }
    fail_socket.watch_error = 0;
    fake_clock_advance(100);
    assert_answer(client, 200, "GET / ");
    for (int i = 0; i < 2; i++) client_free(uploads[i]);
    client_free(client);
    host_free(host);
}

/* Somebody else has shut it down: it would be "ready" for ever. */
static void test_a_broken_listener_does_not_make_it_spin(void **state)
{
    (void)state;
    struct bb_settings settings = host_settings();
    for (int family = 0; family < 2; family++) {
        struct host *host = host_new(&settings, family ? AF_UNIX : AF_INET);
        struct client *client = new_served(host);
        shutdown(host->worker->listeners[0].fd, SHUT_RDWR);
        host_settle(host);
        assert_true(would_wait(host));
        assert_int_equal(host->news_count, 1);
        client_say(client, REQUEST);
        assert_answer(client, 200, "GET / ");
        assert_true(would_wait(host));
        client_free(client);
        host_free(host);
    }
}

/* ---- the queue ---- */

static void test_what_is_no_listener(void **state)
{
    (void)state;
    struct host *host = new_host(0);
    assert_int_equal(bb_worker_listen(host->worker, -1, 1), BB_ESYSTEM);
    assert_int_equal(bb_worker_listen(host->worker, 0, BB_LISTENERS_MAX), BB_ENOMEM);

    int datagrams[2]; /* readable, but accepting from it never works */
    assert_int_equal(socketpair(AF_UNIX, SOCK_DGRAM, 0, datagrams), 0);
    bb_lane_free(host->lane);
    assert_int_equal(bb_worker_listen(host->worker, datagrams[0], 1), BB_OK);
    assert_int_equal(bb_lane_new(&host->lane, host->worker), BB_OK);
    assert_int_equal(send(datagrams[1], "x", 1, 0), 1);
    host_settle(host);
    assert_true(would_wait(host));
    assert_int_equal(host->news_count, 1);
    assert_int_equal(host->news[0].error, EOPNOTSUPP);
    struct client *client = new_served(host);
    client_free(client);
    close(datagrams[1]);
    host_free(host);
}

/* accept(2): errors of a connection that failed in the queue say nothing of the listener, nor of the next
 * one. */
static void test_connections_that_failed_in_the_queue(void **state)
{
    (void)state;
    static const int errors[] = {ECONNABORTED, EPROTO, EINTR,       ENETDOWN, ENOPROTOOPT, EHOSTDOWN, ENONET,
                                 EHOSTUNREACH, EPERM,  ENETUNREACH, 0};
    struct host *host = new_host(0);
    fail_socket.accept_errors = errors;
    struct client *client = new_served(host);
    assert_int_equal(*fail_socket.accept_errors, 0);
    assert_int_equal(host->news_count, 0);
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

/* Neither by the order in which they were added nor by that of their events. */
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
        clients[i] = new_saying(host, REQUEST);
    }
    host_settle(host);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(count_of[i], 50);
        assert_true(first_of[i] <= 2 * BB_IN_A_ROW);
    }
    for (int i = 0; i < 100; i++) client_free(clients[i]);
    host_free(host);
}

/* A flood of new clients does not keep those waiting that are here, nor those at another listener. */
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
    for (int i = 0; i < 100; i++) flood[i] = new_saying(host, REQUEST);
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
        cmocka_unit_test(test_the_longest_idle_goes),
        cmocka_unit_test(test_a_new_one_is_never_starved),
        cmocka_unit_test(test_the_young_are_spared),
        cmocka_unit_test(test_without_descriptors_the_idle_go_and_no_answer_is_lost),
        cmocka_unit_test(test_with_nobody_idle_it_pauses_and_does_not_spin),
        cmocka_unit_test(test_a_drain_without_descriptors_loses_nobody),
        cmocka_unit_test(test_a_listener_that_cannot_be_watched),
        cmocka_unit_test(test_a_broken_listener_does_not_make_it_spin),
        cmocka_unit_test(test_what_is_no_listener),
        cmocka_unit_test(test_connections_that_failed_in_the_queue),
        cmocka_unit_test(test_no_listener_starves_another),
        cmocka_unit_test(test_a_flood_of_new_clients_takes_turns_with_others),
    };
    return cmocka_run_group_tests_name("lane_accept", tests, NULL, NULL);
}
