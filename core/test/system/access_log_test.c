/* access_log_test.c: which requests a lane logs, and with which values. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "access_log_case.h"
#include "support/fail_file.h"
#include "support/fake_clock.h"

/* ---- responses ---- */

#define FORMAT "%r %s %B %b %X %{Host}i %{content-type}o"

static void app_chunks(struct host *host, const struct bb_request *request)
{
    const struct bb_slice parts[] = {{"12345", 5}, {"", 0}, {"678", 3}};
    uint64_t taken;
    (void)request;
    host_fields(host, 404);
    assert_int_equal(bb_reply_head(host->lane, BB_LENGTH_UNKNOWN), BB_OK);
    assert_int_equal(bb_reply_write(host->lane, parts, 2, false, &taken), BB_OK);
    assert_int_equal(bb_reply_write(host->lane, parts + 2, 1, true, &taken), BB_OK);
    assert_int_equal(bb_reply_end(host->lane), BB_OK);
}

static void test_a_request_with_a_response_is_logged(void **state)
{
    (void)state;
    struct host *host = new_host(FORMAT, AF_UNIX);
    struct client *client = client_new(host);
    client_say(client, GET);
    assert_response(client, 200, "GET / ");
    client_say(client, "HEAD /h HTTP/1.1\r\nHost: x\r\n\r\n");
    assert_true(client_read(client, false));
    client_say(client, "POST /p?q HTTP/1.1\r\nHost: y\r\nContent-Length: 20\r\n\r\n12345678901234567890");
    assert_response(client, 200, "POST /p?q 12345678901234567890");
    host->app = app_chunks;
    client_say(client, "GET /c HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
    assert_response(client, 404, "12345678");
    client_free(client);
    ask(host, "GET /old HTTP/1.0\r\n\r\n", 404);
    let_a_second_pass(host);
    assert_log("GET / HTTP/1.1 200 6 6 + x text/plain\n"
               "HEAD /h HTTP/1.1 200 0 - + x text/plain\n"
               "POST /p?q HTTP/1.1 200 30 30 + y text/plain\n"
               "GET /c HTTP/1.1 404 8 8 - x text/plain\n"
               "GET /old HTTP/1.0 404 8 8 - - text/plain\n");
    host_free(host);
}

static void app_frames(struct host *host, const struct bb_request *request)
{
    const struct bb_slice parts[] = {{"5\r\n12345\r\n3;a=b\r\n6", 18}, {"78\r\n0\r\nx: y\r\n\r\n", 15}};
    uint64_t taken;
    (void)request;
    assert_int_equal(bb_reply_begin(host->lane, 200), BB_OK);
    assert_int_equal(bb_reply_field(host->lane, "transfer-encoding", 17, "chunked", 7), BB_OK);
    assert_int_equal(bb_reply_head(host->lane, BB_LENGTH_UNKNOWN), BB_OK);
    assert_int_equal(bb_reply_write(host->lane, parts, 1, false, &taken), BB_OK);
    if (request->head.path.len > 2) {
        bb_reply_abort(host->lane);
        return;
    }
    assert_int_equal(bb_reply_write(host->lane, parts + 1, 1, true, &taken), BB_OK);
    assert_int_equal(bb_reply_end(host->lane), BB_OK);
}

static void test_the_framing_of_the_applications_chunks_does_not_count(void **state)
{
    (void)state;
    struct host *host = new_host("%U %B", AF_UNIX);
    struct client *client = client_new(host);
    host->app = app_frames;
    ask(host, "GET /c HTTP/1.1\r\nHost: x\r\n\r\n", 200);
    ask(host, "GET /d HTTP/1.0\r\n\r\n", 200);
    client_say(client, "GET /aborted HTTP/1.1\r\nHost: x\r\n\r\n");
    assert_false(client_read(client, true));
    client_free(client);
    let_a_second_pass(host);
    assert_log("/c 8\n/d 8\n/aborted 6\n");
    host_free(host);
}

static void app_says_much(struct host *host, const struct bb_request *request)
{
    static char value[200 * 1000];
    (void)request;
    memset(value, 'v', sizeof value);
    assert_int_equal(bb_reply_begin(host->lane, 200), BB_OK);
    assert_int_equal(bb_reply_field(host->lane, "much", 4, value, sizeof value), BB_OK);
    assert_int_equal(bb_reply_head(host->lane, 0), BB_OK);
    assert_int_equal(bb_reply_end(host->lane), BB_OK);
}

static void test_the_memory_of_a_large_field_is_freed(void **state)
{
    (void)state;
    struct host *host = new_host("%{much}o", AF_UNIX);
    host->app = app_says_much;
    ask(host, GET, 200);
    assert_int_equal(host->lane->context.log->response.cap, 0);
    let_a_second_pass(host);
    assert_in_range(strlen(content(path)), 16000, 16384);
    host_free(host);
}

static void app_begins_anew(struct host *host, const struct bb_request *request)
{
    (void)request;
    host_fields(host, 200);
    assert_int_equal(bb_reply_head(host->lane, 1000), BB_OK);
    host_respond(host, 500, "broken", 6);
}

static void test_the_response_that_was_sent_is_logged(void **state)
{
    (void)state;
    struct host *host = new_host("%s %B", AF_UNIX);
    host->app = app_begins_anew;
    ask(host, GET, 500);
    let_a_second_pass(host);
    assert_log("500 6\n");
    host_free(host);
}

/* ---- rejected requests ---- */

static void test_a_rejected_request_is_logged(void **state)
{
    (void)state;
    char long_target[300];
    struct host *host = new_host("%h %r %m %U %H %s %b %D %{Host}i %{reason}n", AF_INET);
    memset(long_target, 'a', sizeof long_target);
    memcpy(long_target, "GET /", 5);
    strcpy(long_target + 200, " HTTP/1.1\r\n\r\n");
    ask(host, "\x16\x03\x01 \"\r\n\r\n", 400);
    ask(host, "GET /x HTTP/1.1\r\nHost: x\r\nno colon\r\n\r\n", 400);
    ask(host, long_target, 414);
    ask(host, "POST /big HTTP/1.1\r\nHost: x\r\nContent-Length: 1001\r\n\r\n", 413);
    ask(host, "POST /chunks HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nwhat\r\n", 400);
    ask(host, "\r\nGET /2 HTTP/2.0\r\n\r\n", 505);
    struct client *client = client_new(host);
    client_say(client, "HEAD /h HTTP/1.1\r\n\r\n");
    assert_true(client_read(client, false));
    client_free(client);
    let_a_second_pass(host);
    long_target[200] = '\0';
    char lines[1000];
    snprintf(lines, sizeof lines,
             "127.0.0.1 \\x16\\x03\\x01 \\x22 - - - 400 16 - - tls\n"
             "127.0.0.1 GET /x HTTP/1.1 GET /x HTTP/1.1 400 16 - x space_in_name\n"
             "127.0.0.1 %s HTTP/1.1 GET - HTTP/1.1 414 17 - - long_target\n"
             "127.0.0.1 POST /big HTTP/1.1 POST /big HTTP/1.1 413 22 - x large_body\n"
             "127.0.0.1 POST /chunks HTTP/1.1 POST /chunks HTTP/1.1 400 16 - x bad_chunk_size\n"
             "127.0.0.1 GET /2 HTTP/2.0 GET - HTTP/2.0 505 31 - - version\n"
             "127.0.0.1 HEAD /h HTTP/1.1 HEAD /h HTTP/1.1 400 - - - no_host\n",
             long_target);
    assert_log(lines);
    host_free(host);
}

/* The client has closed the connection, so there is no response. */
static void test_a_request_whose_client_is_gone_is_logged(void **state)
{
    (void)state;
    struct host *host = new_host("%h %r %m %U %s %b %D %{Host}i %{reason}n", AF_UNIX);
    host->worker->settings.check_client_connection = 1;
    struct client *client = client_new(host);
    client_say(client, "POST /gone HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\nab");
    client_free(client);
    host_settle(host);
    let_a_second_pass(host);
    assert_log("127.0.0.1 POST /gone HTTP/1.1 POST /gone 499 - - x client_gone\n");
    host_free(host);
}

/* After the head of the slow request, the lane parses the head of another connection. */
static void test_the_request_of_a_body_that_is_too_slow_is_logged(void **state)
{
    (void)state;
    struct host *host = new_host("%r %s %{Host}i %{reason}n", AF_UNIX);
    struct client *slow = client_new(host), *unfinished = client_new(host);
    client_say(slow, "POST /slow HTTP/1.1\r\nHost: slow\r\nContent-Length: 20\r\n\r\nab");
    client_say(unfinished, "GET /unfinished HTTP/1.1\r\nHost: unf");
    host_settle(host);
    ask(host, GET, 200);
    fake_clock_advance(100 * 1000);
    assert_response(slow, 408, NULL);
    assert_response(unfinished, 408, NULL);
    let_a_second_pass(host);
    const char *log = content(path);
    assert_non_null(strstr(log, "POST /slow HTTP/1.1 408 slow body_timeout\n"));
    assert_non_null(strstr(log, "GET /unfinished HTTP/1.1 408 - header_timeout\n"));
    assert_non_null(strstr(log, "GET / HTTP/1.1 200 x -\n"));
    client_free(slow);
    client_free(unfinished);
    host_free(host);
}

/* ---- aborted responses ---- */

static bool sends_first;

static void app_aborts(struct host *host, const struct bb_request *request)
{
    const struct bb_slice part = {"12345", 5};
    uint64_t taken;
    (void)request;
    host_fields(host, 200);
    assert_int_equal(bb_reply_head(host->lane, BB_LENGTH_UNKNOWN), BB_OK);
    if (sends_first) assert_int_equal(bb_reply_write(host->lane, &part, 1, false, &taken), BB_OK);
    bb_reply_abort(host->lane);
}

static void app_falls_short(struct host *host, const struct bb_request *request)
{
    const struct bb_slice part = {"12345", 5};
    uint64_t taken;
    (void)request;
    assert_int_equal(bb_reply_begin(host->lane, 200), BB_OK);
    assert_int_equal(bb_reply_field(host->lane, "content-length", 14, "7", 1), BB_OK);
    assert_int_equal(bb_reply_head(host->lane, BB_LENGTH_UNKNOWN), BB_OK);
    assert_int_equal(bb_reply_write(host->lane, &part, 1, true, &taken), BB_OK);
    assert_int_equal(bb_reply_end(host->lane), BB_ESHORT);
}

static void test_an_aborted_response_is_logged(void **state)
{
    (void)state;
    struct host *host = new_host("%r %s %B %X %{content-type}o", AF_INET);
    for (int way = 0; way < 3; way++) {
        struct client *client = client_new(host);
        sends_first = way == 1;
        host->app = way == 2 ? app_falls_short : app_aborts;
        client_say(client, GET);
        assert_false(client_read(client, true));
        client_free(client);
    }
    let_a_second_pass(host);
    assert_log("GET / HTTP/1.1 - - X -\n"
               "GET / HTTP/1.1 200 5 X text/plain\n"
               "GET / HTTP/1.1 200 5 X -\n");
    host_free(host);
}

static void app_does_nothing(struct host *host, const struct bb_request *request)
{
    (void)host;
    (void)request;
}

static void test_the_end_of_a_lane_writes_all_lines(void **state)
{
    (void)state;
    struct host *host = new_host("%U %s %X", AF_INET);
    struct client *client = client_new(host);
    ask(host, "GET /first HTTP/1.1\r\nHost: x\r\n\r\n", 200);
    host->app = app_does_nothing;
    client_say(client, GET);
    const struct bb_request *request;
    bb_lane_wait(host->lane);
    while (bb_lane_next(host->lane, &request) != BB_OK) bb_lane_wait(host->lane);
    client_free(client);
    host_free(host);
    assert_log("/first 200 +\n/ - X\n");
}

/* ---- times ---- */

static unsigned long waited[3];

static void app_takes_its_time(struct host *host, const struct bb_request *request)
{
    waited[host->served - 1] = request->queue_time;
    uint64_t since = real_ms();
    while (real_ms() - since < 20) continue;
    app_echo(host, request);
}

static void test_times_are_logged(void **state)
{
    (void)state;
    struct host *host = new_host("%D %{queue}n %{%s}t %p", AF_INET);
    struct client *first = client_new(host), *second = client_new(host);
    time_t before = time(NULL);
    unsigned long duration, queued, at, port;
    host->app = app_takes_its_time;
    client_say(first, GET);
    client_say(second, GET);
    client_say(second, "GET / HTTP/1.1\r\nHost: x\r\nX-Request-Start: t=1.5\r\n\r\n");
    while (host->served < 3) host_turn(host);
    let_a_second_pass(host);
    const char *at_line = content(path);
    for (int i = 0; i < 3; i++) {
        assert_int_equal(sscanf(at_line, "%lu %lu %lu %lu\n", &duration, &queued, &at, &port), 4);
        assert_int_equal(queued, waited[i]);
        assert_true(duration >= 19000 + queued && duration < 10 * 1000 * 1000);
        assert_true(at >= (unsigned long)before && at <= (unsigned long)time(NULL));
        assert_int_equal(port, ntohs(host->address.v4.sin_port));
        at_line = strchr(at_line, '\n') + 1;
    }
    client_free(first);
    client_free(second);
    host_free(host);
}

static void test_the_time_since_the_proxy_had_the_request_is_logged(void **state)
{
    (void)state;
    struct host *host = new_host("%{queue}n %{proxy_queue}n", AF_UNIX);
    char request[200];
    unsigned long queued;
    snprintf(request, sizeof request, "GET / HTTP/1.1\r\nHost: x\r\nX-Request-Start: t=%lu.000\r\n\r\n",
             (unsigned long)time(NULL) - 100);
    ask(host, request, 200);
    let_a_second_pass(host);
    assert_int_equal(sscanf(content(path), "0 %lu\n", &queued), 1);
    assert_in_range(queued, 100 * 1000000, 130 * 1000000);
    host_free(host);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_a_request_with_a_response_is_logged),
        TEST(test_the_framing_of_the_applications_chunks_does_not_count),
        TEST(test_the_memory_of_a_large_field_is_freed),
        TEST(test_the_response_that_was_sent_is_logged),
        TEST(test_a_rejected_request_is_logged),
        TEST(test_a_request_whose_client_is_gone_is_logged),
        TEST(test_the_request_of_a_body_that_is_too_slow_is_logged),
        TEST(test_an_aborted_response_is_logged),
        TEST(test_the_end_of_a_lane_writes_all_lines),
        TEST(test_times_are_logged),
        TEST(test_the_time_since_the_proxy_had_the_request_is_logged),
    };
    return cmocka_run_group_tests_name("access_log", tests, NULL, NULL);
}
