/* small_body_test.c: a small body with a Content-Length takes a short way through bb_reply_write(). Each test
 * sends the same body also in two parts, which take the long way. Both ways must have the same results. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "metrics/counting_case.h"
#include "support/fail_alloc.h"
#include "support/fake_clock.h"

#define BODY_MAX  20000
#define STAGED    (16 * 1024) /* STAGED_MAX of reply.c */
#define INTERIM   "HTTP/1.1 100 Continue\r\n\r\n"
#define HEAD_ONLY "HEAD / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"
#define WHOLE     GET("/", "Connection: close\r\n")

static char body[BODY_MAX];

/* What the application does, and what it gets. */
static struct {
    bool in_two_parts, unsent, overdue, has_length; /* has_length: the application sets Content-Length */
    size_t announced, written, field;
    unsigned fails_at; /* the allocation of bb_reply_write() that fails; 0: none */
    int code, end;
    uint64_t taken;
    size_t staged; /* bytes of the head */
} reply;

static void app_replies(struct host *host, const struct bb_request *request)
{
    static char filler[STAGED];
    struct bb_lane *lane = host->lane;
    struct bb_slice parts[2] = {{body, reply.written}, {NULL, 0}};
    (void)request;
    memset(filler, 'f', sizeof filler);
    if (reply.in_two_parts) {
        parts[0].len = reply.written / 2;
        parts[1] = (struct bb_slice){body + parts[0].len, reply.written - parts[0].len};
    }
    if (reply.unsent) {
        assert_int_equal(bb__buf_append(&lane->current->out, INTERIM, sizeof INTERIM - 1), BB_OK);
        bb__conn_note_owed(lane->current, &lane->context, sizeof INTERIM - 1);
    }
    host_fields(host, 200);
    assert_int_equal(bb_reply_field(lane, "date", 4, "today", 5), BB_OK);
    char digits[24];
    size_t len = (size_t)snprintf(digits, sizeof digits, "%zu", reply.announced);
    if (reply.has_length) assert_int_equal(bb_reply_field(lane, "content-length", 14, digits, len), BB_OK);
    if (reply.field > 0) assert_int_equal(bb_reply_field(lane, "x", 1, filler, reply.field), BB_OK);
    assert_int_equal(bb_reply_head(lane, reply.has_length ? BB_LENGTH_UNKNOWN : reply.announced), BB_OK);
    reply.staged = bb__buf_len(&lane->reply.staged);
    if (reply.overdue) atomic_store(&lane->response, BB_RESPONSE_BY_IO);
    if (reply.fails_at > 0) fail_alloc_at(reply.fails_at);
    reply.code = bb_reply_write(lane, parts, reply.in_two_parts ? 2 : 1, true, &reply.taken);
    (void)fail_alloc_off();
    reply.end = bb_reply_end(lane);
}

struct result {
    int code, end, client_end;
    uint64_t taken;
    struct bb__buf wire;
    char totals[200];
};

static struct result send_it(const char *request, bool in_two_parts)
{
    struct bb_settings settings = host_settings();
    struct result result = {0};
    settings.request_timeout = 3600 * 1000;
    reply.in_two_parts = in_two_parts;
    struct host *host = counting_host(&settings, AF_UNIX, 1);
    host->app = app_replies;
    struct client *client = client_new_saying(host, request);
    while (client_more(client)) continue;
    result.code = reply.code;
    result.end = reply.end;
    result.client_end = client->end;
    result.taken = reply.taken;
    result.wire = client->in;
    client->in = (struct bb__buf){0};
    (void)snprintf(result.totals, sizeof result.totals, "%s", totals());
    client_free(client);
    counting_free(host);
    return result;
}

/* Returns the result of the short way. The caller frees its wire. */
static struct result both_ways(const char *request)
{
    struct result one = send_it(request, false), two = send_it(request, true);
    assert_int_equal(one.code, two.code);
    assert_int_equal(one.end, two.end);
    assert_int_equal(one.client_end, two.client_end);
    assert_int_equal(one.taken, two.taken);
    assert_string_equal(one.totals, two.totals);
    assert_int_equal(bb__buf_len(&one.wire), bb__buf_len(&two.wire));
    if (bb__buf_len(&one.wire) > 0)
        assert_memory_equal(bb__buf_bytes(&one.wire), bb__buf_bytes(&two.wire), bb__buf_len(&one.wire));
    bb__buf_free(&two.wire);
    return one;
}

static void check(const char *request, size_t announced, size_t written)
{
    char expected[200];
    bool has_body = request[0] == 'G';
    size_t out = !has_body ? 0 : written < announced ? written : announced;
    reply.announced = announced;
    reply.written = written;
    struct result result = both_ways(request);
    assert_int_equal(result.code, BB_OK);
    assert_int_equal(result.taken, written);
    bool whole = written >= announced || !has_body;
    assert_int_equal(result.end, whole ? BB_OK : BB_ESHORT);
    assert_int_equal(bb__buf_len(&result.wire), reply.staged + out + (reply.unsent ? sizeof INTERIM - 1 : 0));
    int len = snprintf(expected, sizeof expected, "%s", whole ? "responses_2xx 1" : "aborted 1");
    if (out > 0) len += snprintf(expected + len, sizeof expected - (size_t)len, " bytes_out %zu", out);
    (void)snprintf(expected + len, sizeof expected - (size_t)len, " accepted 1");
    assert_string_equal(result.totals, expected);
    bb__buf_free(&result.wire);
}

static void test_bodies_of_any_length(void **state)
{
    (void)state;
    static const size_t lengths[] = {0, 1, 2, 9, 10, 99, 100, 1000, 10000, BODY_MAX - 1};
    for (int way = 0; way < 4; way++)
        for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
            reply.unsent = way % 2;
            reply.has_length = way / 2;
            for (size_t written = lengths[i]; written <= lengths[i] + 1; written++) {
                check(WHOLE, lengths[i], written);
                check(HEAD_ONLY, lengths[i], written);
            }
            check(WHOLE, lengths[i] + 1, lengths[i]);
            check(HEAD_ONLY, lengths[i] + 1, lengths[i]);
        }
    reply.unsent = reply.has_length = false;
}

/* The staged bytes are full up to one byte, full, or would be too long by one byte. */
static void test_bodies_at_the_limit_of_the_staged_bytes(void **state)
{
    (void)state;
    static const size_t fields[] = {1, 8000, 16000};
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++) {
        reply.field = fields[i];
        check(WHOLE, 1000, 1000);
        size_t room = STAGED - reply.staged;
        for (size_t len = room - 3; len <= room + 3; len++) {
            check(WHOLE, len, len);
            check(WHOLE, len, len + 1);
            check(WHOLE, len + 1, len);
        }
    }
    reply.field = 0;
}

static void test_a_body_that_comes_after_request_timeout_is_not_sent(void **state)
{
    (void)state;
    reply.overdue = true;
    reply.announced = reply.written = 100;
    struct result result = both_ways(WHOLE);
    assert_int_equal(result.code, BB_EGONE);
    assert_int_equal(bb__buf_len(&result.wire), 0);
    assert_string_equal(result.totals, "accepted 1");
    bb__buf_free(&result.wire);
    reply.overdue = false;
}

static void test_without_memory_no_byte_is_sent(void **state)
{
    (void)state;
    reply.announced = reply.written = 10000;
    reply.fails_at = 1;
    struct result result = both_ways(WHOLE);
    assert_int_equal(result.code, BB_ENOMEM);
    assert_int_equal(result.end, BB_ENOMEM);
    assert_int_equal(result.taken, 0);
    assert_int_equal(bb__buf_len(&result.wire), 0);
    assert_string_equal(result.totals, "aborted 1 accepted 1");
    bb__buf_free(&result.wire);
    reply.fails_at = 0;
}

static void fill_body(void)
{
    for (size_t i = 0; i < sizeof body; i++) body[i] = (char)('a' + i * 31 % 26);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bodies_of_any_length),
        cmocka_unit_test(test_bodies_at_the_limit_of_the_staged_bytes),
        cmocka_unit_test(test_a_body_that_comes_after_request_timeout_is_not_sent),
        cmocka_unit_test(test_without_memory_no_byte_is_sent),
    };
    fill_body();
    return cmocka_run_group_tests_name("small_body", tests, NULL, NULL);
}
