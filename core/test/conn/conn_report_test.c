/* conn_report_test.c: the host (the program that calls the core) learns why requests are rejected, at most
 * once per second and reason, with the number of the other rejections. No number is lost. */
#include <poll.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "support/client.h"
#include "support/fail_file.h"
#include "support/fake_clock.h"

#define TWO_HOSTS "GET / HTTP/1.1\r\nHost: x\r\nHost: y\r\n\r\n"
#define NO_HOST   "GET / HTTP/1.1\r\n\r\n"
#define TLS       "\x16\x03\x01\x02"

static void ask(struct host *host, const char *request, int status)
{
    struct client *client = client_new(host);
    client_say(client, request);
    assert_response(client, status, NULL);
    client_free(client);
    host_settle(host);
}

static void assert_event(struct host *host, int status, bool by_client, const char *text, unsigned left_out)
{
    assert_int_equal(host->event_count, 1);
    assert_int_equal(host->events[0].status, status);
    assert_int_equal(host->events[0].by_client, by_client);
    assert_string_equal(host->events[0].text, text);
    assert_string_equal(host->events[0].peer, "127.0.0.1");
    assert_int_equal(host->events[0].left_out, left_out);
    host->event_count = 0;
}

static void test_a_rejection_is_reported_with_its_reason(void **state)
{
    (void)state;
    static const struct {
        const char *request, *text;
        int status;
        bool by_client;
    } cases[] = {
        {TLS, "a TLS handshake: the server speaks plain HTTP", 400, true},
        {TWO_HOSTS, "two Host fields", 400, true},
        {"GET / HTTP/1.1\nHost: x\n\n", "a line ends with LF without CR", 400, true},
        {"GET / HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n",
         "Content-Length beside Transfer-Encoding", 400, true},
        {"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", "HTTP/2: the server speaks HTTP/1", 505, true},
        {"POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: gzip\r\n\r\n",
         "a transfer coding other than chunked", 501, true},
        {"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 11\r\n\r\n", "max_body: the body is too large", 413,
         true},
        {"POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nx", "a chunk without a valid size",
         400, true},
        {"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\n", "spool: spool_max reached", 507, false},
    };
    struct bb_settings settings = host_settings();
    settings.max_body = 10;
    settings.spool_max = 8;
    struct host *host = host_new(&settings, AF_UNIX);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        ask(host, cases[i].request, cases[i].status);
        assert_event(host, cases[i].status, cases[i].by_client, cases[i].text, 0);
    }
    ask(host, "GET / HTTP/1.1\r\nHost: x\r\n\r\n", 200);
    assert_int_equal(host->event_count, 0);
    host_free(host);
}

/* A reason with an errno: the spool of request bodies fails. */
static void test_each_failure_of_the_spool_has_its_own_reports(void **state)
{
    (void)state;
    static const char too_much[] = "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 99999999999\r\n\r\n";
    static char too_large[4000];
    snprintf(too_large, sizeof too_large,
             "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n7d0\r\n%02000d\r\n", 0);
    struct bb_settings settings = host_settings();
    settings.spool_threshold = 1000;
    settings.spool_max = 500 * 1000;
    struct host *host = host_new(&settings, AF_UNIX);
    for (int i = 0; i < 3; i++) ask(host, too_much, 507);
    assert_event(host, 507, false, "spool: spool_max reached", 0);

    fail_file.tmpfile_error = EMFILE;
    for (int i = 0; i < 2; i++) ask(host, too_large, 503);
    assert_int_equal(host->events[0].error, EMFILE);
    assert_event(host, 503, false, "spool: no memory, or no file in spool_dir, for a request body", 0);
    fail_file.tmpfile_error = 0;
    fail_file_full(0, EIO);
    for (int i = 0; i < 2; i++) ask(host, too_large, 507);
    assert_int_equal(host->events[0].error, EIO);
    assert_event(host, 507, false, "spool: a request body cannot be written to spool_dir", 0);
    fail_file_off();

    fake_clock_advance(1000);
    host_turn(host);
    assert_int_equal(host->event_count, 3);
    assert_int_equal(host->events[0].left_out, 1);
    assert_int_equal(host->events[1].left_out, 0);
    assert_int_equal(host->events[2].left_out, 0);
    host_free(host);
}

/* Another reason has a report of its own in the same second. */
static void test_a_flood_is_reported_once_per_second(void **state)
{
    (void)state;
    struct host *host = host_new_default(AF_UNIX);
    unsigned reported = 0;
    for (int tenth = 0; tenth < 20; tenth++) {
        for (int i = 0; i < 10; i++) ask(host, TWO_HOSTS, 400);
        if (tenth == 5) ask(host, NO_HOST, 400);
        fake_clock_advance(100);
    }
    host_settle(host);
    assert_int_equal(host->event_count, 4); /* at 0 s, 1 s and 2 s, and the other reason */
    for (unsigned i = 0; i < host->event_count; i++) reported += 1 + host->events[i].left_out;
    assert_int_equal(reported, 201);
    host_free(host);
}

/* The lane wakes up for the report, although no client wakes it. */
static void test_the_rest_is_reported_after_a_second(void **state)
{
    (void)state;
    struct host *host = host_new_default(AF_UNIX);
    for (int i = 0; i < 8; i++) ask(host, NO_HOST, 400);
    assert_event(host, 400, true, "no Host field", 0);
    assert_int_equal(host_connections(host), 0);
    assert_int_equal(bb_lane_wait(host->lane), BB_OK); /* ends after a real second, without a wake-up */
    fake_clock_advance(999);
    host_turn(host);
    assert_int_equal(host->event_count, 0);
    fake_clock_advance(1);
    host_turn(host);
    assert_event(host, 400, true, "no Host field", 6);
    assert_true(bb__conn_reports_due(&host->lane->context) == UINT64_MAX);
    fake_clock_advance(5000);
    host_settle(host);
    assert_int_equal(host->event_count, 0);
    host_free(host);
}

static void test_the_rest_is_reported_when_the_worker_ends(void **state)
{
    (void)state;
    struct host *host = host_new_default(AF_UNIX);
    for (int i = 0; i < 3; i++) {
        ask(host, NO_HOST, 400);
        ask(host, TWO_HOSTS, 400);
    }
    assert_int_equal(host->event_count, 2);
    bb_worker_drain(host->worker, BB_QUEUE_TAKE);
    fake_clock_advance(1); /* a lane may have its last connection for some time */
    while (host->last != BB_DRAINED) {
        fake_clock_advance(100);
        host_turn(host);
    }
    assert_int_equal(host->event_count, 4);
    for (int i = 2; i < 4; i++) assert_int_equal(host->events[i].left_out, 1);
    host_free(host);
}

static unsigned take(struct bb__conn_context *context)
{
    struct bb_event event;
    unsigned count = 0;
    while (bb__event_take(&context->events, &event) == BB_OK) count += 1 + event.left_out;
    return count;
}

/* The clock of one thread may be behind. */
static void test_all_threads_of_a_worker_together_report_once_per_second(void **state)
{
    (void)state;
    struct host *host = host_new_default(AF_UNIX);
    struct bb_lane *other;
    assert_int_equal(bb_lane_new(&other, host->worker), BB_OK);
    const struct bb__conn conn = {.peer.address = "192.0.2.1"};
    struct bb__conn_context *one = &host->lane->context, *two = &other->context;
    two->now = one->now - 4;
    for (int i = 0; i < 10; i++) {
        (void)bb__conn_report(&conn, one, BB_REASON_TLS, 0);
        (void)bb__conn_report(&conn, two, BB_REASON_TLS, 0);
    }
    assert_int_equal(take(one), 1);
    assert_int_equal(take(two), 0);
    two->now += 1004;
    bb__conn_report_rest(two, false);
    assert_int_equal(take(two), 19);
    assert_true(bb__conn_reports_due(one) == UINT64_MAX);
    bb__conn_report_rest(one, true);
    assert_int_equal(take(one), 0);
    bb_lane_free(other);
    host_free(host);
}

/* A host that does not take its events for some time gets the numbers later. */
static void test_a_full_ring_loses_no_number(void **state)
{
    (void)state;
    struct host *host = host_new_default(AF_UNIX);
    const struct bb__conn conn = {.peer.address = "192.0.2.1"};
    struct bb__conn_context *context = &host->lane->context;
    unsigned reported = 0, last = BB_REASON_TLS + 2 * BB_EVENT_RING_MAX;
    for (unsigned reason = BB_REASON_TLS; reason < last; reason++)
        for (int i = 0; i < 3; i++) (void)bb__conn_report(&conn, context, (enum bb__reason)reason, 0);
    while (bb__conn_reports_due(context) != UINT64_MAX) {
        reported += take(context);
        bb__conn_report_rest(context, true);
    }
    assert_int_equal(reported + take(context), 3 * 2 * BB_EVENT_RING_MAX);
    host_free(host);
}

/* A host that does not take its events: a lane that is woken again and again would keep the I/O thread busy.
 */
static void test_a_full_ring_of_the_worker_wakes_no_lane(void **state)
{
    (void)state;
    struct host *host = host_new_default(AF_UNIX);
    struct bb__event_ring ring = {.count = 0};
    for (int i = 0; i < BB_EVENT_RING_MAX; i++) bb__event_add(&ring, 400, 0, "a reason", NULL);
    bb__worker_give_events(host->worker, &ring);
    assert_true(lane_has_events(host->lane));
    bb__wakeup_clear(&host->lane->intake.wakeup);
    bb__event_add(&ring, 400, 0, "one more", NULL);
    bb__worker_give_events(host->worker, &ring);
    assert_false(lane_has_events(host->lane));
    assert_int_equal(ring.count, 1);
    host_free(host);
}

/* While all lanes are busy, another thread of the host takes the events. */
static void test_an_event_of_the_worker_raises_the_alarm(void **state)
{
    (void)state;
    struct host *host = host_new_default(AF_UNIX);
    struct bb__event_ring ring = {.count = 0};
    struct pollfd watched = {.fd = bb_worker_alarm(host->worker), .events = POLLIN};
    assert_int_equal(poll(&watched, 1, 0), 0);
    bb__event_add(&ring, 400, 0, "a reason", NULL);
    bb__worker_give_events(host->worker, &ring);
    assert_int_equal(poll(&watched, 1, 0), 1);
    host_free(host);
}

/* The server's own problems find a place beside any number of mistakes of clients. */
static void test_mistakes_of_clients_leave_places_for_the_server(void **state)
{
    (void)state;
    struct host *host = host_new_default(AF_UNIX);
    const struct bb__conn conn = {.peer.address = "192.0.2.1"};
    struct bb__conn_context *context = &host->lane->context;
    for (unsigned reason = BB_REASON_TLS; reason < BB_REASON_TLS + 2 * BB_EVENT_RING_MAX; reason++)
        (void)bb__conn_report(&conn, context, (enum bb__reason)reason, 0);
    (void)bb__conn_report(&conn, context, BB_REASON_SPOOL_FULL, 0);
    bool found = false;
    struct bb_event event;
    while (bb__event_take(&context->events, &event) == BB_OK) found |= event.status == 507;
    assert_true(found);
    bb__conn_report_rest(context, true);
    host_free(host);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_rejection_is_reported_with_its_reason),
        cmocka_unit_test(test_each_failure_of_the_spool_has_its_own_reports),
        cmocka_unit_test(test_a_flood_is_reported_once_per_second),
        cmocka_unit_test(test_the_rest_is_reported_after_a_second),
        cmocka_unit_test(test_the_rest_is_reported_when_the_worker_ends),
        cmocka_unit_test(test_all_threads_of_a_worker_together_report_once_per_second),
        cmocka_unit_test(test_a_full_ring_loses_no_number),
        cmocka_unit_test(test_a_full_ring_of_the_worker_wakes_no_lane),
        cmocka_unit_test(test_an_event_of_the_worker_raises_the_alarm),
        cmocka_unit_test(test_mistakes_of_clients_leave_places_for_the_server),
    };
    return cmocka_run_group_tests_name("conn_report", tests, NULL, NULL);
}
