/* conn_time_test.c: how long a client may take to send a head, to send the next request, and to read a
 * response. Also tests the response to a client that is late. The tests use a fake clock. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "support/fake_clock.h"
#include "taking.h"
#include "time_case.h"

/* ---- heads ---- */

static void test_a_silent_client_gets_no_response(void **state)
{
    (void)state;
    struct host *host = host_new_default(AF_UNIX);
    struct client *client = client_new(host);
    host_settle(host);
    assert_null(host->lane->set.conns->in.data); /* a connection without bytes has no buffer */
    pass(host, 29999);
    assert_silence(client);
    pass(host, 1);
    assert_end(client);
    assert_int_equal(host_connections(host), 0);
    client_free(client);
    host_free(host);
}

static void test_single_bytes_do_not_extend_the_time_of_a_head(void **state)
{
    (void)state;
    struct host *host = host_new_default(AF_UNIX);
    struct client *client = client_new(host);
    host_settle(host);
    pass(host, 20000); /* header_timeout begins with the first byte */
    client_say(client, "GET / HTTP/1.1\r\nX: ");
    host_settle(host);
    for (int second = 0; second < 29; second++) {
        pass(host, 1000);
        client_say(client, "x");
        assert_silence(client);
    }
    client_say(client, "y");
    pass(host, 1000);
    assert_late(client);
    assert_int_equal(host->served, 0);
    client_free(client);
    host_free(host);
}

/* An incomplete head is parsed again only when its length has doubled. So a head that comes byte by byte is
 * parsed only a few times. */
static void test_a_head_that_comes_byte_by_byte_is_parsed_a_few_times(void **state)
{
    (void)state;
    struct host *host = host_new_default(AF_UNIX);
    struct client *client = client_new(host);
    client_say(client, "GET / HTTP/1.1\r\nX: ");
    host_settle(host);
    const struct bb__conn *conn = host->lane->set.conns;
    unsigned parsed = 0;
    for (int i = 0; i < 4000; i++) {
        size_t before = conn->head.parsed;
        client_say(client, i % 100 == 0 ? "\r\nX: " : "x");
        host_turn(host);
        parsed += conn->head.parsed != before;
    }
    assert_in_range(parsed, 1, 10);
    client_say(client, "\r\nHost: x\r\n\r\n");
    assert_response(client, 200, "GET / ");
    client_free(client);
    host_free(host);
}

/* The response to a HEAD has no body. The response to the next request must have a body. */
static void test_the_rejection_of_a_late_head_behind_a_HEAD_has_a_body(void **state)
{
    (void)state;
    struct host *host = host_new_default(AF_UNIX);
    struct client *client = client_new(host);
    client_say(client, "HEAD / HTTP/1.1\r\nHost: x\r\n\r\n");
    assert_true(client_read(client, false));
    client_say(client, "GET / HT");
    host_settle(host);
    pass(host, 30000);
    assert_late(client);
    client_free(client);
    host_free(host);
}

static void test_each_request_has_its_own_header_timeout(void **state)
{
    (void)state;
    struct host *host = host_new_default(AF_UNIX);
    struct client *client = client_new(host);
    for (int round = 0; round < 5; round++) {
        client_say(client, "GET / HTTP/1.1\r\n");
        host_settle(host);
        pass(host, 25000);
        client_say(client, "Host: x\r\n\r\nG");
        assert_response(client, 200, "GET / ");
        pass(host, 25000);
        client_say(client, "ET / HTTP/1.1\r\nHost: x\r\n\r\n");
        assert_response(client, 200, "GET / ");
        pass(host, 25000);
    }
    client_say(client, REQUEST "G");
    assert_response(client, 200, "GET / ");
    pass(host, 29999);
    assert_silence(client);
    pass(host, 1);
    assert_late(client);
    client_free(client);
    host_free(host);
}

/* ---- idle ---- */

static void test_an_idle_connection_is_closed_without_a_response(void **state)
{
    (void)state;
    struct host *host = host_new_default(AF_UNIX);
    struct client *client = client_new(host);
    for (int round = 0; round < 2; round++) {
        client_say(client, REQUEST);
        assert_response(client, 200, "GET / ");
        pass(host, 74999);
        assert_silence(client);
    }
    pass(host, 1);
    assert_end(client);
    client_free(client);
    host_free(host);
}

static void test_each_response_closes_if_there_is_no_keepalive(void **state)
{
    (void)state;
    struct bb_settings settings = host_settings();
    settings.keepalive_timeout = 0;
    struct host *host = host_new(&settings, AF_UNIX);
    struct client *client = client_new(host);
    client_say(client, REQUEST);
    assert_response(client, 200, "GET / ");
    assert_string_equal(client_field(client, "Connection"), "close");
    assert_end(client);
    client_free(client);
    host_free(host);
}

static void test_a_connection_closes_after_max_keepalive_requests(void **state)
{
    (void)state;
    struct bb_settings settings = host_settings();
    settings.max_keepalive_requests = 3;
    struct host *host = host_new(&settings, AF_UNIX);
    struct client *client = client_new(host);
    client_say(client, REQUEST REQUEST REQUEST REQUEST);
    for (int i = 0; i < 3; i++) {
        assert_response(client, 200, "GET / ");
        assert_int_equal(client_field(client, "Connection") != NULL, i == 2);
    }
    assert_end(client);
    assert_int_equal(host->served, 3);
    client_free(client);
    host_free(host);
}

/* ---- responses ---- */

static void app_large(struct host *host, const struct bb_request *request)
{
    (void)request;
    static char body[900 * 1000];
    memset(body, 'x', sizeof body);
    host_respond(host, 200, body, sizeof body);
}

static void set_buffer(int fd, int which, int size)
{
    assert_int_equal(setsockopt(fd, SOL_SOCKET, which, &size, sizeof size), 0);
}

/* Returns a connection that still has to send most of a response. About `sent` bytes of the response are in
 * the socket. */
static struct bb__conn *owe_much(struct host *host, struct client *client, int sent)
{
    host->app = app_large;
    set_buffer(client->fd, SO_RCVBUF, 64 * 1024);
    host_settle(host);
    struct bb__conn *conn = host->lane->set.conns;
    set_buffer(conn->fd, SO_SNDBUF, sent);
    client_say(client, REQUEST);
    host_settle(host);
    assert_int_equal(conn->state, BB_CONN_FLUSH);
    return conn;
}

/* The client reads until the host has sent more of the response. */
static void make_progress(struct client *client, const struct bb__conn *conn)
{
    char bytes[4096];
    size_t owed = bb__buf_len(&conn->out);
    uint64_t since = real_ms();
    while (bb__buf_len(&conn->out) == owed) {
        if (recv(client->fd, bytes, sizeof bytes, 0) < 0) client_wait(client, POLLIN, since);
        host_turn(client->host);
    }
}

/* A client that reads a little each minute keeps its connection. */
static void test_a_client_that_takes_nothing_for_a_minute_is_reset(void **state)
{
    (void)state;
    struct bb_settings settings = host_settings();
    struct host *host = host_new(&settings, AF_INET);
    struct client *client = client_new(host);
    struct bb__conn *conn = owe_much(host, client, 64 * 1024);
    for (int round = 0; round < 3; round++) {
        fake_clock_advance(59000);
        make_progress(client, conn);
        assert_int_equal(host_connections(host), 1);
    }
    assert_dropped_after(host, 60000);
    assert_reset(client);
    client_free(client);
    host_free(host);
}

/* The core also counts the bytes that the client reads while the socket is not writable. A socket can stay
 * unwritable until the client has read megabytes. */
static void test_a_client_that_takes_little_by_little_is_not_reset(void **state)
{
    (void)state;
    static const int families[] = {AF_INET, AF_UNIX};
    for (int i = 0; i < 2; i++) {
        struct bb_settings settings = host_settings();
        struct host *host = host_new(&settings, families[i]);
        struct client *client = client_new(host);
        struct bb__conn *conn = owe_much(host, client, 200 * 1024);
        size_t owed = bb__buf_len(&conn->out);
        set_buffer(conn->fd, SO_SNDBUF, 4096);
        for (int round = 0; round < 2; round++) {
            take_some(client, conn);
            pass(host, 60000);
            assert_int_equal(host_connections(host), 1);
            assert_int_equal(bb__buf_len(&conn->out), owed);
        }
        assert_dropped_after(host, 60000);
        client_free(client);
        host_free(host);
    }
}

/* The client reads nothing. The client's kernel receives bytes until its buffer is full, and may acknowledge
 * the last bytes late. */
static void test_bytes_that_only_the_kernel_takes_are_no_progress(void **state)
{
    (void)state;
    static const int families[] = {AF_INET, AF_UNIX};
    for (int i = 0; i < 2; i++) {
        struct bb_settings settings = host_settings();
        struct host *host = host_new(&settings, families[i]);
        struct client *client = client_new(host);
        (void)owe_much(host, client, 200 * 1024);
        host->lane->set.conns->unsent.untaken++; /* as if the client's kernel acknowledged a byte late */
        assert_dropped_after(host, 60000);
        client_free(client);
        host_free(host);
    }
}

/* The client has read the response. The connection must wait for the next request, and not for a writable
 * socket, because the socket is writable all the time. */
static void test_a_connection_waits_for_requests_after_a_response_taken_late(void **state)
{
    (void)state;
    struct host *host = host_new_default(AF_UNIX);
    struct client *client = client_new(host);
    (void)owe_much(host, client, 64 * 1024);
    assert_response(client, 200, NULL);
    assert_silence(client);
    assert_true(would_wait(host));
    client_free(client);
    host_free(host);
}

static void app_slow_and_large(struct host *host, const struct bb_request *request)
{
    fake_clock_advance(3600 * 1000);
    app_large(host, request);
}

static void test_the_time_of_a_slow_application_does_not_count(void **state)
{
    (void)state;
    struct bb_settings settings = host_settings();
    struct host *host = host_new(&settings, AF_UNIX);
    struct client *client = client_new(host);
    host->app = app_slow_and_large;
    client_say(client, REQUEST);
    host_settle(host);
    assert_int_equal(host->lane->set.conns->state, BB_CONN_FLUSH);
    pass(host, 59000);
    assert_response(client, 200, NULL);
    assert_int_equal(bb__buf_len(&client->body), 900 * 1000 + 1);
    pass(host, 74000); /* ms; less than the idle timeout */
    assert_silence(client);
    client_free(client);
    host_free(host);
}

/* ---- no limits ---- */

static void test_a_timeout_of_zero_is_no_limit(void **state)
{
    (void)state;
    struct bb_settings settings = host_settings();
    settings.header_timeout = settings.body_timeout = settings.write_timeout = settings.min_body_rate = 0;
    struct host *host = host_new(&settings, AF_UNIX);
    struct client *client = client_new(host);
    host_settle(host);
    pass(host, 1000 * 3600 * 1000ULL);
    client_say(client, "POST / HTTP/1.1\r\n");
    host_settle(host);
    pass(host, 1000 * 3600 * 1000ULL);
    client_say(client, "Host: x\r\nContent-Length: 4\r\n\r\n");
    host_settle(host);
    pass(host, 1000 * 3600 * 1000ULL);
    host->app = app_large;
    client_say(client, "body");
    host_settle(host);
    assert_int_equal(host->lane->set.conns->state, BB_CONN_FLUSH);
    pass(host, 1000 * 3600 * 1000ULL);
    assert_response(client, 200, NULL);
    client_free(client);
    host_free(host);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_silent_client_gets_no_response),
        cmocka_unit_test(test_single_bytes_do_not_extend_the_time_of_a_head),
        cmocka_unit_test(test_a_head_that_comes_byte_by_byte_is_parsed_a_few_times),
        cmocka_unit_test(test_the_rejection_of_a_late_head_behind_a_HEAD_has_a_body),
        cmocka_unit_test(test_each_request_has_its_own_header_timeout),
        cmocka_unit_test(test_an_idle_connection_is_closed_without_a_response),
        cmocka_unit_test(test_each_response_closes_if_there_is_no_keepalive),
        cmocka_unit_test(test_a_connection_closes_after_max_keepalive_requests),
        cmocka_unit_test(test_a_client_that_takes_nothing_for_a_minute_is_reset),
        cmocka_unit_test(test_a_client_that_takes_little_by_little_is_not_reset),
        cmocka_unit_test(test_bytes_that_only_the_kernel_takes_are_no_progress),
        cmocka_unit_test(test_a_connection_waits_for_requests_after_a_response_taken_late),
        cmocka_unit_test(test_the_time_of_a_slow_application_does_not_count),
        cmocka_unit_test(test_a_timeout_of_zero_is_no_limit),
    };
    return cmocka_run_group_tests_name("conn_time", tests, NULL, NULL);
}
