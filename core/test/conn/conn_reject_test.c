/* conn_reject_test.c: requests that are rejected before the host (the program that calls the core) sees them.
 * The response is complete, and the client can read it even if the client goes on sending. The bytes behind a
 * rejected request are not parsed as a request. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "support/client.h"
#include "support/fake_clock.h"

static struct host *new_host(int family)
{
    struct bb_settings settings = host_settings();
    strcpy(settings.server_name, "test");
    return host_new(&settings, family);
}

#define SMUGGLED "GET /smuggled HTTP/1.1\r\nHost: x\r\n\r\n"

static void assert_refused(struct client *client, int status)
{
    assert_response(client, status, NULL);
    assert_string_equal(client_field(client, "Connection"), "close");
    assert_string_equal(client_field(client, "Server"), "test");
    assert_non_null(client_field(client, "Date"));
    assert_non_null(client_field(client, "Content-Length"));
    assert_end(client);
}

static void test_a_rejection_is_complete_and_the_last_response(void **state)
{
    (void)state;
    static const struct {
        const char *request;
        int status;
    } cases[] = {
        {"GET / HTTP/1.1\r\n\r\n", 400},
        {"GET / HTTP/1.1\r\nHost: x\r\nX : y\r\n\r\n", 400},
        {"GET / HTTP/1.1\nHost: x\n\n", 400},
        {"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 505},
        {"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n", 400},
        {"POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: gzip, chunked\r\n\r\n", 501},
        {"POST / HTTP/1.1\r\nHost: x\r\nExpect: something\r\nContent-Length: 1\r\n\r\n", 417},
        {"POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n0x1\r\n", 400},
        {"POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nab\r\n", 400},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct host *host = new_host(AF_UNIX);
        struct client *client = client_new(host);
        client_say(client, cases[i].request);
        client_say(client, SMUGGLED);
        assert_refused(client, cases[i].status);
        assert_int_equal(host->served, 0);
        client_free(client);
        host_free(host);
    }
}

static void test_requests_before_a_rejected_one_are_answered_first(void **state)
{
    (void)state;
    struct host *host = new_host(AF_UNIX);
    struct client *client = client_new(host);
    client_say(client, "GET /1 HTTP/1.1\r\nHost: x\r\n\r\nGET\t/2 HTTP/1.1\r\n\r\n" SMUGGLED);
    assert_response(client, 200, "GET /1 ");
    assert_refused(client, 400);
    assert_int_equal(host->served, 1);
    client_free(client);
    host_free(host);
}

static void test_the_rejection_of_a_HEAD_has_no_body(void **state)
{
    (void)state;
    struct host *host = new_host(AF_UNIX);
    struct client *client = client_new(host);
    client_say(client, "HEAD / HTTP/1.1\r\nHost: x\r\nHost: x\r\n\r\n");
    assert_true(client_read(client, false));
    assert_int_equal(client->status, 400);
    assert_end(client);
    client_free(client);
    host_free(host);
}

/* Over TCP, a close with unread bytes causes a reset, which can overtake the response. */
static void test_a_client_that_goes_on_sending_can_read_the_rejection(void **state)
{
    (void)state;
    static char upload[256 * 1024];
    struct host *host = new_host(AF_INET);
    struct client *client = client_new(host);
    client_say(client, "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: nonsense\r\n\r\n");
    for (int i = 0; i < 16; i++) {
        client_send(client, upload, sizeof upload);
        host_turn(host);
    }
    assert_int_equal(host_connections(host), 1);
    assert_response_was_left(client, 400);
    shutdown(client->fd, SHUT_WR);
    host_settle_to(host, 0);
    client_free(client);
    host_free(host);
}

static void test_a_rejection_waits_behind_unread_responses(void **state)
{
    (void)state;
    struct host *host = new_host(AF_UNIX);
    struct client *client = client_new(host);
    unsigned wanted = 0;
    while (host->lane->set.conns == NULL || host->lane->set.conns->state != BB_CONN_FLUSH) {
        client_say(client, "GET / HTTP/1.1\r\nHost: x\r\n\r\n");
        wanted++;
        host_turn(host);
    }
    client_say(client, "nonsense\r\n\r\n" SMUGGLED);
    host_settle(host);
    for (unsigned i = 0; i < wanted; i++) assert_response(client, 200, "GET / ");
    assert_refused(client, 400);
    assert_int_equal(host->served, wanted);
    client_free(client);
    host_free(host);
}

/* If the client reads nothing, the core closes the connection after write_timeout. */
static void test_a_connection_ends_if_its_rejection_is_not_taken(void **state)
{
    (void)state;
    struct host *host = new_host(AF_UNIX);
    struct client *client = client_new(host);
    int little = 1;
    host_settle(host);
    struct bb__conn *conn = host->lane->set.conns;
    setsockopt(conn->fd, SOL_SOCKET, SO_SNDBUF, &little, sizeof little);
    while (send(conn->fd, "", 1, MSG_DONTWAIT) == 1) continue;
    client_say(client, "nonsense\r\n\r\n" SMUGGLED);
    host_settle(host);
    assert_int_equal(conn->state, BB_CONN_FLUSH);
    client_say(client, SMUGGLED); /* these bytes are not read */
    assert_true(would_wait(host));
    fake_clock_advance(59999);
    host_settle(host);
    assert_int_equal(host_connections(host), 1);
    fake_clock_advance(7500); /* ms, the interval of checks */
    host_settle(host);
    assert_int_equal(host_connections(host), 0);
    assert_int_equal(host->served, 0);
    client_free(client);
    host_free(host);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_rejection_is_complete_and_the_last_response),
        cmocka_unit_test(test_requests_before_a_rejected_one_are_answered_first),
        cmocka_unit_test(test_the_rejection_of_a_HEAD_has_no_body),
        cmocka_unit_test(test_a_client_that_goes_on_sending_can_read_the_rejection),
        cmocka_unit_test(test_a_rejection_waits_behind_unread_responses),
        cmocka_unit_test(test_a_connection_ends_if_its_rejection_is_not_taken),
    };
    return cmocka_run_group_tests_name("conn_reject", tests, NULL, NULL);
}
