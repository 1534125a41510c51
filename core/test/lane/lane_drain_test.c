/* lane_drain_test.c: requests in flight and idle connections when one lane drains, that is, ends gracefully.
 * lane_queue_test.c tests queued connections. worker_test.c tests several lanes. */
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "drain_case.h"
#include "support/fake_clock.h"

static void test_an_idle_lane_is_drained_at_once(void **state)
{
    (void)state;
    struct host *host = host_new_default(AF_UNIX);
    const struct bb_request *request;
    bb_worker_drain(host->worker, BB_QUEUE_TAKE);
    assert_int_equal(bb_lane_wait(host->lane), BB_OK);
    assert_int_equal(bb_lane_next(host->lane, &request), BB_DRAINED);
    bb_worker_drain(host->worker, BB_QUEUE_TAKE); /* a second drain has no effect */
    assert_int_equal(bb_lane_next(host->lane, &request), BB_DRAINED);
    host_free(host);
}

static void test_a_drain_closes_the_listener(void **state)
{
    (void)state;
    struct host *host = host_new_default(AF_INET);
    struct client *client = client_new(host);
    client_say(client, "GET"); /* the open connection keeps the lane from ending */
    host_settle(host);
    bb_worker_drain(host->worker, BB_QUEUE_TAKE);
    host_settle(host);
    int late = socket(AF_INET, SOCK_STREAM, 0);
    assert_int_equal(connect(late, &host->address.any, host->address_len), -1);
    assert_int_equal(errno, ECONNREFUSED);
    close(late);
    assert_int_equal(host->last, BB_AGAIN);
    client_free(client);
    assert_drained(host);
}

static void test_other_processes_may_go_on_listening(void **state)
{
    (void)state;
    struct host *host = host_new_default(AF_UNIX);
    int elsewhere = dup(host->worker->listen.listeners[0].fd);
    struct client *client = client_new(host);
    client_say(client, "GET"); /* the open connection keeps the lane from ending */
    host_settle(host);
    bb_worker_drain(host->worker, BB_QUEUE_TAKE);
    host_settle(host);
    struct client *late = client_new(host);
    assert_true(would_wait(host));
    close(elsewhere);
    client_free(client);
    client_free(late);
    assert_drained(host);
}

/* The drain has closed the listener, so its descriptor number is free. The test adds another descriptor with
 * this number to the lane's epoll set. The lane must not mistake this descriptor for the listener. */
static void test_the_number_of_a_closed_listener_may_be_used_again(void **state)
{
    (void)state;
    struct host *host = host_new_default(AF_UNIX);
    struct bb__source other = {.kind = BB_SOURCE_DRAIN};
    int number = host->worker->listen.listeners[0].fd;
    struct client *client = client_new(host);
    client_say(client, "GET"); /* the open connection keeps the lane from ending */
    host_settle(host);
    bb_worker_drain(host->worker, BB_QUEUE_TAKE);
    host_settle(host);
    assert_int_equal(fcntl(number, F_GETFD), -1);
    assert_int_equal(dup2(host->worker->limits.alarm.fd, number), number);
    assert_int_equal(bb__poller_add(&host->lane->set.poller, number, BB_INTEREST_READ, &other), BB_OK);
    bb__lane_rescan(host->lane);
    assert_false(host->lane->accept.paused); /* a listener that cannot be added would pause accepting */
    assert_true(would_wait(host));
    bb__wakeup_raise(&host->worker->limits.alarm);
    assert_false(would_wait(host));
    assert_false(bb__worker_is_awaited(host->worker));
    bb__poller_remove(&host->lane->set.poller, number);
    client_free(client);
    host->descriptors++; /* the test has opened this descriptor */
    assert_drained(host);
    assert_int_equal(close(number), 0);
}

static struct client *queued;

/* The drain begins while the lane is busy with its first request. */
static void app_is_told_to_end(struct host *host, const struct bb_request *request)
{
    if (host->served == 1) {
        queued = client_new(host);
        bb_worker_drain(host->worker, BB_QUEUE_TAKE);
        int late = socket(AF_INET, SOCK_STREAM, 0);
        assert_int_equal(connect(late, &host->address.any, host->address_len), -1);
        assert_int_equal(errno, ECONNREFUSED);
        close(late);
    }
    app_echo(host, request);
}

static void test_the_listener_is_closed_while_the_lane_is_busy(void **state)
{
    (void)state;
    struct host *host = host_new_default(AF_INET);
    struct client *client = client_new(host);
    host->app = app_is_told_to_end;
    client_say(client, REQUEST);
    assert_last_response(client, "GET / ");
    client_say(queued, REQUEST);
    assert_last_response(queued, "GET / ");
    assert_drained(host);
}

/* Half a head is not a request in flight. The timeout for the rest of the head is keepalive_drain, not
 * header_timeout. */
static void test_half_a_head_has_the_timeout_of_an_idle_connection(void **state)
{
    (void)state;
    struct host *host = host_new_default(AF_UNIX);
    struct client *client = client_new(host);
    client_say(client, "GET / HTTP/1.1\r\n");
    host_settle(host);
    bb_worker_drain(host->worker, BB_QUEUE_TAKE);
    host_settle(host);
    fake_clock_advance(1999);
    assert_silence(client);
    fake_clock_advance(1);
    assert_response(client, 408, NULL);
    assert_end(client);
    fake_clock_advance(2000); /* ms; the connection lingers for this time */
    host_settle_to(host, 0);
    client_free(client);
    assert_drained(host);
}

static void test_requests_in_flight_are_finished(void **state)
{
    (void)state;
    struct host *host = host_new_default(AF_UNIX);
    struct client *head = client_new(host), *body = client_new(host), *idle = client_new(host);
    client_say(idle, REQUEST);
    assert_response(idle, 200, "GET / ");
    client_say(head, "GET / HTTP/1.1\r\n");
    client_say(body, "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\nhe");
    host_settle(host);
    bb_worker_drain(host->worker, BB_QUEUE_TAKE);
    host_settle(host);
    assert_silence(idle);
    fake_clock_advance(1500);
    client_say(head, "Host: x\r\n\r\n");
    assert_last_response(head, "GET / ");
    client_say(body, "llo");
    assert_last_response(body, "POST / hello");
    client_say(idle, REQUEST); /* an idle connection may send one more request */
    assert_last_response(idle, "GET / ");
    assert_drained(host);
}

static void test_idle_connections_are_closed_after_keepalive_drain(void **state)
{
    (void)state;
    struct host *host = host_new_default(AF_UNIX);
    struct client *idle = client_new(host), *fresh = client_new(host);
    client_say(idle, REQUEST);
    assert_response(idle, 200, "GET / ");
    assert_silence(fresh);
    bb_worker_drain(host->worker, BB_QUEUE_TAKE);
    host_settle(host);
    fake_clock_advance(1999);
    assert_silence(idle);
    assert_silence(fresh);
    fake_clock_advance(1);
    assert_end(idle);
    assert_end(fresh);
    client_free(idle);
    client_free(fresh);
    assert_drained(host);
}

/* The lane is busy for a part of keepalive_drain. */
static void app_is_told_and_takes_its_time(struct host *host, const struct bb_request *request)
{
    bb_worker_drain(host->worker, BB_QUEUE_TAKE);
    fake_clock_advance(1500);
    app_echo(host, request);
}

static void test_keepalive_drain_begins_with_the_order(void **state)
{
    (void)state;
    struct host *host = host_new_default(AF_UNIX);
    struct client *idle = client_new(host), *client = client_new(host);
    client_say(idle, REQUEST);
    assert_response(idle, 200, "GET / ");
    host->app = app_is_told_and_takes_its_time;
    client_say(client, REQUEST);
    assert_last_response(client, "GET / ");
    fake_clock_advance(499);
    assert_silence(idle);
    fake_clock_advance(1);
    assert_end(idle);
    client_free(idle);
    assert_drained(host);
}

/* The drain begins during a request that takes longer than keepalive_drain. For the connection of this
 * request, keepalive_drain begins when the connection becomes idle. */
static void app_is_told_and_takes_long(struct host *host, const struct bb_request *request)
{
    (void)request;
    uint64_t taken;
    const struct bb_slice part = {"body", 4};
    host_fields(host, 200);
    assert_int_equal(bb_reply_head(host->lane, 4), BB_OK);
    assert_int_equal(bb_reply_write(host->lane, &part, 1, true, &taken), BB_OK);
    bb_worker_drain(host->worker, BB_QUEUE_TAKE);
    fake_clock_advance(3000);
    assert_int_equal(bb_reply_end(host->lane), BB_OK);
}

static void test_a_connection_that_becomes_idle_later_has_all_of_keepalive_drain(void **state)
{
    (void)state;
    struct host *host = host_new_default(AF_UNIX); /* the response's head is sent before the drain */
    struct client *client = client_new(host);
    host->app = app_is_told_and_takes_long;
    client_say(client, REQUEST);
    assert_response(client, 200, "body");
    fake_clock_advance(1999);
    assert_silence(client);
    host->app = app_echo;
    client_say(client, REQUEST);
    assert_last_response(client, "GET / ");
    assert_drained(host);
}

static void app_large(struct host *host, const struct bb_request *request)
{
    static char body[900 * 1000];
    (void)request;
    memset(body, 'x', sizeof body);
    host_respond(host, 200, body, sizeof body);
}

static void app_large_and_long(struct host *host, const struct bb_request *request)
{
    bb_worker_drain(host->worker, BB_QUEUE_TAKE);
    fake_clock_advance(3000);
    app_large(host, request);
}

/* If the core closed a socket with unread bytes of the client, the kernel would drop the rest of the
 * response. */
static void test_a_response_that_lingers_after_the_order_arrives(void **state)
{
    (void)state;
    struct host *host = host_new_default(AF_INET);
    struct client *client = client_new(host);
    int little = 16 * 1024, much = 4 << 20;
    setsockopt(client->fd, SOL_SOCKET, SO_RCVBUF, &little, sizeof little);
    host_settle(host);
    setsockopt(host->lane->set.conns->fd, SOL_SOCKET, SO_SNDBUF, &much, sizeof much);
    host->app = app_large_and_long;
    client_say(client, "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\n\r\n1");
    while (host->served == 0) host_turn(host);
    assert_int_equal(host_connections(host), 1);
    host_settle(host);
    client_say(client, "\r\n");
    host_settle(host);
    assert_response(client, 200, NULL);
    assert_int_equal(bb__buf_len(&client->body), 900 * 1000 + 1);
    assert_end(client);
    client_free(client);
    assert_drained(host);
}

static void test_idle_connections_are_closed_at_once_without_keepalive_drain(void **state)
{
    (void)state;
    struct bb_settings settings = host_settings();
    settings.keepalive_drain = 0;
    struct host *host = host_new(&settings, AF_UNIX);
    struct client *idle = client_new(host);
    client_say(idle, REQUEST);
    assert_response(idle, 200, "GET / ");
    bb_worker_drain(host->worker, BB_QUEUE_TAKE);
    host_settle(host);
    fake_clock_advance(1);
    assert_end(idle);
    client_free(idle);
    assert_drained(host);
}

static void app_drains(struct host *host, const struct bb_request *request)
{
    bb_worker_drain(host->worker, BB_QUEUE_TAKE);
    app_echo(host, request);
}

static void app_drains_too_late(struct host *host, const struct bb_request *request)
{
    (void)request;
    uint64_t taken;
    const struct bb_slice part = {"body", 4};
    host_fields(host, 200);
    assert_int_equal(bb_reply_head(host->lane, 4), BB_OK);
    assert_int_equal(bb_reply_write(host->lane, &part, 1, true, &taken), BB_OK);
    bb_worker_drain(host->worker, BB_QUEUE_TAKE);
    assert_int_equal(bb_reply_end(host->lane), BB_OK);
}

static void test_a_response_is_the_last_if_the_order_comes_before_its_head_leaves(void **state)
{
    (void)state;
    struct host *host = host_new_default(AF_UNIX);
    struct client *client = client_new(host);
    host->app = app_drains;
    client_say(client, REQUEST REQUEST);
    assert_last_response(client, "GET / ");
    assert_int_equal(host->served, 1);
    assert_drained(host);

    host = host_new_default(
        AF_UNIX); /* the head is sent before the drain, so the client may send one more request */
    client = client_new(host);
    host->app = app_drains_too_late;
    client_say(client, REQUEST);
    assert_response(client, 200, "body");
    assert_null(client_field(client, "Connection"));
    host->app = app_echo;
    client_say(client, REQUEST);
    assert_last_response(client, "GET / ");
    assert_drained(host);
}

static void test_a_response_under_way_is_delivered(void **state)
{
    (void)state;
    static const int families[] = {AF_UNIX, AF_INET};
    for (int family = 0; family < 2; family++) {
        struct host *host = host_new_default(families[family]);
        struct client *client = client_new(host);
        int little = 64 * 1024;
        host->app = app_large;
        setsockopt(client->fd, SOL_SOCKET, SO_RCVBUF, &little, sizeof little);
        host_settle(host);
        setsockopt(host->lane->set.conns->fd, SOL_SOCKET, SO_SNDBUF, &little, sizeof little);
        client_say(client, "GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
        bb_worker_drain(host->worker, BB_QUEUE_TAKE);
        host_settle(host);
        assert_int_equal(host->lane->set.conns->state, BB_CONN_FLUSH);
        assert_response(client, 200, NULL);
        assert_int_equal(bb__buf_len(&client->body), 900 * 1000 + 1);
        assert_end(client);
        client_free(client);
        assert_drained(host);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_an_idle_lane_is_drained_at_once),
        cmocka_unit_test(test_a_drain_closes_the_listener),
        cmocka_unit_test(test_other_processes_may_go_on_listening),
        cmocka_unit_test(test_the_number_of_a_closed_listener_may_be_used_again),
        cmocka_unit_test(test_the_listener_is_closed_while_the_lane_is_busy),
        cmocka_unit_test(test_half_a_head_has_the_timeout_of_an_idle_connection),
        cmocka_unit_test(test_requests_in_flight_are_finished),
        cmocka_unit_test(test_idle_connections_are_closed_after_keepalive_drain),
        cmocka_unit_test(test_keepalive_drain_begins_with_the_order),
        cmocka_unit_test(test_a_connection_that_becomes_idle_later_has_all_of_keepalive_drain),
        cmocka_unit_test(test_a_response_that_lingers_after_the_order_arrives),
        cmocka_unit_test(test_idle_connections_are_closed_at_once_without_keepalive_drain),
        cmocka_unit_test(test_a_response_is_the_last_if_the_order_comes_before_its_head_leaves),
        cmocka_unit_test(test_a_response_under_way_is_delivered),
    };
    return cmocka_run_group_tests_name("lane_drain", tests, NULL, NULL);
}
