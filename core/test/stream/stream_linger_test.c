/* stream_linger_test.c: the end of a connection whose stream outlives its request, while the client may still
 * send. The connection lingers in a lane: if it were closed, the client's bytes would reset it, and the
 * client could lose the end of the response. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/wait.h>

#include <cmocka.h>
#include <netinet/tcp.h>

#include "stream_case.h"
#include "support/fail_alloc.h"
#include "support/fake_clock.h"

#define LARGE   (100 * 1024)
#define CLOSING "GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"

static uint64_t length;

static void app_detaches(struct host *host, const struct bb_request *request)
{
    (void)request;
    host_fields(host, 200);
    assert_int_equal(bb_reply_head(host->lane, length), BB_OK);
    assert_int_equal(bb_lane_detach(host->lane, &stream), BB_OK);
    bb_lane_rejoin(host->lane, stream);
    assert_int_equal(bb_reply_end(host->lane), BB_OK);
}

static struct host *new_host(struct bb_settings settings, uint64_t body)
{
    struct host *host = host_new(&settings, AF_INET);
    host->app = app_detaches;
    length = body;
    return host;
}

static void set_option(int fd, int level, int which, int value)
{
    assert_int_equal(setsockopt(fd, level, which, &value, sizeof value), 0);
}

/* Returns when the host has a stream for the response to this request. */
static struct client *client_with_stream(struct host *host, const char *request)
{
    unsigned served = host->served;
    struct client *client = client_new(host);
    set_option(client->fd, SOL_SOCKET, SO_RCVBUF, 4096);
    set_option(client->fd, IPPROTO_TCP, TCP_NODELAY, 1); /* no delay in real time */
    client_say(client, request);
    while (host->served == served) client_wait(client, POLLIN, real_ms());
    return client;
}

static void end_stream(void)
{
    static const char body[LARGE];
    uint64_t taken;
    assert_int_equal(put(body, length, true, &taken), BB_OK);
    assert_int_equal(taken, length);
    bb_stream_free(stream);
}

static void assert_whole(struct client *client)
{
    assert_response(client, 200, NULL);
    assert_int_equal(bb__buf_len(&client->body), length + 1);
    assert_end(client);
}

static void finish(struct host *host, struct client *client)
{
    client_free(client);
    host_free(host);
}

static void pass(struct host *host, uint64_t milliseconds)
{
    fake_clock_advance(milliseconds);
    host_settle(host);
}

/* ---- the response is whole ---- */

/* Old clients send an empty line behind a request. */
static void test_an_empty_line_does_not_cost_the_response(void **state)
{
    (void)state;
    struct host *host = new_host(host_settings(), LARGE);
    struct client *client = client_with_stream(host, CLOSING);
    end_stream();
    client_say(client, "\r\n");
    assert_whole(client);
    finish(host, client);
}

static void test_an_upload_that_is_not_read_does_not_cost_the_response(void **state)
{
    (void)state;
    static const char body[200 * 1024];
    struct bb_settings settings = host_settings();
    strcpy(settings.unbuffered_bodies, "/");
    struct host *host = new_host(settings, LARGE);
    struct client *client =
        client_with_stream(host, "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1000000\r\n\r\n");
    client_send(client, body, sizeof body);
    end_stream();
    client_send(client, body, sizeof body);
    assert_whole(client);
    finish(host, client);
}

/* ---- how long ---- */

static void test_a_silent_client_has_three_seconds_to_read(void **state)
{
    (void)state;
    struct host *host = new_host(host_settings(), 3);
    struct client *client = client_with_stream(host, CLOSING);
    end_stream();
    host_settle(host);
    pass(host, 2999);
    assert_int_equal(host_connections(host), 1);
    pass(host, 1);
    assert_int_equal(host_connections(host), 0);
    assert_whole(client);
    finish(host, client);
}

static void test_a_client_that_goes_on_sending_has_thirty_seconds(void **state)
{
    (void)state;
    struct host *host = new_host(host_settings(), 3);
    struct client *client = client_with_stream(host, CLOSING);
    end_stream();
    for (int second = 0; second < 27; second++) {
        client_say(client, "GET / HTTP/1.1\r\n\r\n");
        pass(host, 1000);
        assert_int_equal(host_connections(host), 1);
    }
    for (int second = 27; second < 31 && host_connections(host) > 0; second++) pass(host, 1000);
    assert_int_equal(host_connections(host), 0);
    assert_int_equal(host->served, 1);
    finish(host, client);
}

static void test_a_connection_does_not_linger_if_the_client_has_ended(void **state)
{
    (void)state;
    struct host *host = new_host(host_settings(), 3);
    struct client *client = client_with_stream(host, CLOSING);
    assert_int_equal(shutdown(client->fd, SHUT_WR), 0);
    end_stream();
    host_settle(host);
    assert_int_equal(host_connections(host), 0);
    assert_response_was_left(client, 200);
    finish(host, client);
}

static void test_a_stream_that_has_not_ended_is_reset_at_once(void **state)
{
    (void)state;
    struct host *host = new_host(host_settings(), 3);
    struct client *client = client_with_stream(host, CLOSING);
    put_text("on", false);
    bb_stream_free(stream);
    assert_reset(client);
    assert_int_equal(host_connections(host), 0);
    finish(host, client);
}

/* ---- when there is no place ---- */

static void test_a_connection_beyond_the_limit_is_closed(void **state)
{
    (void)state;
    struct bb_settings settings = host_settings();
    settings.max_connections = 1;
    struct host *host = new_host(settings, 3);
    struct client *client = client_with_stream(host, CLOSING);
    struct client *other = client_new(host);
    host_settle_to(host, 1);
    end_stream();
    host_settle_to(host, 1);
    assert_whole(client);
    assert_silence(other);
    client_free(other);
    finish(host, client);
}

static void test_a_connection_is_closed_if_there_is_no_memory(void **state)
{
    (void)state;
    struct host *host = new_host(host_settings(), 3);
    for (unsigned fails = 0; fails < 2; fails++) { /* first in the stream, then in the lane */
        struct client *client = client_with_stream(host, CLOSING);
        put_text("one", true);
        fail_alloc_at(fails + 1);
        bb_stream_free(stream);
        host_settle(host);
        assert_int_equal(fail_alloc_off(), 1);
        assert_int_equal(host_connections(host), 0);
        assert_response_was_left(client, 200);
        client_free(client);
    }
    host_free(host);
}

/* ---- the end of the worker ---- */

static void test_a_drain_waits_two_seconds_for_a_lingering_connection(void **state)
{
    (void)state;
    struct host *host = new_host(host_settings(), LARGE);
    struct client *client = client_with_stream(host, CLOSING);
    end_stream();
    bb_worker_drain(host->worker, BB_QUEUE_TAKE);
    host_settle(host);
    assert_int_equal(host->last, BB_AGAIN);
    client_say(client, "\r\n");
    assert_whole(client);
    pass(host, 2000);
    assert_int_equal(host->last, BB_DRAINED);
    finish(host, client);
}

static void test_a_connection_is_closed_if_all_lanes_have_ended(void **state)
{
    (void)state;
    struct host *host = new_host(host_settings(), 3);
    struct client *client = client_with_stream(host, CLOSING);
    bb_worker_drain(host->worker, BB_QUEUE_TAKE);
    host_settle(host);
    assert_int_equal(host->last, BB_DRAINED);
    end_stream();
    assert_null(host->worker->lingering);
    assert_response_was_left(client, 200);
    finish(host, client);
}

/* No lane has taken the connection yet. */
static void test_a_worker_that_is_freed_closes_the_connection(void **state)
{
    (void)state;
    struct host *host = new_host(host_settings(), 3);
    struct client *client = client_with_stream(host, CLOSING);
    end_stream();
    assert_non_null(host->worker->lingering);
    assert_response_was_left(client, 200);
    finish(host, client);
}

static void test_a_forked_child_leaves_the_connection_alone(void **state)
{
    (void)state;
    struct host *host = new_host(host_settings(), LARGE);
    struct client *client = client_with_stream(host, CLOSING);
    end_stream();
    pid_t pid = fork();
    if (pid == 0) {
        bb_lane_free(host->lane);
        _exit(bb_worker_free(host->worker) == BB_OK ? 0 : 1);
    }
    int status;
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(status, 0);
    client_say(client, "\r\n");
    assert_whole(client);
    finish(host, client);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_an_empty_line_does_not_cost_the_response),
        cmocka_unit_test(test_an_upload_that_is_not_read_does_not_cost_the_response),
        cmocka_unit_test(test_a_silent_client_has_three_seconds_to_read),
        cmocka_unit_test(test_a_client_that_goes_on_sending_has_thirty_seconds),
        cmocka_unit_test(test_a_connection_does_not_linger_if_the_client_has_ended),
        cmocka_unit_test(test_a_stream_that_has_not_ended_is_reset_at_once),
        cmocka_unit_test(test_a_connection_beyond_the_limit_is_closed),
        cmocka_unit_test(test_a_connection_is_closed_if_there_is_no_memory),
        cmocka_unit_test(test_a_drain_waits_two_seconds_for_a_lingering_connection),
        cmocka_unit_test(test_a_connection_is_closed_if_all_lanes_have_ended),
        cmocka_unit_test(test_a_worker_that_is_freed_closes_the_connection),
        cmocka_unit_test(test_a_forked_child_leaves_the_connection_alone),
    };
    return cmocka_run_group_tests_name("stream_linger", tests, NULL, NULL);
}
