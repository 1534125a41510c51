/* client_gone_test.c: in which cases the core notices that a client has closed the connection before its
 * request is served. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "support/client.h"

#define REQUEST "GET /a HTTP/1.1\r\nHost: x\r\n\r\n"

enum way { CLOSES, RESETS, HALF_CLOSES };

static void leave(struct client *client, enum way way)
{
    const struct linger at_once = {.l_onoff = 1};
    if (way == HALF_CLOSES) {
        shutdown(client->fd, SHUT_WR);
        return;
    }
    if (way == RESETS)
        assert_int_equal(setsockopt(client->fd, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once), 0);
    close(client->fd);
    client->fd = -1;
}

static struct host *new_host(int family, bool checks)
{
    struct bb_settings settings = host_settings();
    settings.check_client_connection = checks;
    return host_new(&settings, family);
}

/* Sends a request, then closes the connection as `way` says. Waits until the kernel reports the close. */
static struct bb__conn *left_by(struct client *client, enum way way)
{
    host_settle_to(client->host, 1);
    struct bb__conn *conn = client->host->lane->set.conns;
    client_say(client, REQUEST);
    leave(client, way);
    struct pollfd watched = {.fd = conn->fd, .events = POLLRDHUP};
    assert_int_equal(poll(&watched, 1, WAIT_LIMIT), 1);
    return conn;
}

/* Puts the connection into the shared queue for another lane. The I/O thread does this. A lane that has
 * several requests does this, too. */
static void pass_on(struct host *host, struct bb__conn *conn)
{
    struct bb_lane *lane = host->lane;
    assert_int_equal(bb__conn_on_ready(conn, &lane->context, BB_INTEREST_READ), BB_CONN_REQUEST);
    bb__conn_set_pass(&lane->set, &lane->context, conn, &host->worker->shared.queue);
    assert_int_equal(host_connections(host), 0);
}

static void assert_not_served(const struct host *host)
{
    assert_int_equal(host->served, 0);
    assert_int_equal(host_connections(host), 0);
    assert_int_equal(host->event_count, 1);
    assert_int_equal(host->events[0].status, 499);
}

static void assert_served(const struct host *host)
{
    assert_int_equal(host->served, 1);
    assert_int_equal(host->event_count, 0);
}

static void test_a_request_whose_client_is_gone_is_not_served(void **state)
{
    (void)state;
    static const struct {
        int family;
        enum way way;
        bool passed, checks, served;
    } cases[] = {
        {AF_UNIX, CLOSES, .served = true},
        {AF_UNIX, CLOSES, .checks = true},
        {AF_UNIX, CLOSES, .passed = true},
        {AF_UNIX, CLOSES, .passed = true, .checks = true},
        {AF_UNIX, HALF_CLOSES, .served = true},
        {AF_UNIX, HALF_CLOSES, .checks = true},
        {AF_UNIX, HALF_CLOSES, .passed = true, .served = true},
        {AF_UNIX, HALF_CLOSES, .passed = true, .checks = true},
        {AF_INET, CLOSES, .served = true},
        {AF_INET, CLOSES, .checks = true},
        {AF_INET, CLOSES, .passed = true, .served = true},
        {AF_INET, CLOSES, .passed = true, .checks = true},
        {AF_INET, RESETS, .served = true},
        {AF_INET, RESETS, .checks = true},
        {AF_INET, RESETS, .passed = true},
        {AF_INET, RESETS, .passed = true, .checks = true},
        {AF_INET, HALF_CLOSES, .served = true},
        {AF_INET, HALF_CLOSES, .checks = true},
        {AF_INET, HALF_CLOSES, .passed = true, .served = true},
        {AF_INET, HALF_CLOSES, .passed = true, .checks = true},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        print_message("case %zu\n", i);
        struct host *host = new_host(cases[i].family, cases[i].checks);
        struct client *client = client_new(host);
        struct bb__conn *conn = left_by(client, cases[i].way);
        if (cases[i].passed) pass_on(host, conn);
        host_settle(host);
        if (cases[i].served)
            assert_served(host);
        else
            assert_not_served(host);
        if (cases[i].served && cases[i].way == HALF_CLOSES) assert_response(client, 200, "GET /a ");
        client_free(client);
        host_free(host);
    }
}

/* No lane has accepted the connection yet. */
static void test_a_new_connection_whose_client_is_gone_is_not_served(void **state)
{
    (void)state;
    struct host *host = new_host(AF_UNIX, true);
    struct client *client = client_new(host);
    client_say(client, REQUEST);
    leave(client, CLOSES);
    host_settle(host);
    assert_not_served(host);
    client_free(client);
    host_free(host);
}

/* The requests of a connected client are served. At most one event per second reports the clients that are
 * gone. */
static void test_many_clients_that_are_gone_do_not_delay_another_client(void **state)
{
    (void)state;
    struct host *host = new_host(AF_UNIX, true);
    struct client *waits = client_new(host);
    for (int i = 0; i < 50; i++) {
        struct client *client = client_new(host);
        client_say(client, REQUEST);
        client_free(client);
    }
    client_say(waits, REQUEST REQUEST);
    assert_response(waits, 200, "GET /a ");
    assert_response(waits, 200, "GET /a ");
    assert_int_equal(host->served, 2);
    host_settle_to(host, 1);
    assert_true(host->event_count >= 1 && host->event_count < 5);
    client_free(waits);
    host_free(host);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_request_whose_client_is_gone_is_not_served),
        cmocka_unit_test(test_a_new_connection_whose_client_is_gone_is_not_served),
        cmocka_unit_test(test_many_clients_that_are_gone_do_not_delay_another_client),
    };
    return cmocka_run_group_tests_name("client_gone", tests, NULL, NULL);
}
