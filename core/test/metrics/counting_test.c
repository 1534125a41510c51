/* counting_test.c: what a request counts: responses by status, bytes, connections, rejections, probes. The
 * lane is idle, so it does everything itself. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/wait.h>

#include <cmocka.h>

#include "counting_case.h"
#include "support/fake_clock.h"
#include "support/files.h"

/* ---- responses ---- */

/* Responds with the status in the path and a body of 5 bytes. */
static void app_status(struct host *host, const struct bb_request *request)
{
    host_respond(host, atoi(request->head.path.at + 1), "hello", 5);
}

static void ask(struct client *client, const char *request, bool has_body)
{
    client_say(client, request);
    assert_true(client_read(client, has_body));
}

static void test_a_response_counts_by_its_status(void **state)
{
    (void)state;
    static const struct {
        const char *request, *totals;
        bool has_body;
    } cases[] = {
        {GET("/200", ""), "responses_2xx 1 bytes_out 5 accepted 1", true},
        {GET("/204", ""), "responses_2xx 1 accepted 1", false},
        {GET("/304", ""), "responses_3xx 1 accepted 1", false},
        {GET("/302", ""), "responses_3xx 1 bytes_out 5 accepted 1", true},
        {GET("/404", ""), "responses_4xx 1 bytes_out 5 accepted 1", true},
        {GET("/500", ""), "responses_5xx 1 bytes_out 5 accepted 1", true},
        {GET("/599", ""), "responses_5xx 1 bytes_out 5 accepted 1", true},
        {"HEAD /200 HTTP/1.1\r\nHost: x\r\n\r\n", "responses_2xx 1 accepted 1", false},
        {"HEAD /404 HTTP/1.1\r\nHost: x\r\n\r\n", "responses_4xx 1 accepted 1", false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct host *host = counting_host_with(AF_UNIX, app_status);
        struct client *client = client_new(host);
        assert_totals("");
        ask(client, cases[i].request, cases[i].has_body);
        assert_totals(cases[i].totals);
        assert_int_equal(times(), 1);
        assert_string_equal(names(), "");
        client_free(client);
        counting_free(host);
    }
}

static void test_pipelined_requests_count_each(void **state)
{
    (void)state;
    struct host *host = counting_host_with(AF_UNIX, app_status);
    struct client *client = client_new_saying(host, GET("/200", "") GET("/404", "") GET("/200", ""));
    for (int i = 0; i < 3; i++) assert_true(client_read(client, true));
    assert_totals("responses_2xx 2 responses_4xx 1 bytes_out 15 accepted 1");
    assert_int_equal(times(), 3);
    client_free(client);
    counting_free(host);
}

static enum { BEFORE_IT, AFTER_BEGIN, AFTER_HEAD, AFTER_WRITE, AFTER_INTERIM } aborts_when;

/* The first request gets a whole response. */
static void app_aborts(struct host *host, const struct bb_request *request)
{
    const struct bb_slice part = {"abc", 3};
    uint64_t taken;
    (void)request;
    if (host->served == 1) {
        host_respond(host, 200, "whole response", 14);
        return;
    }
    if (aborts_when == AFTER_INTERIM) {
        host_fields(host, 103);
        assert_int_equal(bb_reply_interim(host->lane), BB_OK);
    }
    if (aborts_when >= AFTER_BEGIN && aborts_when != AFTER_INTERIM) host_fields(host, 200);
    if (aborts_when == AFTER_HEAD || aborts_when == AFTER_WRITE)
        assert_int_equal(bb_reply_head(host->lane, 7), BB_OK);
    if (aborts_when == AFTER_WRITE)
        assert_int_equal(bb_reply_write(host->lane, &part, 1, false, &taken), BB_OK);
    bb_reply_abort(host->lane);
}

/* The encoder still has the state of the response before. */
static void test_an_aborted_response_counts_as_aborted(void **state)
{
    (void)state;
    static const char *const expected[] = {
        [BEFORE_IT] = "responses_2xx 1 aborted 1 bytes_out 14 accepted 1",
        [AFTER_BEGIN] = "responses_2xx 1 aborted 1 bytes_out 14 accepted 1",
        [AFTER_HEAD] = "responses_2xx 1 aborted 1 bytes_out 14 accepted 1",
        [AFTER_WRITE] = "responses_2xx 1 aborted 1 bytes_out 17 accepted 1",
        [AFTER_INTERIM] = "responses_1xx 1 responses_2xx 1 aborted 1 bytes_out 14 accepted 1",
    };
    for (int i = BEFORE_IT; i <= AFTER_INTERIM; i++) {
        aborts_when = i;
        struct host *host = counting_host_with(AF_UNIX, app_aborts);
        struct client *client = client_new(host);
        ask(client, GET("/", ""), true);
        client_say(client, GET("/", ""));
        while (client_more(client)) continue;
        assert_totals(expected[i]);
        assert_int_equal(times(), 2);
        client_free(client);
        counting_free(host);
    }
}

static void app_ends_short(struct host *host, const struct bb_request *request)
{
    const struct bb_slice part = {"abc", 3};
    uint64_t taken;
    (void)request;
    host_fields(host, 200);
    assert_int_equal(bb_reply_head(host->lane, 7), BB_OK);
    assert_int_equal(bb_reply_write(host->lane, &part, 1, true, &taken), BB_OK);
    assert_int_equal(bb_reply_end(host->lane), BB_ESHORT);
}

static void test_a_response_that_ends_too_early_counts_as_aborted(void **state)
{
    (void)state;
    struct host *host = counting_host_with(AF_UNIX, app_ends_short);
    struct client *client = client_new_saying(host, GET("/", ""));
    while (client_more(client)) continue;
    assert_totals("aborted 1 bytes_out 3 accepted 1");
    client_free(client);
    counting_free(host);
}

/* ---- interim responses ---- */

static void app_hints(struct host *host, const struct bb_request *request)
{
    (void)request;
    for (int i = 0; i < 2; i++) {
        host_fields(host, 103);
        assert_int_equal(bb_reply_interim(host->lane), BB_OK);
    }
    host_respond(host, 200, "", 0);
}

static void test_interim_responses_count_as_1xx(void **state)
{
    (void)state;
    struct host *host = counting_host_with(AF_UNIX, app_hints);
    struct client *client = client_new_saying(host, GET("/", ""));
    for (int i = 0; i < 3; i++) assert_true(client_read(client, true));
    assert_totals("responses_1xx 2 responses_2xx 1 accepted 1");
    ask(client, "GET / HTTP/1.0\r\n\r\n", true); /* gets no interim response */
    assert_totals("responses_1xx 2 responses_2xx 2 accepted 1");
    client_free(client);
    counting_free(host);
}

static void test_100_continue_counts_as_1xx(void **state)
{
    (void)state;
    struct host *host = counting_host_with(AF_UNIX, app_status);
    struct client *client =
        client_new_saying(host, POST("/200", "Expect: 100-continue\r\nContent-Length: 3\r\n"));
    assert_true(client_read(client, false));
    assert_totals("responses_1xx 1 accepted 1");
    ask(client, "abc", true);
    assert_totals("responses_1xx 1 responses_2xx 1 bytes_in 3 bytes_out 5 accepted 1");
    client_free(client);
    counting_free(host);
}

/* ---- bodies ---- */

#define LONG_BODY 100000

static void test_a_body_counts_its_decoded_bytes(void **state)
{
    (void)state;
    static char body[LONG_BODY];
    struct bb_settings settings = host_settings();
    settings.spool_threshold = 1000;
    struct host *host = counting_host(&settings, AF_UNIX, 1);
    host->app = app_status;
    struct client *client = client_new(host);
    ask(client, POST("/204", "Content-Length: 4\r\n") "body", false);
    assert_totals("responses_2xx 1 bytes_in 4 accepted 1");
    ask(client, POST("/204", "Transfer-Encoding: chunked\r\n") "3\r\nabc\r\n2;x=y\r\nde\r\n0\r\nt: x\r\n\r\n",
        false);
    assert_totals("responses_2xx 2 bytes_in 9 accepted 1");
    client_say(client, POST("/204", "Content-Length: 100000\r\n"));
    client_send(client, body, sizeof body); /* goes to a file */
    assert_true(client_read(client, false));
    assert_totals("responses_2xx 3 bytes_in 100009 accepted 1");
    client_free(client);
    counting_free(host);
}

static size_t wanted;

static void app_reads_some(struct host *host, const struct bb_request *request)
{
    char bytes[16];
    assert_true(request->unbuffered);
    for (size_t all = 0, got; all < wanted; all += got)
        assert_int_equal(bb_request_read(host->lane, bytes, wanted - all, &got), BB_OK);
    host_respond(host, 200, "", 0);
}

/* An unbuffered body counts the bytes that the host has read. */
static void test_an_unbuffered_body_counts_what_was_read(void **state)
{
    (void)state;
    for (wanted = 2; wanted <= 6; wanted += 4) {
        struct bb_settings settings = host_settings();
        strcpy(settings.unbuffered_bodies, "/in/");
        struct host *host = counting_host(&settings, AF_UNIX, 1);
        host->app = app_reads_some;
        struct client *client = client_new(host);
        ask(client, POST("/in/", "Transfer-Encoding: chunked\r\n") "6\r\nabcdef\r\n0\r\n\r\n", true);
        assert_totals(wanted == 2 ? "responses_2xx 1 bytes_in 2 accepted 1"
                                  : "responses_2xx 1 bytes_in 6 accepted 1");
        client_free(client);
        counting_free(host);
    }
}

static char path[TEMPORARY_PATH];

static void app_file(struct host *host, const struct bb_request *request)
{
    (void)request;
    host_send_file(host, path);
    assert_int_equal(bb_reply_end(host->lane), BB_OK);
}

static void test_a_file_counts_the_bytes_of_its_ranges(void **state)
{
    (void)state;
    static char body[LONG_BODY];
    int fd = mkostemp(temporary_path(path), O_CLOEXEC);
    assert_int_equal(write(fd, body, sizeof body), sizeof body);
    close(fd);
    struct host *host = counting_host_with(AF_UNIX, app_file);
    struct client *client = client_new(host);
    ask(client, GET("/", ""), true);
    assert_totals("responses_2xx 1 bytes_out 100000 accepted 1");
    ask(client, GET("/", "Range: bytes=10-19\r\n"), true);
    assert_totals("responses_2xx 2 bytes_out 100010 accepted 1");
    ask(client, GET("/", "Range: bytes=0-49999\r\n"), true);
    assert_totals("responses_2xx 3 bytes_out 150010 accepted 1");
    ask(client, "HEAD / HTTP/1.1\r\nHost: x\r\n\r\n", false);
    assert_totals("responses_2xx 4 bytes_out 150010 accepted 1");
    ask(client, GET("/", "Range: bytes=200000-\r\n"), true);
    assert_int_equal(client->status, 416);
    assert_totals("responses_2xx 4 responses_4xx 1 bytes_out 150010 accepted 1");
    client_free(client);
    counting_free(host);
    unlink(path);
}

/* ---- who counts ---- */

static void test_a_lane_without_a_slot_counts_in_the_common_block(void **state)
{
    (void)state;
    struct bb_settings settings = host_settings();
    struct host *host = counting_host(&settings, AF_UNIX, 0);
    struct bb_metrics_lane lane;
    host->app = app_status;
    struct client *client = client_new(host);
    for (int i = 0; i < 40; i++) ask(client, GET("/200", ""), true);
    assert_int_equal(bb_metrics_look(metrics, 0, &lane), BB_EOF);
    assert_totals("responses_2xx 40 bytes_out 200 accepted 1");
    assert_in_range(times(), 37, 40);
    client_free(client);
    counting_free(host);
}

/* Before it ends, up to three requests wait for a measured one. */
static void test_a_lane_that_waits_or_ends_has_counted_the_times_of_all_requests(void **state)
{
    (void)state;
    for (unsigned slots = 0; slots < 2; slots++) {
        struct bb_settings settings = host_settings();
        struct host *host = counting_host(&settings, AF_UNIX, slots);
        host->app = app_status;
        struct client *client = client_new(host);
        for (int i = 0; i < 36; i++) ask(client, GET("/200", ""), true);
        host_settle(host);
        assert_int_equal(times(), 36);
        client_say(client, GET("/200", "") GET("/200", "") GET("/200", ""));
        for (int i = 0; i < 3; i++) assert_true(client_read(client, true));
        client_free(client);
        host_enter_scoreboard(host, scoreboard);
        assert_int_equal(times(), 39);
        counting_free(host);
    }
}

/* Everything that a lane counts is in its block, except names. */
static void test_a_lane_with_a_slot_counts_in_its_block(void **state)
{
    (void)state;
    struct host *host = counting_host_with(AF_UNIX, app_status);
    struct bb_metrics_lane lane;
    struct client *client = client_new(host);
    ask(client, GET("/200", ""), true);
    bb_lane_show_thread(host->lane);
    bb_worker_count_gc(host->worker, 3, 4000);
    assert_int_equal(bb_metrics_look(metrics, 0, &lane), BB_OK);
    assert_int_equal(lane.pid, getpid());
    assert_int_equal(lane.thread != 0, THREADS_HAVE_NUMBERS);
    assert_int_equal(lane.counters[BB_COUNT_RESPONSES_2XX], 1);
    assert_int_equal(lane.counters[BB_COUNT_ACCEPTED], 1);
    assert_int_equal(lane.counters[BB_COUNT_GC_RUNS], 3);
    assert_int_equal(lane.counters[BB_COUNT_GC_TIME], 4000);
    client_free(client);
    host_enter_scoreboard(host, scoreboard); /* the next lane of the slot */
    assert_int_equal(bb_metrics_look(metrics, 0, &lane), BB_OK);
    assert_int_equal(lane.counters[BB_COUNT_RESPONSES_2XX], 0);
    assert_totals("responses_2xx 1 bytes_out 5 accepted 1 gc_runs 3 gc_time 4000");
    counting_free(host);
}

static void app_forks(struct host *host, const struct bb_request *request)
{
    int status;
    pid_t child = fork();
    if (child == 0) {
        bb_reply_abort(host->lane);
        (void)bb_reply_end(host->lane);
        bb_lane_show_thread(host->lane);
        bb_worker_count_gc(host->worker, 1, 1);
        bb_lane_free(host->lane);
        bb_worker_free(host->worker);
        _exit(0);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    app_status(host, request);
}

static void test_a_forked_child_counts_nothing(void **state)
{
    (void)state;
    struct host *host = counting_host_with(AF_UNIX, app_forks);
    struct bb_metrics_lane lane;
    struct client *client = client_new(host);
    ask(client, GET("/200", ""), true);
    assert_totals("responses_2xx 1 bytes_out 5 accepted 1");
    assert_int_equal(bb_metrics_look(metrics, 0, &lane), BB_OK);
    assert_int_equal(lane.thread, 0);
    client_free(client);
    counting_free(host);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_response_counts_by_its_status),
        cmocka_unit_test(test_pipelined_requests_count_each),
        cmocka_unit_test(test_an_aborted_response_counts_as_aborted),
        cmocka_unit_test(test_a_response_that_ends_too_early_counts_as_aborted),
        cmocka_unit_test(test_interim_responses_count_as_1xx),
        cmocka_unit_test(test_100_continue_counts_as_1xx),
        cmocka_unit_test(test_a_body_counts_its_decoded_bytes),
        cmocka_unit_test(test_an_unbuffered_body_counts_what_was_read),
        cmocka_unit_test(test_a_file_counts_the_bytes_of_its_ranges),
        cmocka_unit_test(test_a_lane_without_a_slot_counts_in_the_common_block),
        cmocka_unit_test(test_a_lane_that_waits_or_ends_has_counted_the_times_of_all_requests),
        cmocka_unit_test(test_a_lane_with_a_slot_counts_in_its_block),
        cmocka_unit_test(test_a_forked_child_counts_nothing),
    };
    return cmocka_run_group_tests_name("counting", tests, NULL, NULL);
}
