/* conn_test.c: the requests and responses of a connection: persistent, pipelined, and cut at each byte; and
 * how many writes the core needs to store a body in a file. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "support/client.h"
#include "support/fail_file.h"

#define CHUNKED "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n"

static void test_a_request_gets_its_response(void **state)
{
    (void)state;
    struct host *host = host_new_default(AF_UNIX);
    struct client *client = client_new(host);
    client_say(client, "GET /a?b HTTP/1.1\r\nHost: x\r\n\r\n");
    assert_response(client, 200, "GET /a?b ");
    assert_string_equal(client_field(client, "Content-Length"), "9");
    assert_string_equal(client_field(client, "content-type"), "text/plain");
    assert_non_null(client_field(client, "Date"));
    assert_null(client_field(client, "Server"));
    assert_null(client_field(client, "Connection"));
    assert_silence(client);
    client_free(client);
    host_free(host);
}

static void test_an_idle_connection_has_no_buffers(void **state)
{
    (void)state;
    struct host *host = host_new_default(AF_UNIX);
    struct client *client = client_new(host);
    client_say(client, "GET / HTTP/1.1\r\nHost: x\r\n\r\n");
    assert_response(client, 200, "GET / ");
    assert_silence(client);
    const struct bb__conn *conn = host->lane->set.conns;
    assert_true(sizeof *conn < 1024);
    assert_null(conn->in.data);
    assert_null(conn->out.data);
    assert_null(conn->spool.memory.data);
    client_free(client);
    host_free(host);
}

/* ---- persistence ---- */

static void test_version_and_connection_field_decide_about_keep_alive(void **state)
{
    (void)state;
    static const struct {
        const char *request, *connection;
        bool lives;
    } cases[] = {
        {"GET / HTTP/1.1\r\nHost: x\r\n\r\n", NULL, true},
        {"GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n", "close", false},
        {"GET / HTTP/1.0\r\n\r\n", "close", false},
        {"GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n", "keep-alive", true},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct host *host = host_new_default(AF_UNIX);
        struct client *client = client_new(host);
        client_say(client, cases[i].request);
        assert_response(client, 200, "GET / ");
        const char *connection = client_field(client, "Connection");
        assert_int_equal(connection != NULL, cases[i].connection != NULL);
        if (connection) assert_string_equal(connection, cases[i].connection);
        if (cases[i].lives) {
            client_say(client, cases[i].request);
            assert_response(client, 200, "GET / ");
            assert_silence(client);
        } else {
            assert_end(client);
            assert_int_equal(host_connections(host), 0);
        }
        client_free(client);
        host_free(host);
    }
}

static void test_a_client_that_has_shut_down_its_side_gets_its_responses(void **state)
{
    (void)state;
    struct host *host = host_new_default(AF_UNIX);
    struct client *client = client_new(host);
    client_say(client, "GET /1 HTTP/1.1\r\nHost: x\r\n\r\nGET /2 HTTP/1.1\r\nHost: x\r\n\r\n");
    shutdown(client->fd, SHUT_WR);
    assert_response(client, 200, "GET /1 ");
    assert_response(client, 200, "GET /2 ");
    assert_end(client);
    client_free(client);
    host_free(host);
}

static void test_half_a_head_is_no_request(void **state)
{
    (void)state;
    static const char *const beginnings[] = {"", "G", "GET / HTTP/1.1\r\nHost: x\r\n"};
    struct host *host = host_new_default(AF_UNIX);
    for (size_t i = 0; i < sizeof beginnings / sizeof *beginnings; i++) {
        struct client *client = client_new(host);
        client_say(client, beginnings[i]);
        assert_silence(client);
        assert_int_equal(host_connections(host), 1);
        shutdown(client->fd, SHUT_WR);
        assert_end(client);
        assert_int_equal(host_connections(host), 0);
        client_free(client);
    }
    assert_int_equal(host->served, 0);
    host_free(host);
}

/* ---- pipelining ---- */

static void test_a_hundred_pipelined_requests_are_answered_in_order(void **state)
{
    (void)state;
    struct host *host = host_new_default(AF_UNIX);
    struct client *client = client_new(host);
    char text[100 * 64], expected[32];
    size_t len = 0;
    for (int i = 0; i < 100; i++)
        len += (size_t)snprintf(text + len, sizeof text - len, "GET /%d HTTP/1.1\r\nHost: x\r\n\r\n", i);
    client_send(client, text, len);
    for (int i = 0; i < 100; i++) {
        snprintf(expected, sizeof expected, "GET /%d ", i);
        assert_response(client, 200, expected);
    }
    assert_silence(client);
    assert_int_equal(host->served, 100);
    client_free(client);
    host_free(host);
}

/* Requests that a client may send at once. Some bodies have a Content-Length, one body is chunked. There is
 * an empty line between two of the requests. */
static const char conversation[] = "GET /1 HTTP/1.1\r\nHost: x\r\n\r\n"
                                   "POST /2 HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\nhello"
                                   "\r\n"
                                   "POST /3 HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n"
                                   "3;x=y\r\nabc\r\n4\r\ndefg\r\n0\r\nTrailer: t\r\n\r\n"
                                   "POST /4 HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\r\n"
                                   "GET /5 HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n";

static void assert_conversation(struct client *client)
{
    assert_response(client, 200, "GET /1 ");
    assert_response(client, 200, "POST /2 hello");
    assert_response(client, 200, "POST /3 abcdefg");
    assert_response(client, 200, "POST /4 ");
    assert_response(client, 200, "GET /5 ");
    assert_end(client);
}

static void test_requests_that_are_cut_at_each_byte_are_answered(void **state)
{
    (void)state;
    struct host *host = host_new_default(AF_UNIX);
    for (size_t cut = 0; cut < sizeof conversation; cut++) {
        struct client *client = client_new(host);
        client_send(client, conversation, cut);
        host_turn(host);
        client_send(client, conversation + cut, sizeof conversation - 1 - cut);
        assert_conversation(client);
        client_free(client);
    }
    host_free(host);
}

static void test_requests_that_come_byte_by_byte_are_answered(void **state)
{
    (void)state;
    struct host *host = host_new_default(AF_UNIX);
    struct client *client = client_new(host);
    for (size_t i = 0; i < sizeof conversation - 1; i++) {
        client_send(client, conversation + i, 1);
        host_turn(host);
    }
    assert_conversation(client);
    client_free(client);
    host_free(host);
}

/* ---- large heads ---- */

static void test_a_head_larger_than_its_buffer_is_served(void **state)
{
    (void)state;
    struct host *host = host_new_default(AF_UNIX);
    struct client *client = client_new(host);
    static char value[1000];
    memset(value, 'v', sizeof value - 1);
    client_say(client, "GET / HTTP/1.1\r\nHost: x\r\n");
    for (int i = 0; i < 60; i++) {
        client_say(client, "X-Large: ");
        client_say(client, value);
        client_say(client, "\r\n");
        host_turn(host);
    }
    client_say(client, "\r\nGET /next HTTP/1.1\r\nHost: x\r\n\r\n");
    assert_response(client, 200, "GET / ");
    assert_response(client, 200, "GET /next ");
    assert_silence(client);
    assert_null(host->lane->set.conns->in.data);
    client_free(client);
    host_free(host);
}

static void test_a_head_without_end_is_rejected_before_it_gets_large(void **state)
{
    (void)state;
    struct host *host = host_new_default(AF_UNIX);
    struct client *client = client_new(host);
    static const char value[] = "X-Y: 0123456789012345678901234567890123456789012345678901234567\r\n";
    client_say(client, "GET / HTTP/1.1\r\nHost: x\r\n");
    host_turn(host);
    for (int i = 0; i < 8000 && host->lane->set.conns->state == BB_CONN_HEAD; i++) {
        client_say(client, value);
        host_turn(host);
        assert_true(host->lane->set.conns->in.cap <= 256 * 1024);
    }
    assert_response(client, 431, NULL);
    assert_end(client);
    client_free(client);
    host_free(host);
}

/* Number of chunks of one byte each. They are too many for one read. */
#define TINY 50000

static void app_gets_every_byte(struct host *host, const struct bb_request *request)
{
    static char body[TINY];
    assert_int_equal(request->body_length, TINY);
    read_body(request, body);
    for (int i = 0; i < TINY; i++) assert_int_equal(body[i], 'a' + i % 26);
    host_respond(host, 200, "", 0);
}

/* The core writes tiny chunks together. Otherwise a client could cause one write per byte. */
static void test_tiny_chunks_are_written_together(void **state)
{
    (void)state;
    static char wire[TINY * 6];
    struct bb_settings settings = host_settings();
    settings.spool_threshold = 1000;
    struct host *host = host_new(&settings, AF_UNIX);
    struct client *client = client_new(host);
    for (int i = 0; i < TINY; i++)
        memcpy(wire + 6 * i, (char[]){'1', '\r', '\n', (char)('a' + i % 26), '\r', '\n'}, 6);
    host->app = app_gets_every_byte;
    client_say(client, CHUNKED);
    client_send(client, wire, sizeof wire);
    client_say(client, "0\r\n\r\n");
    assert_response(client, 200, "");
    assert_in_range(fail_file.writes, 1, TINY / 100);
    client_free(client);
    host_free(host);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_request_gets_its_response),
        cmocka_unit_test(test_an_idle_connection_has_no_buffers),
        cmocka_unit_test(test_version_and_connection_field_decide_about_keep_alive),
        cmocka_unit_test(test_a_client_that_has_shut_down_its_side_gets_its_responses),
        cmocka_unit_test(test_half_a_head_is_no_request),
        cmocka_unit_test(test_a_hundred_pipelined_requests_are_answered_in_order),
        cmocka_unit_test(test_requests_that_are_cut_at_each_byte_are_answered),
        cmocka_unit_test(test_requests_that_come_byte_by_byte_are_answered),
        cmocka_unit_test(test_a_head_larger_than_its_buffer_is_served),
        cmocka_unit_test(test_a_head_without_end_is_rejected_before_it_gets_large),
        cmocka_unit_test(test_tiny_chunks_are_written_together),
    };
    return cmocka_run_group_tests_name("conn", tests, NULL, NULL);
}
