/* counting_conn_test.c: what connections count: rejections, probes, connections that are passed on, and what
 * the connections of a lane wait for now. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "counting_case.h"
#include "support/fail_shared_queue.h"
#include "support/fake_clock.h"

/* ---- rejections ---- */

static void test_a_rejection_counts_by_its_name_and_its_status(void **state)
{
    (void)state;
    static const struct {
        const char *request, *totals, *names;
    } cases[] = {
        {"GET / HTTP/1.1\r\n\r\n", "responses_4xx 1 accepted 1", "rejected no_host 1"},
        {GET("/", "Host: y\r\n"), "responses_4xx 1 accepted 1", "rejected two_hosts 1"},
        {"\x16\x03\x01\x02", "responses_4xx 1 accepted 1", "rejected tls 1"},
        {"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", "responses_5xx 1 accepted 1", "rejected http2 1"},
        {POST("/", "Content-Length: 11\r\n"), "responses_4xx 1 accepted 1", "rejected large_body 1"},
        {POST("/", "Transfer-Encoding: chunked\r\n") "x", "responses_4xx 1 accepted 1",
         "rejected bad_chunk_size 1"},
        {GET("/", "") GET("/", "Host: y\r\n"), "responses_2xx 1 responses_4xx 1 bytes_out 6 accepted 1",
         "rejected two_hosts 1"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct bb_settings settings = host_settings();
        settings.max_body = 10;
        struct host *host = counting_host(&settings, AF_UNIX, 1);
        struct client *client = client_new_saying(host, cases[i].request);
        while (client_more(client)) continue;
        assert_totals(cases[i].totals);
        assert_string_equal(names(), cases[i].names);
        client_free(client);
        counting_free(host);
    }
}

static void test_a_head_that_comes_too_slowly_counts_once(void **state)
{
    (void)state;
    struct bb_settings settings = host_settings();
    settings.header_timeout = 1000;
    struct host *host = counting_host(&settings, AF_UNIX, 1);
    struct client *client = client_new_saying(host, "GET / ");
    host_settle(host);
    fake_clock_advance(5000);
    assert_response(client, 408, NULL);
    assert_end(client);
    assert_totals("responses_4xx 1 accepted 1");
    assert_string_equal(names(), "rejected header_timeout 1");
    client_free(client);
    counting_free(host);
}

/* A reason without a status is no rejection. The response is counted where it is sent. */
static void test_only_reasons_with_a_status_are_rejections(void **state)
{
    (void)state;
    for (int reason = BB_REASON_BASE + 1; reason < BB_REASONS_END; reason++) {
        char expected[BB_METRICS_NAME_MAX + 20] = "";
        struct bb_settings settings = host_settings();
        struct host *host = counting_host(&settings, AF_UNIX, 1);
        struct client *client = client_new(host);
        host_settle_to(host, 1);
        const struct bb__reason_facts *facts = &bb__reasons[reason];
        (void)bb__conn_report(host->lane->set.conns, &host->lane->context, (enum bb__reason)reason, 0);
        (void)bb__conn_report(host->lane->set.conns, &host->lane->context, (enum bb__reason)reason, 0);
        if (facts->status > 0) (void)snprintf(expected, sizeof expected, "rejected %s 2", facts->name);
        assert_string_equal(names(), expected);
        assert_totals("accepted 1");
        client_free(client);
        counting_free(host);
    }
}

static void app_reads_and_gives_up(struct host *host, const struct bb_request *request)
{
    char bytes[16];
    size_t got;
    (void)request;
    for (size_t all = 0; all < 2; all += got)
        assert_int_equal(bb_request_read(host->lane, bytes, 1, &got), BB_OK);
    assert_int_equal(bb_request_read(host->lane, bytes, sizeof bytes, &got), BB_EBODY);
    bb_reply_abort(host->lane);
}

/* The core responds to a bad body, if the host has not responded. */
static void test_a_bad_unbuffered_body_is_a_rejection(void **state)
{
    (void)state;
    struct bb_settings settings = host_settings();
    strcpy(settings.unbuffered_bodies, "/in/");
    struct host *host = counting_host(&settings, AF_UNIX, 1);
    host->app = app_reads_and_gives_up;
    struct client *client =
        client_new_saying(host, POST("/in/", "Transfer-Encoding: chunked\r\n") "2\r\nab\r\nx");
    assert_response(client, 400, NULL);
    assert_totals("responses_4xx 1 bytes_in 2 accepted 1");
    assert_string_equal(names(), "rejected bad_chunk_size 1");
    client_free(client);
    counting_free(host);
}

/* ---- probes ---- */

static void probe(struct host *host, const char *request, int status)
{
    struct client *client = client_new_saying(host, request);
    assert_response(client, status, NULL);
    client_free(client);
}

static void test_probes_count_by_path_and_status(void **state)
{
    (void)state;
    struct bb_settings settings = host_settings();
    strcpy(settings.ready_path, "/ready");
    strcpy(settings.live_path, "/live");
    struct host *host = counting_host(&settings, AF_UNIX, 2);
    probe(host, GET("/ready", ""), 200);
    bb_scoreboard_set_draining(scoreboard, true);
    for (int i = 0; i < 3; i++) probe(host, GET("/ready", ""), 503);
    probe(host, GET("/live", ""), 200);
    assert_string_equal(names(), "probe ready_path 200 1, probe ready_path 503 3, probe live_path 200 1");
    assert_totals("responses_2xx 2 responses_5xx 3 accepted 5");
    assert_int_equal(bb_metrics_probe(metrics, BB_PROBE_READY).in_a_row, 3);
    assert_true(bb_metrics_probe(metrics, BB_PROBE_READY).last > 1600000000000);
    assert_int_equal(bb_metrics_probe(metrics, BB_PROBE_LIVE).in_a_row, 0);
    bb_scoreboard_set_draining(scoreboard, false);
    probe(host, GET("/ready", ""), 200);
    assert_int_equal(bb_metrics_probe(metrics, BB_PROBE_READY).in_a_row, 0);
    probe(host, POST("/ready", "Content-Length: 1\r\n") "x", 405); /* is no probe */
    assert_string_equal(names(), "probe ready_path 200 2, probe ready_path 503 3, probe live_path 200 1");
    assert_totals("responses_2xx 3 responses_4xx 1 responses_5xx 3 accepted 7");
    assert_int_equal(times(), 0);
    counting_free(host);
}

/* ---- passed on ---- */

/* A connection counts once as accepted, also if it comes back through the shared queue. */
static void test_a_connection_that_is_passed_on_is_accepted_once(void **state)
{
    (void)state;
    for (int fails = 0; fails < 2; fails++) {
        struct bb_settings settings = host_settings();
        struct host *host = counting_host(&settings, AF_UNIX, 1);
        struct bb_lane *lane = host->lane;
        struct client *client = client_new(host);
        host_settle_to(host, 1);
        client_say(client, GET("/", ""));
        struct bb__conn *conn = lane->set.conns;
        assert_int_equal(bb__conn_on_ready(conn, &lane->context, BB_INTEREST_READ), BB_CONN_REQUEST);
        fail_shared_queue.failures = (unsigned)fails;
        bb__conn_set_pass(&lane->set, &lane->context, conn, &host->worker->shared.queue);
        assert_totals(fails ? "accepted 1" : "accepted 1 passed_on 1");
        fail_shared_queue.failures = 0;
        assert_response(client, 200, "GET / ");
        assert_totals(fails ? "responses_2xx 1 bytes_out 6 accepted 1"
                            : "responses_2xx 1 bytes_out 6 accepted 1 passed_on 1");
        client_free(client);
        counting_free(host);
    }
}

/* ---- gauges ---- */

/* Asserts what the connections of the lane wait for, and that the sum is right. */
static void assert_shown(struct host *host, enum bb_connection kind, unsigned count)
{
    struct bb_metrics_lane lane;
    uint64_t sum = 0;
    host_settle(host);
    assert_int_equal(bb_metrics_look(metrics, 0, &lane), BB_OK);
    for (int i = 0; i < BB_CONNECTIONS_END; i++) sum += lane.connections[i];
    assert_int_equal(sum, host_connections(host));
    assert_int_equal(lane.connections[kind], count);
}

static void app_large(struct host *host, const struct bb_request *request)
{
    static char large[8 << 20];
    (void)request;
    host_respond(host, 200, large, sizeof large);
}

static struct bb_metrics_lane seen;

static void app_looks(struct host *host, const struct bb_request *request)
{
    bb__conn_set_show(&host->lane->set, host->lane->context.counts.own);
    assert_int_equal(bb_metrics_look(metrics, 0, &seen), BB_OK);
    app_echo(host, request);
}

static void test_a_lane_shows_what_its_connections_wait_for(void **state)
{
    (void)state;
    struct bb_settings settings = host_settings();
    settings.response_buffer = 100 << 20;
    struct host *host = counting_host(&settings, AF_INET, 1);
    struct client *clients[6];
    for (int i = 0; i < 6; i++) clients[i] = client_new(host);
    host_settle_to(host, 6);
    assert_shown(host, BB_CONNECTION_FRESH, 6);
    client_say(clients[0], "GET / HT");
    client_say(clients[1], "GET / HT");
    assert_shown(host, BB_CONNECTION_HEADER, 2);
    client_say(clients[2], POST("/", "Content-Length: 5\r\n") "ab");
    assert_shown(host, BB_CONNECTION_BODY, 1);
    client_say(clients[3], GET("/", ""));
    assert_response(clients[3], 200, "GET / ");
    assert_shown(host, BB_CONNECTION_KEEPALIVE, 1);
    host->app = app_large;
    client_say(clients[4], GET("/", ""));
    assert_shown(host, BB_CONNECTION_WRITE, 1);
    host->app = app_echo;
    client_say(clients[5], "nonsense\r\n\r\n");
    assert_response(clients[5], 400, NULL);
    assert_shown(host, BB_CONNECTION_LINGER, 1);
    host->app = app_looks;
    client_say(clients[3], GET("/", ""));
    assert_response(clients[3], 200, "GET / ");
    assert_int_equal(seen.connections[BB_CONNECTION_SERVED], 1);
    assert_int_equal(seen.connections[BB_CONNECTION_KEEPALIVE], 0);
    assert_shown(host, BB_CONNECTION_KEEPALIVE, 1);
    assert_shown(host, BB_CONNECTION_SERVED, 0);
    assert_shown(host, BB_CONNECTION_HEADER, 2);
    for (int i = 0; i < 6; i++) client_free(clients[i]);
    bb_lane_free(host->lane);
    struct bb_metrics_lane lane;
    assert_int_equal(bb_metrics_look(metrics, 0, &lane), BB_OK);
    for (int i = 0; i < BB_CONNECTIONS_END; i++) assert_int_equal(lane.connections[i], 0);
    assert_int_equal(bb_lane_new(&host->lane, host->worker), BB_OK);
    counting_free(host);
}

/* Each kind of a timeout has the gauge with its name. */
static void test_each_timeout_has_its_gauge(void **state)
{
    (void)state;
    static const enum bb_connection gauges[BB_TIMEOUT_KINDS] = {
        [BB_TIMEOUT_FRESH] = BB_CONNECTION_FRESH,         [BB_TIMEOUT_HEADER] = BB_CONNECTION_HEADER,
        [BB_TIMEOUT_BODY] = BB_CONNECTION_BODY,           [BB_TIMEOUT_WRITE] = BB_CONNECTION_WRITE,
        [BB_TIMEOUT_KEEPALIVE] = BB_CONNECTION_KEEPALIVE, [BB_TIMEOUT_LINGER] = BB_CONNECTION_LINGER,
        [BB_TIMEOUT_DISK] = BB_CONNECTION_DISK,
    };
    for (int kind = BB_TIMEOUT_NONE + 1; kind < BB_TIMEOUT_KINDS; kind++) {
        struct bb_settings settings = host_settings();
        struct host *host = counting_host(&settings, AF_UNIX, 1);
        struct client *client = client_new(host);
        host_settle_to(host, 1);
        struct bb__conn_set *set = &host->lane->set;
        bb__timeout_set(&set->timeouts, &set->conns->timeout, (enum bb__timeout_kind)kind, bb__clock_ms());
        bb__timeout_set(&set->timeouts, &set->conns->timeout, (enum bb__timeout_kind)kind, bb__clock_ms());
        bb__conn_set_show(set, host->lane->context.counts.own);
        for (int i = 0; i < BB_CONNECTIONS_END; i++)
            assert_int_equal(host->lane->context.counts.own->gauges[i], i == (int)gauges[kind]);
        bb__timeout_clear(&set->timeouts, &set->conns->timeout);
        bb__conn_set_show(set, host->lane->context.counts.own);
        assert_int_equal(host->lane->context.counts.own->gauges[BB_CONNECTION_SERVED], 1);
        bb__conn_set_show(set, NULL);
        client_free(client);
        counting_free(host);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_rejection_counts_by_its_name_and_its_status),
        cmocka_unit_test(test_a_head_that_comes_too_slowly_counts_once),
        cmocka_unit_test(test_only_reasons_with_a_status_are_rejections),
        cmocka_unit_test(test_a_bad_unbuffered_body_is_a_rejection),
        cmocka_unit_test(test_probes_count_by_path_and_status),
        cmocka_unit_test(test_a_connection_that_is_passed_on_is_accepted_once),
        cmocka_unit_test(test_a_lane_shows_what_its_connections_wait_for),
        cmocka_unit_test(test_each_timeout_has_its_gauge),
    };
    return cmocka_run_group_tests_name("counting_conn", tests, NULL, NULL);
}
