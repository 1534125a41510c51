/* lane_slow_test.c: clients that send or read slowly when there is no room for more connections. The lane
 * closes the slowest connections, at most ten per second. A new client with a whole request is served within
 * a second. A connection that was passed on waits for a descriptor. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "accept_case.h"
#include "support/fake_clock.h"
#include "support/few_descriptors.h"

#define CROWD 300

static bool is_refused(struct client *client, int status)
{
    while (client_receive(client)) continue;
    return bb__buf_len(&client->in) > 12 && atoi(bb__buf_bytes(&client->in) + 9) == status;
}

static void test_the_slowest_upload_is_ended(void **state)
{
    (void)state;
    struct host *host = new_host(3);
    struct client *uploads[3], *others[3];
    for (int i = 0; i < 3; i++) uploads[i] = client_new_saying(host, UPLOAD);
    host_settle(host);
    client_say(uploads[0], "something");
    client_say(uploads[2], "some");
    fake_clock_advance(1000);
    host_settle(host);
    others[0] = client_new_saying(host, UPLOAD);
    host_settle(host);
    assert_true(is_refused(uploads[1], 408));
    for (int i = 1; i < 3; i++) others[i] = client_new_saying(host, UPLOAD);
    fake_clock_advance(100);
    host_settle(host);
    assert_true(is_refused(uploads[2], 408));
    assert_false(is_refused(uploads[0], 408)); /* the lane closes at most ten connections per second */
    fake_clock_advance(100);
    client_say(others[0], "something more than that");
    struct client *quick =
        client_new_saying(host, REQUEST); /* the lane closes no connection for this client */
    assert_response(quick, 200, "GET / ");
    assert_false(is_refused(uploads[0], 408));
    client_free(quick);
    assert_int_equal(host->events[0].status, 408);
    assert_int_equal(host->event_count, 1);
    for (int i = 0; i < 3; i++) client_free(uploads[i]);
    for (int i = 0; i < 3; i++) client_free(others[i]);
    host_free(host);
}

/* Each client sends half a request, but only after the lane has accepted the client. */
static void test_half_requests_that_come_late_do_not_delay_a_new_client(void **state)
{
    (void)state;
    struct host *host = new_host(10);
    struct client *crowd[CROWD];
    for (int i = 0; i < CROWD; i++) {
        crowd[i] = client_new(host);
        host_settle(host);
        fake_clock_advance(2);
        if (send(crowd[i]->fd, UPLOAD, strlen(UPLOAD), MSG_NOSIGNAL) < 0) assert_int_equal(errno, EPIPE);
        if (i % 50 == 0) fake_clock_advance(100);
        assert_true(host_connections(host) <= 10 + 2 * 16 + 1);
    }
    struct client *client = client_new_saying(host, REQUEST);
    for (int tenth = 0; tenth < 10 && host->served == 0; tenth++, fake_clock_advance(100))
        for (int turn = 0; turn < 50; turn++) host_turn(host);
    assert_response(client, 200, "GET / ");
    for (int i = 0; i < CROWD; i++) client_free(crowd[i]);
    client_free(client);
    host_free(host);
}

/* The clients with half requests are in the accept queue before the new client. */
static void test_a_new_client_behind_many_half_requests_is_served(void **state)
{
    (void)state;
    static const char *const says[] = {UPLOAD, "GET / HTTP/1.1\r\n", ""};
    for (int kind = 0; kind < 3; kind++) {
        struct host *host = new_host(10);
        struct client *crowd[CROWD];
        for (int i = 0; i < CROWD; i++) crowd[i] = client_new_saying(host, says[kind]);
        struct client *client = client_new_saying(host, REQUEST);
        for (int tenth = 0; tenth < 10 && host->served == 0; tenth++) {
            for (int turn = 0; turn < 50; turn++) host_turn(host);
            fake_clock_advance(100);
        }
        assert_int_equal(host->served, 1);
        assert_true(host_connections(host) <= 10 + 2 * 16 + 1);
        assert_response(client, 200, "GET / ");
        for (int i = 0; i < CROWD; i++) client_free(crowd[i]);
        client_free(client);
        host_free(host);
    }
}

static void test_clients_are_served_although_uploads_have_all_descriptors(void **state)
{
    (void)state;
    struct host *host = new_host(0);
    struct client *uploads[12], *clients[3];
    for (int i = 0; i < 12; i++) uploads[i] = client_new_saying(host, UPLOAD);
    for (int i = 0; i < 3; i++) clients[i] = client_new_saying(host, REQUEST);
    limit_descriptors(4);
    unsigned tenths = 0;
    for (; tenths < 40 && host->served < 3; tenths++) {
        for (int i = 0; i < 12; i++)
            if (send(uploads[i]->fd, "x", 1, MSG_NOSIGNAL) < 0) assert_int_equal(errno, EPIPE);
        host_settle(host);
        fake_clock_advance(100);
    }
    unlimit_descriptors();
    assert_int_equal(host->served, 3);
    for (int i = 0; i < 3; i++) assert_response(clients[i], 200, "GET / ");
    for (int i = 0; i < 12; i++) client_free(uploads[i]);
    for (int i = 0; i < 3; i++) client_free(clients[i]);
    host_free(host);
}

static void app_large(struct host *host, const struct bb_request *request)
{
    static const char text[900 * 1000];
    if (request->head.target.len > 1)
        host_respond(host, 200, text, sizeof text);
    else
        app_echo(host, request);
}

static void test_the_slowest_reader_is_ended(void **state)
{
    (void)state;
    struct host *host = new_host(2);
    host->app = app_large;
    struct client *readers[2];
    for (int i = 0; i < 2; i++)
        readers[i] = client_new_saying(host, "GET /large HTTP/1.1\r\nHost: x\r\n\r\n");
    host_settle(host);
    (void)client_receive(readers[1]);
    fake_clock_advance(1000);
    host_settle(host);
    assert_int_equal(host_connections(host), 2);
    struct client *client = client_new_saying(host, UPLOAD);
    host_settle(host);
    assert_int_equal(host->event_count, 1);
    while (client_receive(readers[0])) continue;
    assert_int_not_equal(readers[0]->end, CLIENT_OPEN);
    assert_response(readers[1], 200, NULL);
    for (int i = 0; i < 2; i++) client_free(readers[i]);
    client_free(client);
    host_free(host);
}

/* The application has all descriptors. If the lane took a connection that was passed on, the kernel would
 * close that connection. */
static void test_a_connection_that_was_passed_on_waits_for_a_descriptor(void **state)
{
    LINUX_ONLY;
    struct host *host = new_host(0);
    struct client *passed = new_served(host), *fresh = client_new_saying(host, REQUEST);
    limit_descriptors(0);
    assert_silence(fresh);
    client_say(passed, REQUEST);
    pass_on(host, host->lane->set.conns);
    unlimit_descriptors();
    limit_descriptors(0); /* the application takes the descriptor that pass_on() has closed */
    for (int tenth = 0; tenth < 3; tenth++) {
        assert_silence(fresh);
        assert_silence(passed);
        assert_true(host->lane->accept.paused && would_wait(host));
        fake_clock_advance(100);
    }
    unlimit_descriptors();
    assert_response(passed, 200, "GET / ");
    assert_response(fresh, 200, "GET / ");
    client_free(passed);
    client_free(fresh);
    host_free(host);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_slowest_upload_is_ended),
        cmocka_unit_test(test_a_new_client_behind_many_half_requests_is_served),
        cmocka_unit_test(test_half_requests_that_come_late_do_not_delay_a_new_client),
        cmocka_unit_test(test_clients_are_served_although_uploads_have_all_descriptors),
        cmocka_unit_test(test_the_slowest_reader_is_ended),
        cmocka_unit_test(test_a_connection_that_was_passed_on_waits_for_a_descriptor),
    };
    return cmocka_run_group_tests_name("lane_slow", tests, NULL, NULL);
}
