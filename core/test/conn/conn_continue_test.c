/* conn_continue_test.c: "100 Continue" (RFC 9110 10.1.1): which clients get it, and when. No client may get
 * "100 Continue" twice. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "support/client.h"
#include "support/fake_clock.h"

static struct host *new_host(void)
{
    struct bb_settings settings = host_settings();
    settings.max_body = 1000;
    settings.spool_max = 500;
    return host_new(&settings, AF_UNIX);
}

#define EXPECT "POST / HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\n"

static void assert_continue(struct client *client)
{
    assert_true(client_read(client, false));
    assert_string_equal(client->head, "HTTP/1.1 100 Continue\r\n\r\n");
    assert_silence(client);
}

static void test_continue_is_sent_once_before_the_body(void **state)
{
    (void)state;
    struct host *host = new_host();
    struct client *client = client_new(host);
    for (int round = 0; round < 2; round++) {
        client_say(client, EXPECT "Content-Length: 4\r\n\r\n");
        assert_continue(client);
        client_say(client, "bo");
        assert_silence(client);
        client_say(client, "dy");
        assert_response(client, 200, "POST / body");

        client_say(client, EXPECT "Transfer-Encoding: chunked\r\n\r\n");
        assert_continue(client);
        client_say(client, "4\r\nbody\r\n");
        assert_silence(client);
        client_say(client, "0\r\n\r\n");
        assert_response(client, 200, "POST / body");
    }
    assert_silence(client);
    client_free(client);
    host_free(host);
}

static void test_continue_is_sent_to_a_pipelined_request(void **state)
{
    (void)state;
    struct host *host = new_host();
    struct client *client = client_new(host);
    client_say(client, "GET /1 HTTP/1.1\r\nHost: x\r\n\r\n" EXPECT "Content-Length: 4\r\n\r\n");
    assert_response(client, 200, "GET /1 ");
    assert_continue(client);
    client_say(client, "bodyGET /2 HTTP/1.1\r\nHost: x\r\n\r\n");
    assert_response(client, 200, "POST / body");
    assert_response(client, 200, "GET /2 ");
    client_free(client);
    host_free(host);
}

static void test_continue_is_not_sent_if_no_body_is_awaited(void **state)
{
    (void)state;
    static const char *const requests[] = {
        EXPECT "Content-Length: 4\r\n\r\nbody",
        EXPECT "Transfer-Encoding: chunked\r\n\r\n4\r\nbody\r\n0\r\n\r\n",
        EXPECT "Content-Length: 0\r\n\r\n",
        EXPECT "\r\n",
    };
    struct host *host = new_host();
    struct client *client = client_new(host);
    for (size_t i = 0; i < sizeof requests / sizeof *requests; i++) {
        client_say(client, requests[i]);
        assert_response(client, 200, i < 2 ? "POST / body" : "POST / ");
    }
    client_free(client);
    host_free(host);
}

static void test_continue_is_not_sent_to_http_1_0(void **state)
{
    (void)state;
    struct host *host = new_host();
    struct client *client = client_new(host);
    client_say(client, "POST / HTTP/1.0\r\nExpect: 100-continue\r\nContent-Length: 4\r\n\r\n");
    assert_silence(client);
    client_say(client, "body");
    assert_response(client, 200, "POST / body");
    client_free(client);
    host_free(host);
}

static void test_a_request_is_rejected_instead_of_continued(void **state)
{
    (void)state;
    static const struct {
        const char *request;
        int status;
    } cases[] = {
        {EXPECT "Content-Length: 1001\r\n\r\n", 413},
        {EXPECT "Content-Length: 501\r\n\r\n", 507},
        {EXPECT "Expect: x\r\nContent-Length: 4\r\n\r\n", 417},
        {EXPECT "Content-Length: 4\r\nContent-Length: 5\r\n\r\n", 400},
        {EXPECT "Transfer-Encoding: chunked\r\n\r\nx", 400},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct host *host = new_host();
        struct client *client = client_new(host);
        client_say(client, cases[i].request);
        assert_response(client, cases[i].status, NULL);
        assert_end(client);
        assert_int_equal(host->served, 0);
        client_free(client);
        host_free(host);
    }
}

/* Reads the bytes that test_continue_waits_for_room() has put into the socket. */
static void skip_stuffing(struct client *client)
{
    do {
        while (bb__buf_len(&client->in) > 0 && *bb__buf_bytes(&client->in) == '\0')
            bb__buf_consume(&client->in, 1);
    } while (bb__buf_len(&client->in) == 0 && client_more(client));
}

/* The client reads nothing, so the socket has no room for the 100. When there is room, the core sends the
 * 100. The response comes after the 100. */
static void test_continue_waits_for_room(void **state)
{
    (void)state;
    for (int body_first = 0; body_first < 2; body_first++) {
        struct host *host = new_host();
        struct client *client = client_new(host);
        int little = 1;
        host_settle(host);
        struct bb__conn *conn = host->lane->set.conns;
        setsockopt(conn->fd, SOL_SOCKET, SO_SNDBUF, &little, sizeof little);
        while (send(conn->fd, "", 1, MSG_DONTWAIT) == 1) continue;
        client_say(client, EXPECT "Content-Length: 4\r\n\r\n");
        host_settle(host);
        assert_int_equal(conn->state, BB_CONN_BODY);
        assert_true(bb__buf_len(&conn->out) > 0);
        if (body_first) {
            client_say(client, "body");
            host_settle(host);
            assert_int_equal(host->served, 1);
        }
        skip_stuffing(client);
        assert_true(client_read(client, false));
        assert_int_equal(client->status, 100);
        host_settle(host);
        assert_true(would_wait(host)); /* the connection does not wait for a writable socket any more */
        if (!body_first) client_say(client, "body");
        assert_response(client, 200, "POST / body");
        assert_silence(client);
        client_free(client);
        host_free(host);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_continue_is_sent_once_before_the_body),
        cmocka_unit_test(test_continue_is_sent_to_a_pipelined_request),
        cmocka_unit_test(test_continue_is_not_sent_if_no_body_is_awaited),
        cmocka_unit_test(test_continue_is_not_sent_to_http_1_0),
        cmocka_unit_test(test_a_request_is_rejected_instead_of_continued),
        cmocka_unit_test(test_continue_waits_for_room),
    };
    return cmocka_run_group_tests_name("conn_continue", tests, NULL, NULL);
}
