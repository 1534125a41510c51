/* conn_end_test.c: connections that the core closes after a response. The tests check when the client sees
 * the close, and that the client can read the whole response even if the client has sent more bytes.
 * conn_reject_test.c tests requests that are rejected. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "support/client.h"

#define CLOSING  "GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"
#define SMUGGLED "GET /smuggled HTTP/1.1\r\nHost: x\r\n\r\n"

/* ---- the close with the response ---- */

static struct client *watcher;

/* Sends a response, and waits until the client has received it. If a TCP connection is to be closed, waits
 * until the client has also received the close. Only then calls bb_reply_end(). */
static void app_watches(struct host *host, const struct bb_request *request)
{
    const struct bb_slice body = {"hello", 5};
    uint64_t taken, since = real_ms();
    bool ends = host->family == AF_INET && !request->head.keep_alive;
    host_fields(host, 200);
    assert_int_equal(bb_reply_head(host->lane, body.len), BB_OK);
    assert_int_equal(bb_reply_write(host->lane, &body, 1, true, &taken), BB_OK);
    while (bb__buf_len(&watcher->in) == 0 || (ends && watcher->end == CLIENT_OPEN)) {
        assert_true(real_ms() - since < WAIT_LIMIT);
        client_receive(watcher);
    }
    assert_int_equal(watcher->end, ends ? CLIENT_ENDED : CLIENT_OPEN);
    assert_int_equal(bb_reply_end(host->lane), BB_OK);
}

static void test_the_end_comes_with_the_response(void **state)
{
    (void)state;
    static const int families[] = {AF_INET, AF_UNIX};
    for (int i = 0; i < 2; i++) {
        struct host *host = host_new_default(families[i]);
        host->app = app_watches;
        watcher = client_new(host);
        client_say(watcher, "GET / HTTP/1.1\r\nHost: x\r\n\r\n");
        assert_response(watcher, 200, "hello");
        client_say(watcher, CLOSING);
        assert_response(watcher, 200, "hello");
        assert_end(watcher);
        host_settle_to(host, 0);
        client_free(watcher);
        host_free(host);
    }
}

static void app_too_short(struct host *host, const struct bb_request *request)
{
    (void)request;
    const struct bb_slice body = {"hell", 4};
    uint64_t taken;
    host_fields(host, 200);
    assert_int_equal(bb_reply_head(host->lane, 5), BB_OK);
    assert_int_equal(bb_reply_write(host->lane, &body, 1, true, &taken), BB_OK);
    assert_int_equal(bb_reply_end(host->lane), BB_ESHORT);
}

/* After an incomplete response the core resets the connection. */
static void test_a_short_response_does_not_look_whole(void **state)
{
    (void)state;
    struct host *host = host_new_default(AF_INET);
    struct client *client = client_new(host);
    host->app = app_too_short;
    client_say(client, CLOSING);
    assert_false(client_read(client, true));
    assert_reset(client);
    client_free(client);
    host_free(host);
}

/* ---- lingering ---- */

static struct client *eager;

static void app_large(struct host *host, const struct bb_request *request)
{
    static char body[400 * 1000];
    (void)request;
    memset(body, 'x', sizeof body);
    client_say(eager, SMUGGLED);
    host_respond(host, 200, body, sizeof body);
}

/* The client has sent another request, which the core does not serve. If a socket with unread bytes is
 * closed, the kernel sends a reset, and the client loses the rest of the response. */
static void test_a_connection_that_the_core_ends_lingers(void **state)
{
    (void)state;
    struct bb_settings settings = host_settings();
    settings.keepalive_timeout = 0;
    struct host *host = host_new(&settings, AF_INET);
    int little = 64 * 1024, much = 1 << 20;
    host->app = app_large;
    eager = client_new(host);
    setsockopt(eager->fd, SOL_SOCKET, SO_RCVBUF, &little, sizeof little);
    host_settle(host);
    setsockopt(host->lane->set.conns->fd, SOL_SOCKET, SO_SNDBUF, &much, sizeof much);
    client_say(eager, "GET /1 HTTP/1.1\r\nHost: x\r\n\r\n");
    host_settle(host);
    assert_int_equal(host_connections(host), 1);
    assert_int_equal(host->lane->set.conns->state, BB_CONN_LINGER);
    assert_response(eager, 200, NULL);
    assert_int_equal(bb__buf_len(&eager->body), 400 * 1000 + 1);
    assert_end(eager);
    assert_int_equal(host->served, 1);
    client_free(eager);
    host_settle_to(host, 0);
    host_free(host);
}

/* Some clients send an empty line behind a body. */
static void test_a_request_with_a_body_may_be_followed_by_an_empty_line(void **state)
{
    (void)state;
    static const char *const uploads[] = {
        "POST / HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: 2\r\n\r\nhi",
        "POST / HTTP/1.1\r\nHost: x\r\nConnection: close\r\nTransfer-Encoding: "
        "chunked\r\n\r\n2\r\nhi\r\n0\r\n\r\n",
        "POST / HTTP/1.0\r\nContent-Length: 2\r\n\r\nhi",
    };
    for (int i = 0; i < 3; i++) {
        struct host *host = host_new_default(AF_INET);
        struct client *client = client_new(host);
        client_say(client, uploads[i]);
        host_settle(host);
        assert_int_equal(host_connections(host), 1);
        client_say(client, "\r\n");
        host_settle(host);
        assert_int_equal(host_connections(host), 1);
        assert_response_was_left(client, 200);
        client_free(client);
        host_settle_to(host, 0);
        assert_int_equal(host->served, 1);
        host_free(host);
    }
}

/* The client has asked for the close. So the core closes the connection without lingering. */
static void test_an_end_that_the_client_asked_for_is_immediate(void **state)
{
    (void)state;
    struct host *host = host_new_default(AF_INET);
    struct client *client = client_new(host);
    client_say(client, CLOSING);
    host_settle_to(host, 0);
    assert_response_was_left(client, 200);
    client_free(client);

    client = client_new(host); /* this client has sent more bytes, so the connection lingers */
    client_say(client, CLOSING SMUGGLED);
    host_settle(host);
    assert_int_equal(host_connections(host), 1);
    assert_response_was_left(client, 200);
    assert_int_equal(host->served, 2);
    client_free(client);
    host_free(host);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_end_comes_with_the_response),
        cmocka_unit_test(test_a_short_response_does_not_look_whole),
        cmocka_unit_test(test_a_connection_that_the_core_ends_lingers),
        cmocka_unit_test(test_a_request_with_a_body_may_be_followed_by_an_empty_line),
        cmocka_unit_test(test_an_end_that_the_client_asked_for_is_immediate),
    };
    return cmocka_run_group_tests_name("conn_end", tests, NULL, NULL);
}
