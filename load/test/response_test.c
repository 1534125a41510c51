/* response_test.c: each response is read in one piece, and in pieces of 1, 2 and 3 bytes. All readings
 * must agree. An inaccessible page follows each piece, so that a read beyond the piece fails. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "response.h"
#include "support/guard.h"

#include <stdio.h>
#include <stdlib.h>

struct outcome {
    enum response_verdict verdict;
    size_t used;
    struct response response;
};

static struct guard guard;
static char carry[RESPONSE_LINE_MAX];

/* Feeds the bytes in pieces of at most `piece`. */
static struct outcome feed(const char *bytes, size_t len, size_t piece, bool to_head)
{
    struct outcome outcome = {.verdict = RESPONSE_MORE, .response.carry = carry};
    response_start(&outcome.response, to_head);
    while (outcome.verdict == RESPONSE_MORE && outcome.used < len) {
        size_t next = len - outcome.used < piece ? len - outcome.used : piece, used;
        const char *guarded = guard_put(&guard, bytes + outcome.used, next);
        outcome.verdict = response_feed(&outcome.response, guarded, next, &used);
        outcome.used += used;
    }
    return outcome;
}

static struct outcome check_bytes(const char *bytes, size_t len, bool to_head, enum response_verdict expected)
{
    struct outcome whole = feed(bytes, len, len, to_head);
    for (size_t piece = 1; piece <= 3; piece++) {
        struct outcome cut = feed(bytes, len, piece, to_head);
        if (whole.verdict != expected || cut.verdict != expected) {
            fail_msg("whole %d, by %zu %d, expected %d:\n%.300s", whole.verdict, piece, cut.verdict, expected,
                     bytes);
        }
        if (expected == RESPONSE_MALFORMED) continue; /* the error may be found at different bytes */
        assert_int_equal(cut.used, whole.used);
        assert_int_equal(cut.response.status, whole.response.status);
        assert_int_equal(cut.response.keep_alive, whole.response.keep_alive);
        assert_int_equal(response_ends_with_connection(&cut.response),
                         response_ends_with_connection(&whole.response));
    }
    return whole;
}

static struct outcome check(const char *text, enum response_verdict expected)
{
    return check_bytes(text, strlen(text), false, expected);
}

#define MALFORMED(text) check(text, RESPONSE_MALFORMED)

/* Checks that the whole text is one response, and returns it. */
static struct response check_done(const char *text)
{
    struct outcome outcome = check(text, RESPONSE_DONE);
    assert_int_equal(outcome.used, strlen(text));
    assert_true(outcome.response.begun);
    return outcome.response;
}

static void reads_status_and_persistence(void **state)
{
    (void)state;
    struct response response = check_done("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello");
    assert_int_equal(response.status, 200);
    assert_true(response.keep_alive);
    assert_int_equal(check_done("HTTP/1.1 503\r\ncontent-length:0\r\n\r\n").status, 503);
    assert_int_equal(check_done("HTTP/1.1 999 \r\nContent-Length: 0\r\n\r\n").status, 999);
    assert_true(check_done("HTTP/1.2 200 \x80\t\r\nContent-Length: 0\r\n\r\n").keep_alive);

    const char *const closing[] = {
        "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 0\r\n\r\n",
        "HTTP/1.1 200 OK\r\nCONNECTION: a ,\tClose\r\nContent-Length: 0\r\n\r\n",
        "HTTP/1.1 200 OK\r\nConnection: close\r\nConnection: keep-alive\r\nContent-Length: 0\r\n\r\n",
        "HTTP/1.0 200 OK\r\nContent-Length: 0\r\n\r\n",
        "HTTP/1.0 200 OK\r\nConnection: keep-alive, close\r\nContent-Length: 0\r\n\r\n",
        "HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\n\r\n",
    };
    for (size_t i = 0; i < sizeof closing / sizeof *closing; i++)
        assert_false(check_done(closing[i]).keep_alive);
    assert_true(
        check_done("HTTP/1.0 200 OK\r\nConnection: Keep-Alive\r\nContent-Length: 0\r\n\r\n").keep_alive);
    assert_true(check_done("HTTP/1.1 200 OK\r\nConnection: closed\r\nContent-Length: 0\r\n\r\n").keep_alive);
}

static void ends_where_the_length_says(void **state)
{
    (void)state;
    assert_int_equal(check("HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nabcd", RESPONSE_DONE).used, 41);
    check("HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nab", RESPONSE_MORE);
    check_done("HTTP/1.1 200 OK\r\nContent-Length:\t 3 \r\nContent-Length: 3\r\n\r\nabc");

    MALFORMED("HTTP/1.1 200 OK\r\nContent-Length: 3\r\nContent-Length: 4\r\n\r\n");
    MALFORMED("HTTP/1.1 200 OK\r\nContent-Length: 3, 3\r\n\r\n");
    MALFORMED("HTTP/1.1 200 OK\r\nContent-Length: +3\r\n\r\n");
    MALFORMED("HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n");
    MALFORMED("HTTP/1.1 200 OK\r\nContent-Length: \r\n\r\n");
    MALFORMED("HTTP/1.1 200 OK\r\nContent-Length: 0x3\r\n\r\n");
    MALFORMED("HTTP/1.1 200 OK\r\nContent-Length: 18446744073709551617\r\n\r\n");
}

static void reads_chunks_and_trailers(void **state)
{
    (void)state;
#define CHUNKED "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
    check_done(CHUNKED "0\r\n\r\n");
    check_done(CHUNKED "5\r\nhello\r\nA\r\n0123456789\r\n00\r\n\r\n");
    check_done(CHUNKED "5;name=value\r\nhello\r\n0 ; last\r\nX-Trailer: 1\r\nContent-Length: x\r\n\r\n");
    check_done("HTTP/1.1 200 OK\r\ntransfer-encoding:Chunked\r\n\r\n0\r\n\r\n");
    check(CHUNKED "5\r\nhello\r\n0\r\n", RESPONSE_MORE);
    assert_int_equal(check(CHUNKED "0\r\n\r\nHTTP", RESPONSE_DONE).used, strlen(CHUNKED "0\r\n\r\n"));

    MALFORMED(CHUNKED "5\r\nhello0\r\n\r\n");
    MALFORMED(CHUNKED "5\r\nhello!\r\n0\r\n\r\n");
    MALFORMED(CHUNKED "\r\n");
    MALFORMED(CHUNKED "x\r\n");
    MALFORMED(CHUNKED " 5\r\n");
    MALFORMED(CHUNKED "5 \r\n");
    MALFORMED(CHUNKED "5 x\r\n");
    MALFORMED(CHUNKED "-5\r\n");
    MALFORMED(CHUNKED "5;\x01\r\n");
    MALFORMED(CHUNKED "5\nhello\r\n0\r\n\r\n");
    MALFORMED(CHUNKED "1000000000000000\r\n");
    MALFORMED(CHUNKED "0\r\nno field\r\n\r\n");
#undef CHUNKED
}

static void refuses_ambiguous_framing(void **state)
{
    (void)state;
    MALFORMED("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n");
    MALFORMED("HTTP/1.1 200 OK\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n");
    MALFORMED("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked, chunked\r\n\r\n");
    MALFORMED("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n");
    MALFORMED("HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip\r\n\r\n");
    MALFORMED("HTTP/1.1 200 OK\r\nTransfer-Encoding: \r\n\r\n");
    MALFORMED("HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n");
}

static void ends_with_the_connection_without_framing(void **state)
{
    (void)state;
    struct outcome outcome = check("HTTP/1.1 200 OK\r\nX: y\r\n\r\nany\r\n\r\nbytes", RESPONSE_MORE);
    assert_true(response_ends_with_connection(&outcome.response));
    assert_false(outcome.response.keep_alive);
    outcome = check("HTTP/1.1 200 OK\r\nX: y\r\n", RESPONSE_MORE);
    assert_false(response_ends_with_connection(&outcome.response));
    outcome = check("HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nab", RESPONSE_MORE);
    assert_false(response_ends_with_connection(&outcome.response));
}

static void knows_responses_without_a_body(void **state)
{
    (void)state;
    const char *const bodyless[] = {
        "HTTP/1.1 204 No Content\r\n\r\n",
        "HTTP/1.1 304 Not Modified\r\nContent-Length: 100\r\n\r\n",
    };
    for (size_t i = 0; i < 2; i++) assert_true(check_done(bodyless[i]).keep_alive);

    const char *to_head = "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n";
    assert_true(check_bytes(to_head, strlen(to_head), true, RESPONSE_DONE).response.keep_alive);
    to_head = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
    check_bytes(to_head, strlen(to_head), true, RESPONSE_DONE);
}

static void skips_interim_responses(void **state)
{
    (void)state;
    struct response response = check_done("HTTP/1.1 100 Continue\r\n\r\n"
                                          "HTTP/1.1 103 Early Hints\r\nConnection: close\r\nLink: x\r\n\r\n"
                                          "HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n");
    assert_int_equal(response.status, 404);
    assert_true(response.keep_alive);

    struct outcome outcome = check("HTTP/1.1 100 Continue\r\n\r\n", RESPONSE_MORE);
    assert_true(outcome.response.begun);
}

static void refuses_what_is_no_head(void **state)
{
    (void)state;
    const char *const heads[] = {
        "\r\nHTTP/1.1 200 OK\r\n\r\n",
        "HTTP/2.0 200 OK\r\n\r\n",
        "HTTP/1. 200 OK\r\n\r\n",
        "http/1.1 200 OK\r\n\r\n",
        "HTTP/1.1  200 OK\r\n\r\n",
        "HTTP/1.1 20 OK\r\n\r\n",
        "HTTP/1.1 2000 OK\r\n\r\n",
        "HTTP/1.1 099 OK\r\n\r\n",
        "HTTP/1.1 200OK\r\n\r\n",
        "HTTP/1.1 200 O\x01K\r\n\r\n",
        "HTTP/1.1 200 OK\n\n",
        "HTTP/1.1 200 OK\r\nname\r\n\r\n",
        "HTTP/1.1 200 OK\r\n: value\r\n\r\n",
        "HTTP/1.1 200 OK\r\nna me: value\r\n\r\n",
        "HTTP/1.1 200 OK\r\nname : value\r\n\r\n",
        "HTTP/1.1 200 OK\r\nname: va\rlue\r\n\r\n",
        "HTTP/1.1 200 OK\r\nname: va\x7flue\r\n\r\n",
        "HTTP/1.1 200 OK\r\nname: value\n\r\n",
        "HTTP/1.1 200 OK\r\nname: value\r\n folded\r\n\r\n",
    };
    for (size_t i = 0; i < sizeof heads / sizeof *heads; i++) MALFORMED(heads[i]);
    static const char nul[] = "HTTP/1.1 200 OK\r\nname: a\0b\r\n\r\n";
    check_bytes(nul, sizeof nul - 1, false, RESPONSE_MALFORMED);
}

/* Checks a head of `lines` fields. Each field has line_len bytes with its CRLF. */
static void check_size(size_t lines, size_t line_len, enum response_verdict expected)
{
    static const char start[] = "HTTP/1.1 204 \r\n";
    size_t len = sizeof start - 1 + lines * line_len + 2;
    char *head = malloc(len), *at = head + sizeof start - 1;
    memcpy(head, start, sizeof start - 1);
    for (size_t i = 0; i < lines; i++, at += line_len) {
        memset(at, 'x', line_len);
        at[1] = ':';
        memcpy(at + line_len - 2, "\r\n", 2);
    }
    memcpy(at, "\r\n", 2);
    check_bytes(head, len, false, expected);
    free(head);
}

/* RESPONSE_HEAD_MAX limits the head. Any number of chunks may follow. */
static void does_not_bound_the_number_of_chunks(void **state)
{
    (void)state;
    static const char head[] = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
    size_t len = sizeof head - 1, chunks = RESPONSE_HEAD_MAX / 4;
    char *response = malloc(len + chunks * 6 + 5);
    memcpy(response, head, len);
    for (size_t i = 0; i < chunks; i++, len += 6) memcpy(response + len, "1\r\nx\r\n", 6);
    memcpy(response + len, "0\r\n\r\n", 5);
    check_bytes(response, len + 5, false, RESPONSE_DONE);
    free(response);
}

static void bounds_lines_and_heads(void **state)
{
    (void)state;
    check_size(1, RESPONSE_LINE_MAX, RESPONSE_DONE);
    check_size(1, RESPONSE_LINE_MAX + 1, RESPONSE_MALFORMED);
    check_size((RESPONSE_HEAD_MAX - 64) / 128, 128, RESPONSE_DONE);
    check_size(RESPONSE_HEAD_MAX / 128, 128, RESPONSE_MALFORMED);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_status_and_persistence),
        cmocka_unit_test(ends_where_the_length_says),
        cmocka_unit_test(reads_chunks_and_trailers),
        cmocka_unit_test(refuses_ambiguous_framing),
        cmocka_unit_test(ends_with_the_connection_without_framing),
        cmocka_unit_test(knows_responses_without_a_body),
        cmocka_unit_test(skips_interim_responses),
        cmocka_unit_test(refuses_what_is_no_head),
        cmocka_unit_test(does_not_bound_the_number_of_chunks),
        cmocka_unit_test(bounds_lines_and_heads),
    };
    guard = guard_new(2 * RESPONSE_HEAD_MAX);
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    guard_free(&guard);
    return failed;
}
