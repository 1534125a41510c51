/* conn_linger_test.c: which connections linger after a response, and how long. A lingering connection stays
 * open so that the client can read the response. If a TCP connection is closed before the client has received
 * the whole response, the next byte from the client causes a reset. The tests use a fake clock. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <netinet/tcp.h>

#include "support/client.h"
#include "support/fake_clock.h"

#define CLOSING "GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"
#define REFUSED "nonsense\r\n\r\n"
#define LARGE   (400 * 1000)

static struct host *new_host(host_app app)
{
    struct bb_settings settings = host_settings();
    struct host *host = host_new(&settings, AF_INET);
    host->app = app;
    return host;
}

static void pass(struct host *host, uint64_t milliseconds)
{
    fake_clock_advance(milliseconds);
    host_settle(host);
}

static void app_large(struct host *host, const struct bb_request *request)
{
    static char body[LARGE];
    (void)request;
    memset(body, 'x', sizeof body);
    host_respond(host, 200, body, sizeof body);
}

static void set_option(int fd, int level, int which, int value)
{
    assert_int_equal(setsockopt(fd, level, which, &value, sizeof value), 0);
}

/* Requests a large response. Returns when the whole response is in kernel buffers, most of it on the server's
 * side. */
static struct client *slow_reader(struct host *host, const char *request)
{
    struct client *client = client_new(host);
    set_option(client->fd, SOL_SOCKET, SO_RCVBUF, 32 * 1024);
    host_settle(host);
    set_option(host->lane->set.conns->fd, SOL_SOCKET, SO_SNDBUF, 1 << 20);
    client_say(client, request);
    host_settle(host);
    return client;
}

static void assert_whole(struct client *client)
{
    assert_response(client, 200, NULL);
    assert_int_equal(bb__buf_len(&client->body), LARGE + 1);
    assert_end(client);
}

/* Old clients send an empty line behind a request. */
static void test_an_empty_line_does_not_cost_the_response(void **state)
{
    (void)state;
    static const char *const requests[] = {CLOSING, "GET / HTTP/1.0\r\n\r\n"};
    for (int i = 0; i < 2; i++) {
        struct host *host = new_host(app_large);
        struct client *client = slow_reader(host, requests[i]);
        assert_int_equal(host_connections(host), 1);
        assert_int_equal(host->lane->set.conns->state, BB_CONN_LINGER);
        client_say(client, "\r\n");
        assert_whole(client);
        client_free(client);
        host_settle_to(host, 0);
        host_free(host);
    }
}

static struct client *quick;

/* The client receives the whole response before bb_reply_end(). */
static void app_is_read(struct host *host, const struct bb_request *request)
{
    static const char body[100 * 1000];
    const struct bb_slice part = {body, sizeof body};
    uint64_t taken, since = real_ms();
    (void)request;
    host_fields(host, 200);
    assert_int_equal(bb_reply_head(host->lane, sizeof body), BB_OK);
    assert_int_equal(bb_reply_write(host->lane, &part, 1, false, &taken), BB_OK);
    while (bb__buf_len(&host->lane->current->out) > 0 || bb__sock_untaken(host->lane->current->fd) > 0) {
        assert_true(real_ms() - since < WAIT_LIMIT);
        (void)client_receive(quick);
        assert_int_equal(bb_reply_write(host->lane, NULL, 0, false, &taken), BB_OK);
    }
    assert_int_equal(bb_reply_end(host->lane), BB_OK);
}

static void test_a_connection_does_not_linger_if_all_is_taken(void **state)
{
    (void)state;
    struct host *host = new_host(app_is_read);
    quick = client_new(host);
    client_say(quick, CLOSING);
    while (host->served == 0) host_turn(host);
    assert_int_equal(host_connections(host), 0);
    assert_response(quick, 200, NULL);
    assert_end(quick);
    client_free(quick);
    host_free(host);
}

/* ---- how long ---- */

/* Waits until the response has come, but does not read it. */
static void await_response(struct client *client)
{
    struct pollfd watched = {.fd = client->fd, .events = POLLIN};
    uint64_t since = real_ms();
    while (poll(&watched, 1, 0) == 0) client_wait(client, POLLIN, since);
}

static void test_a_silent_client_has_three_seconds_to_read(void **state)
{
    (void)state;
    struct host *host = new_host(app_echo);
    struct client *client = client_new(host);
    client_say(client, REFUSED);
    await_response(client);
    pass(host, 2999);
    assert_int_equal(host_connections(host), 1);
    pass(host, 1);
    assert_int_equal(host_connections(host), 0);
    client_free(client);
    host_free(host);
}

/* No other thread serves the lane's connections during this time, so it does not count against clients that
 * wait already. */
static void app_takes_long(struct host *host, const struct bb_request *request)
{
    fake_clock_advance(20000);
    app_echo(host, request);
}

static void test_a_long_request_does_not_put_off_the_linger_that_follows(void **state)
{
    (void)state;
    struct host *host = new_host(app_takes_long);
    struct client *client = client_new(host);
    client_say(client, "POST / HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: 1\r\n\r\na");
    await_response(client);
    pass(host, 2999);
    assert_int_equal(host_connections(host), 1);
    pass(host, 1);
    assert_int_equal(host_connections(host), 0);
    client_free(client);
    host_free(host);
}

/* The timeout of 3 s begins again with each byte from the client, even if the server reads the byte more than
 * 3 s later. After 30 s the core closes the connection. */
static void test_a_client_that_goes_on_sending_has_thirty_seconds(void **state)
{
    (void)state;
    for (uint64_t every = 1000; every <= 4000; every += 3000) {
        struct host *host = new_host(app_echo);
        struct client *client = client_new(host);
        set_option(client->fd, IPPROTO_TCP, TCP_NODELAY, 1); /* no delay in real time */
        client_say(client, REFUSED);
        host_settle(host);
        uint64_t passed = 0;
        for (; passed + every <= 27000; passed += every) {
            client_say(client, "more");
            pass(host, every);
            assert_int_equal(host_connections(host), 1);
        }
        for (; passed <= 30000 && host_connections(host) > 0; passed += 1000) {
            client_say(client, "more");
            pass(host, 1000);
        }
        assert_int_equal(host_connections(host), 0);
        assert_int_equal(host->served, 0);
        client_free(client);
        host_free(host);
    }
}

static void test_a_client_that_goes_on_reading_has_more_than_three_seconds(void **state)
{
    (void)state;
    struct host *host = new_host(app_large);
    struct client *client = slow_reader(host, CLOSING);
    const struct bb__conn *conn = host->lane->set.conns;
    for (int round = 0; round < 3; round++) {
        int untaken = bb__sock_untaken(conn->fd);
        uint64_t since = real_ms();
        while (bb__sock_untaken(conn->fd) == untaken) {
            assert_true(real_ms() - since < WAIT_LIMIT);
            (void)client_receive(client);
        }
        pass(host, 3000);
        assert_int_equal(host_connections(host), 1);
    }
    client_say(client, "\r\n");
    pass(host, 2999);
    assert_int_equal(host_connections(host), 1);
    assert_whole(client);
    client_free(client);
    host_free(host);
}

static void test_a_drain_ends_a_lingering_connection_after_two_seconds(void **state)
{
    (void)state;
    struct host *host = new_host(app_echo);
    struct client *client = client_new(host);
    client_say(client, REFUSED);
    host_settle(host);
    bb_worker_drain(host->worker, BB_QUEUE_TAKE);
    host_settle(host);
    client_say(client, "more");
    pass(host, 1999);
    assert_int_equal(host_connections(host), 1);
    pass(host, 1);
    assert_int_equal(host_connections(host), 0);
    client_free(client);
    host_free(host);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_an_empty_line_does_not_cost_the_response),
        cmocka_unit_test(test_a_connection_does_not_linger_if_all_is_taken),
        cmocka_unit_test(test_a_silent_client_has_three_seconds_to_read),
        cmocka_unit_test(test_a_long_request_does_not_put_off_the_linger_that_follows),
        cmocka_unit_test(test_a_client_that_goes_on_sending_has_thirty_seconds),
        cmocka_unit_test(test_a_client_that_goes_on_reading_has_more_than_three_seconds),
        cmocka_unit_test(test_a_drain_ends_a_lingering_connection_after_two_seconds),
    };
    return cmocka_run_group_tests_name("conn_linger", tests, NULL, NULL);
}
