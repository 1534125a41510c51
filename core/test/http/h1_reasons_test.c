/* h1_reasons_test.c: the reason of each rejection by the head parser and the body decoder, and the table of
 * reasons itself. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "head_case.h"
#include "http/h1_body.h"

#include <stdio.h>

#define GET          "GET / HTTP/1.1\r\n"
#define FIELDS(rest) BYTES(GET "Host: h\r\n" rest)

struct head_case {
    enum bb__reason reason;
    const char *bytes;
    size_t len;
};

static const struct head_case heads[] = {
    {BB_REASON_TLS, BYTES("\x16\x03\x01\x02\x05\x01\0\x02\x01\x03\x03")},
    {BB_REASON_HTTP2, BYTES("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n")},
    {BB_REASON_PROXY_PROTOCOL, BYTES("PROXY TCP4 192.0.2.1 192.0.2.2 1 2\r\n" GET)},
    {BB_REASON_PROXY_PROTOCOL, BYTES("PROXY UNKNOWN\r\n" GET)},
    {BB_REASON_PROXY_PROTOCOL, BYTES("\r\n\r\n\0\r\nQUIT\n\x21\x11\0\x0c")},
    {BB_REASON_BAD_METHOD, BYTES("G@T / HTTP/1.1\r\n\r\n")},
    {BB_REASON_BAD_METHOD, BYTES(" / HTTP/1.1\r\n\r\n")},
    {BB_REASON_BAD_METHOD, BYTES("\r\n\r\nGET / HTTP/1.1\r\n\r\n")},
    {BB_REASON_LONG_METHOD, BYTES("A23456789012345678901234567890123 / HTTP/1.1\r\n")},
    {BB_REASON_CONNECT, BYTES("CONNECT a:1 HTTP/1.1\r\n")},
    {BB_REASON_BAD_TARGET, BYTES("GET a HTTP/1.1\r\n")},
    {BB_REASON_BAD_TARGET, BYTES("GET * HTTP/1.1\r\n")},
    {BB_REASON_BAD_TARGET, BYTES("GET /#a HTTP/1.1\r\n")},
    {BB_REASON_BAD_TARGET, BYTES("GET  HTTP/1.1\r\n")},
    {BB_REASON_BAD_TARGET, BYTES("GET http://a@b/ HTTP/1.1\r\n")},
    {BB_REASON_LONG_TARGET, BYTES("GET /2345678901234567890123456789012345678901 HTTP/1.1\r\n")},
    {BB_REASON_BAD_VERSION, BYTES("GET /\r\n")},
    {BB_REASON_BAD_VERSION, BYTES("GET /a b HTTP/1.1\r\n")},
    {BB_REASON_BAD_VERSION, BYTES("GET / HTTP/1.1 \r\n")},
    {BB_REASON_VERSION, BYTES("GET / HTTP/2.0\r\n")},
    {BB_REASON_BARE_LF, BYTES("GET / HTTP/1.1\nHost: h\n\n")},
    {BB_REASON_BARE_LF, BYTES("\nGET / HTTP/1.1\r\n")},
    {BB_REASON_BARE_LF, BYTES("GET /\n")},
    {BB_REASON_BARE_LF, BYTES("GET\n")},
    {BB_REASON_BARE_LF, BYTES(GET "Host: h\n\r\n")},
    {BB_REASON_BARE_LF, BYTES(GET "Host: h\r\n\n")},
    {BB_REASON_BARE_LF, BYTES(GET "Host\n")},
    {BB_REASON_BARE_CR, BYTES("GET / HTTP/1.1\rHost: h\r\r")},
    {BB_REASON_BARE_CR, BYTES("\rGET / HTTP/1.1\r\n")},
    {BB_REASON_BARE_CR, FIELDS("A: b\rc\r\n\r\n")},
    {BB_REASON_BARE_CR, FIELDS("\rA: b\r\n\r\n")},
    {BB_REASON_CONTROL_BYTE, FIELDS("A: b\0c\r\n\r\n")},
    {BB_REASON_FOLDED_LINE, FIELDS("A: b\r\n c\r\n\r\n")},
    {BB_REASON_FOLDED_LINE, BYTES(GET "\tHost: h\r\n")},
    {BB_REASON_SPACE_IN_NAME, FIELDS("A : b\r\n\r\n")},
    {BB_REASON_BAD_NAME, FIELDS(": b\r\n\r\n")},
    {BB_REASON_BAD_NAME, FIELDS("A\r\n\r\n")},
    {BB_REASON_BAD_NAME, FIELDS("A(: b\r\n\r\n")},
    {BB_REASON_LARGE_FIELDS, FIELDS("A: 3456789012345678901234567890123456789012345678901234567\r\n\r\n")},
    {BB_REASON_MANY_FIELDS, FIELDS("A:\r\nB:\r\nC:\r\n\r\n")},
    {BB_REASON_NO_HOST, BYTES(GET "\r\n")},
    {BB_REASON_TWO_HOSTS, FIELDS("Host: h\r\n\r\n")},
    {BB_REASON_BAD_HOST, BYTES(GET "Host: http://h\r\n\r\n")},
    {BB_REASON_BAD_HOST, BYTES(GET "Host:\r\n\r\n")},
    {BB_REASON_TWO_LENGTHS, FIELDS("Content-Length: 1\r\ncontent-length: 1\r\n")},
    {BB_REASON_BAD_LENGTH, FIELDS("Content-Length: +1\r\n")},
    {BB_REASON_BAD_LENGTH, FIELDS("Content-Length:\r\n")},
    {BB_REASON_BAD_LENGTH, FIELDS("Content-Length: 99999999999999999999\r\n")},
    {BB_REASON_LENGTH_AND_CHUNKED, FIELDS("Content-Length: 1\r\nTransfer-Encoding: chunked\r\n")},
    {BB_REASON_LENGTH_AND_CHUNKED, FIELDS("Transfer-Encoding: chunked\r\nContent-Length: 1\r\n")},
    {BB_REASON_BAD_CODING, FIELDS("Transfer-Encoding: chunked, chunked\r\n")},
    {BB_REASON_BAD_CODING, FIELDS("Transfer-Encoding:\r\n")},
    {BB_REASON_CODING_IN_1_0, BYTES("GET / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n")},
    {BB_REASON_UNKNOWN_CODING, FIELDS("Transfer-Encoding: gzip\r\n")},
    {BB_REASON_EXPECTATION, FIELDS("Expect: a\r\n")},
};

static void test_each_rejected_head_has_its_reason(void **state)
{
    (void)state;
    limits = (struct bb__head_limits){40, 60, 3, false};
    for (size_t i = 0; i < sizeof heads / sizeof *heads; i++) {
        const struct outcome *outcome = parse(heads[i].bytes, heads[i].len);
        const char *name = bb__reasons[outcome->reason].name, *expected = bb__reasons[heads[i].reason].name;
        if (outcome->reason != heads[i].reason)
            fail_msg("head %zu: %s instead of %s", i, name ? name : "none", expected);
    }
}

/* ---- bodies ---- */

static const struct {
    enum bb__reason reason;
    const char *bytes;
} bodies[] = {
    {BB_REASON_BAD_CHUNK_SIZE, "x\r\n"},
    {BB_REASON_BAD_CHUNK_SIZE, "0x1\r\n"},
    {BB_REASON_BAD_CHUNK_SIZE, "00000000000000001\r\n"},
    {BB_REASON_BAD_CHUNK_SIZE, "1\r\na\r\nffffffffffffffff\r\n"},
    {BB_REASON_BAD_CHUNK_EXTENSION, "1;\r\n"},
    {BB_REASON_BAD_CHUNK_EXTENSION, "1 \r\n"},
    {BB_REASON_BAD_CHUNK_END, "1\r\nab\r\n"},
    {BB_REASON_BAD_TRAILER, "0\r\n A: b\r\n"},
    {BB_REASON_BAD_TRAILER, "0\r\nA : b\r\n"},
    {BB_REASON_LARGE_TRAILERS, "0\r\nA:\r\nB:\r\n"},
    {BB_REASON_LARGE_TRAILERS, "0\r\nA: 45678901\r\n"},
    {BB_REASON_LARGE_BODY, "5\r\n"},
    {BB_REASON_BARE_LF, "1\na"},
    {BB_REASON_BARE_LF, "1;a\n"},
    {BB_REASON_BARE_LF, "1\r\na\n"},
    {BB_REASON_BARE_LF, "0\r\nA: b\n"},
    {BB_REASON_BARE_LF, "0\r\n\n"},
    {BB_REASON_BARE_CR, "1\ra"},
    {BB_REASON_BARE_CR, "1\r\na\r1"},
    {BB_REASON_BARE_CR, "0\r\n\rA"},
};

static int decode(const char *bytes, size_t len, size_t piece)
{
    static char copy[2 * BB_CHUNK_EXTENSION_MAX];
    struct bb__body body;
    struct bb_slice out;
    int code = BB_AGAIN;
    memcpy(copy, bytes, len);
    bb__body_start_chunked(&body, 10, 1);
    for (size_t at = 0, used; at < len && code == BB_AGAIN; at += used)
        code = bb__body_decode_all(&body, 4, copy + at, at + piece < len ? piece : len - at, &used, &out);
    return code;
}

static void test_each_rejected_body_has_its_reason(void **state)
{
    (void)state;
    char long_extension[2 * BB_CHUNK_EXTENSION_MAX];
    for (size_t i = 0; i < sizeof bodies / sizeof *bodies; i++) {
        size_t len = strlen(bodies[i].bytes);
        int whole = decode(bodies[i].bytes, len, len), dripped = decode(bodies[i].bytes, len, 1);
        if (whole != (int)bodies[i].reason || dripped != whole)
            fail_msg("body %zu: %d, %d instead of %s", i, whole, dripped, bb__reasons[bodies[i].reason].name);
    }
    int len = snprintf(long_extension, sizeof long_extension, "1;a%0*d\r\n", BB_CHUNK_EXTENSION_MAX, 0);
    assert_int_equal(decode(long_extension, (size_t)len, (size_t)len), BB_REASON_LONG_CHUNK_EXTENSION);
}

/* ---- the table ---- */

static bool is_tried(enum bb__reason reason)
{
    for (size_t i = 0; i < sizeof heads / sizeof *heads; i++)
        if (heads[i].reason == reason) return true;
    for (size_t i = 0; i < sizeof bodies / sizeof *bodies; i++)
        if (bodies[i].reason == reason) return true;
    return reason == BB_REASON_LONG_CHUNK_EXTENSION;
}

static void test_this_file_has_each_reason_of_the_parsers(void **state)
{
    (void)state;
    for (int reason = BB_REASON_BASE + 1; reason <= BB_REASON_LARGE_BODY; reason++)
        if (!is_tried((enum bb__reason)reason)) fail_msg("%s is not tried", bb__reasons[reason].name);
}

/* The names go to the access log without quotes, and programs search for them. */
static void test_each_reason_has_a_name_of_its_own_and_a_text(void **state)
{
    (void)state;
    assert_null(bb__reasons[BB_REASON_NONE].name);
    for (int reason = BB_REASON_BASE + 1; reason < BB_REASONS_END; reason++) {
        const struct bb__reason_facts *facts = &bb__reasons[reason];
        assert_int_equal(strspn(facts->name, "abcdefghijklmnopqrstuvwxyz_0123456789"), strlen(facts->name));
        assert_true(strlen(facts->name) > 0 && strlen(facts->name) < 32 && strlen(facts->text) > 0);
        assert_true(facts->status == 0 || (facts->status >= 400 && facts->status < 600));
        for (int other = BB_REASON_BASE + 1; other < reason; other++)
            assert_true(strcmp(facts->name, bb__reasons[other].name) != 0);
    }
}

#define TEST(function) cmocka_unit_test_setup(function, reset_limits)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_each_rejected_head_has_its_reason),
        TEST(test_each_rejected_body_has_its_reason),
        TEST(test_this_file_has_each_reason_of_the_parsers),
        TEST(test_each_reason_has_a_name_of_its_own_and_a_text),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
