/* conn_time_test.c: how long a client may take for what, and what it is told when it takes longer. The clock
 * is the test's. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "support/fake_clock.h"
#include "taking.h"
#include "time_case.h"

/* ---- heads ---- */

static void test_a_silent_client_is_left_without_a_word(void **state)
{
    (void)state;
    struct host *host = new_host();
    struct client *client = client_new(host);
    host_settle(host);
    assert_null(host->lane->set.conns->in.data); /* nor does it cost a block */
    pass(host, 29999);
    assert_silence(client);
    pass(host, 1);
    assert_end(client);
    assert_int_equal(host_connections(host), 0);
    client_free(client);
    host_free(host);
}

static void test_a_drip_does_not_extend_the_time_of_a_head(void **state)
{
    (void)state;
    struct host *host = new_host();
    struct client *client = client_new(host);
    host_settle(host);
    pass(host, 20000); /* it counts from the first byte */
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

/* Nor does it cost more than its bytes: an incomplete head is parsed anew when it has doubled. */
static void test_a_drip_is_not_parsed_byte_by_byte(void **state)
{
    (void)state;
    struct host *host = new_host();
    struct client *client = client_new(host);
    client_say(client, "GET / HTTP/1.1\r\nX: ");
    host_settle(host);
    const struct bb__conn *conn = host->lane->set.conns;
    unsigned parsed = 0;
    for (int i = 0; i < 4000; i++) {
        size_t before = conn->head_parsed;
        client_say(client, i % 100 == 0 ? "\r\nX: " : "x");
        host_turn(host);
        parsed += conn->head_parsed != before;
    }
    assert_in_range(parsed, 1, 10);
    client_say(client, "\r\nHost: x\r\n\r\n");
    assert_answer(client, 200, "GET / ");
    client_free(client);
    host_free(host);
}

/* The answer to a HEAD has no body, the one to what comes behind it has. */
static void test_a_late_head_behind_a_HEAD(void **state)
{
    (void)state;
    struct host *host = new_host();
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

static void test_each_request_has_its_own_time(void **state)
{
    (void)state;
    struct host *host = new_host();
    struct client *client = client_new(host);
    for (int round = 0; round < 5; round++) {
        client_say(client, "GET / HTTP/1.1\r\n");
        host_settle(host);
        pass(host, 25000);
        client_say(client, "Host: x\r\n\r\nG");
        assert_answer(client, 200, "GET / ");
        pass(host, 25000); /* of the next one, whose first byte was pipelined */
        client_say(client, "ET / HTTP/1.1\r\nHost: x\r\n\r\n");
        assert_answer(client, 200, "GET / ");
        pass(host, 25000);
    }
    client_say(client, REQUEST "G");
    assert_answer(client, 200, "GET / ");
    pass(host, 29999);
    assert_silence(client);
    pass(host, 1);
    assert_late(client);
    client_free(client);
    host_free(host);
}

/* ---- idle ---- */

static void test_an_idle_connection_is_closed_without_a_word(void **state)
{
    (void)state;
    struct host *host = new_host();
    struct client *client = client_new(host);
    for (int round = 0; round < 2; round++) {
        client_say(client, REQUEST);
        assert_answer(client, 200, "GET / ");
        pass(host, 74999);
        assert_silence(client);
    }
    pass(host, 1);
    assert_end(client);
    client_free(client);
    host_free(host);
}

static void test_without_keepalive_every_answer_closes(void **state)
{
    (void)state;
    struct bb_settings settings = host_settings();
    settings.keepalive_timeout = 0;
    struct host *host = host_new(&settings, AF_UNIX);
    struct client *client = client_new(host);
    client_say(client, REQUEST);
    assert_answer(client, 200, "GET / ");
    assert_string_equal(client_field(client, "Connection"), "close");
    assert_end(client);
    client_free(client);
    host_free(host);
}

static void test_after_so_many_requests_it_closes(void **state)
{
    (void)state;
    struct bb_settings settings = host_settings();
    settings.max_keepalive_requests = 3;
    struct host *host = host_new(&settings, AF_UNIX);
    struct client *client = client_new(host);
    client_say(client, REQUEST REQUEST REQUEST REQUEST);
    for (int i = 0; i < 3; i++) {
        assert_answer(client, 200, "GET / ");
        assert_int_equal(client_field(client, "Connection") != NULL, i == 2);
    }
    assert_end(client);
    assert_int_equal(host->served, 3);
    client_free(client);
    host_free(host);
}

/* ---- answers ---- */

static void app_large(struct host *host, const struct bb_request *request)
{
    (void)request;
    static char body[900 * 1000];
    memset(body, 'x', sizeof body);
    host_answer(host, 200, body, sizeof body);
}

static void set_buffer(int fd, int which, int size)
{
    assert_int_equal(setsockopt(fd, SOL_SOCKET, which, &size, sizeof size), 0);
}

/* A connection on which most of an answer waits; about `sent` is in the socket. */
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

/* The client reads a little, until the host gets rid of some of what it owes, and no more. */
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

/* A client that reads little is served; one that reads nothing for a minute is not. */
static void test_an_answer_that_nobody_takes(void **state)
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

/* It is no longer than it takes until the socket asks for more: that may be megabytes later. */
static void test_an_answer_that_is_taken_little_by_little(void **state)
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

/* The other side's kernel takes what it has room for, be it a moment late. That is no client who reads. */
static void test_an_answer_that_only_the_kernel_takes(void **state)
{
    (void)state;
    static const int families[] = {AF_INET, AF_UNIX};
    for (int i = 0; i < 2; i++) {
        struct bb_settings settings = host_settings();
        struct host *host = host_new(&settings, families[i]);
        struct client *client = client_new(host);
        (void)owe_much(host, client, 200 * 1024);
        host->lane->set.conns->untaken++; /* and it was less a moment later */
        assert_dropped_after(host, 60000);
        client_free(client);
        host_free(host);
    }
}

/* Kept alive behind it, it waits for the client's bytes, not for room in a socket that has it. */
static void test_an_answer_that_is_taken_late(void **state)
{
    (void)state;
    struct host *host = new_host();
    struct client *client = client_new(host);
    (void)owe_much(host, client, 64 * 1024);
    assert_answer(client, 200, NULL);
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

/* What the host needs for its answer is not the client's time. */
static void test_a_slow_application_costs_the_client_nothing(void **state)
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
    assert_answer(client, 200, NULL);
    assert_int_equal(bb__buf_len(&client->body), 900 * 1000 + 1);
    pass(host, 74000); /* and so for the time between requests */
    assert_silence(client);
    client_free(client);
    host_free(host);
}

/* ---- none of it ---- */

static void test_zero_is_no_limit(void **state)
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
    assert_answer(client, 200, NULL);
    client_free(client);
    host_free(host);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_silent_client_is_left_without_a_word),
        cmocka_unit_test(test_a_drip_does_not_extend_the_time_of_a_head),
        cmocka_unit_test(test_a_drip_is_not_parsed_byte_by_byte),
        cmocka_unit_test(test_a_late_head_behind_a_HEAD),
        cmocka_unit_test(test_each_request_has_its_own_time),
        cmocka_unit_test(test_an_idle_connection_is_closed_without_a_word),
        cmocka_unit_test(test_without_keepalive_every_answer_closes),
        cmocka_unit_test(test_after_so_many_requests_it_closes),
        cmocka_unit_test(test_an_answer_that_nobody_takes),
        cmocka_unit_test(test_an_answer_that_is_taken_little_by_little),
        cmocka_unit_test(test_an_answer_that_only_the_kernel_takes),
        cmocka_unit_test(test_an_answer_that_is_taken_late),
        cmocka_unit_test(test_a_slow_application_costs_the_client_nothing),
        cmocka_unit_test(test_zero_is_no_limit),
    };
    return cmocka_run_group_tests_name("conn_time", tests, NULL, NULL);
}
