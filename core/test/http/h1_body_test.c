/* h1_body_test.c: the body decoder. It gets each input whole, byte by byte, and in two parts cut at each
 * place. The decoded bytes, the result and the number of bytes read must not depend on the cut. Each input
 * ends right before an inaccessible page. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "http/h1_body.h"
#include "http/h1_scan.h"
#include "support/guard.h"

#define INPUT_MAX (64 * 1024)

static struct guard guard;

struct outcome {
    int code; /* BB_OK, BB_AGAIN or the status of the reason */
    size_t used;
    uint64_t announced;
    size_t len;
    char bytes[INPUT_MAX];
};

/* Gives the decoder in[0..len) as a connection does: bytes that one call has not read are given to the next
 * call. */
static void feed(struct bb__body *body, const char *in, size_t len, struct outcome *outcome)
{
    const char *guarded = guard_put(&guard, in, len);
    size_t offset = 0;
    do {
        struct bb_slice run;
        size_t used;
        int code = bb__body_decode(body, guarded + offset, len - offset, &used, &run);
        outcome->code = bb__is_reason(code) ? bb__reasons[code].status : code;
        assert_in_range(used, 0, len - offset);
        if (run.at != NULL) {
            assert_in_range(run.len, 1, used);
            assert_true(run.at >= guarded + offset && run.at + run.len <= guarded + offset + used);
            memcpy(outcome->bytes + outcome->len, run.at, run.len);
            outcome->len += run.len;
        }
        assert_true(used > 0 || outcome->code != BB_AGAIN || offset == len);
        offset += used;
    } while (outcome->code == BB_AGAIN && offset < len);
    outcome->used += offset;
    outcome->announced = body->announced;
    bool is_chunked = body->trailers_max > 0;
    if (is_chunked) assert_int_equal(bb__body_decoded(body), outcome->len);
}

/* Decodes in pieces of `piece` bytes; the first piece has `first` bytes. */
static struct outcome *decode(struct bb__body body, const char *in, size_t len, size_t first, size_t piece)
{
    static struct outcome outcome;
    outcome = (struct outcome){.code = BB_AGAIN};
    for (size_t at = 0, size = first; at < len && outcome.code == BB_AGAIN; at += size, size = piece) {
        if (size > len - at) size = len - at;
        feed(&body, in + at, size, &outcome);
        assert_int_equal(outcome.code == BB_OK, bb__body_done(&body));
    }
    if (len == 0) feed(&body, in, 0, &outcome);

    size_t used = outcome.used;
    if (outcome.code == BB_AGAIN) return &outcome;
    feed(&body, "1\r\n", 3, &outcome); /* a decoder that has finished reads no more bytes */
    assert_int_equal(outcome.used, used);
    return &outcome;
}

static void assert_outcome(const struct outcome *outcome, int code, const char *bytes, size_t len,
                           size_t used)
{
    assert_int_equal(outcome->code, code);
    assert_int_equal(outcome->len, len);
    assert_memory_equal(outcome->bytes, bytes, len);
    assert_int_equal(outcome->used, used);
}

/* bytes: the decoded bytes. used: the offset of the body's end or of the rejected byte. */
static void check(struct bb__body body, const char *in, size_t in_len, int code, const char *bytes,
                  size_t len, size_t used)
{
    assert_outcome(decode(body, in, in_len, in_len, in_len), code, bytes, len, used);
    assert_outcome(decode(body, in, in_len, 1, 1), code, bytes, len, used);
    if (in_len > 200) return;
    for (size_t cut = 1; cut < in_len; ++cut)
        assert_outcome(decode(body, in, in_len, cut, in_len), code, bytes, len, used);
}

static struct bb__body chunked(void)
{
    struct bb__body body;
    bb__body_start_chunked(&body, 100, 3);
    return body;
}

static void test_a_body_with_content_length_is_decoded(void **state)
{
    (void)state;
    struct bb__body body;
    bb__body_start_length(&body, 5);
    check(body, "hello", 5, BB_OK, "hello", 5, 5);
    check(body, "helloGET /", 10, BB_OK, "hello", 5, 5);
    check(body, "hel", 3, BB_AGAIN, "hel", 3, 3);
    check(body, "", 0, BB_AGAIN, "", 0, 0);
    check(body, "\r\n\0\xff\n!", 6, BB_OK, "\r\n\0\xff\n", 5, 5);
    bb__body_start_length(&body, 1);
    check(body, "ab", 2, BB_OK, "a", 1, 1);
    bb__body_start_length(&body, 0);
    assert_true(bb__body_done(&body));
    check(body, "GET /", 5, BB_OK, "", 0, 0);
    check(body, "", 0, BB_OK, "", 0, 0);
    bb__body_start_length(&body, UINT64_MAX);
    check(body, "abc", 3, BB_AGAIN, "abc", 3, 3);
}

struct whole {
    const char *in, *bytes;
    const char *behind; /* the next request, which must stay unread */
};

static void test_a_chunked_body_is_decoded(void **state)
{
    (void)state;
    static const struct whole cases[] = {
        {"0\r\n\r\n", "", ""},
        {"0\r\n\r\n", "", "GET / HTTP/1.1\r\n"},
        {"5\r\nhello\r\n0\r\n\r\n", "hello", ""},
        {"5\r\nhello\r\n0\r\n\r\n", "hello", "0\r\n\r\n"},
        {"1\r\na\r\n2\r\nbc\r\n3\r\ndef\r\n0\r\n\r\n", "abcdef", "x"},
        {"A\r\n0123456789\r\na\r\n0123456789\r\n0\r\n\r\n", "01234567890123456789", ""},
        {"0000000000000003\r\nabc\r\n0000000000000000\r\n\r\n", "abc", ""},
        {"4\r\n\r\n\r\n\r\n0\r\n\r\n", "\r\n\r\n", ""}, /* data that looks like framing */
        {"5\r\n0\r\n\r\n\r\n0\r\n\r\n", "0\r\n\r\n", ""},
        {"1;a\r\nx\r\n0\r\n\r\n", "x", ""},
        {"1;a=b\r\nx\r\n0;c;d=e\r\n\r\n", "x", ""},
        {"1 ; a = b ; c\r\nx\r\n0\r\n\r\n", "x", ""},
        {"1\t;\ta\t=\tb\r\nx\r\n0\r\n\r\n", "x", ""},
        {"1;a=\"\"\r\nx\r\n0\r\n\r\n", "x", ""},
        {"1;a=\"b \t;,=:(\x80)\" ;c=d\r\nx\r\n0\r\n\r\n", "x", ""},
        {"1;a=\"\\\"\\\\\\;\"\r\nx\r\n0\r\n\r\n", "x", ""},
        {"0\r\nA: b\r\n\r\n", "", "x"},
        {"0\r\nA:\r\nB:   c\t\r\nD: \"\\;\xff\r\n\r\n", "", "x"},
        {"1\r\nx\r\n0;e=f\r\nContent-Length: 5\r\n\r\n", "x", "hello"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
        char in[200];
        int len = snprintf(in, sizeof in, "%s%s", cases[i].in, cases[i].behind);
        size_t own = strlen(cases[i].in);
        check(chunked(), in, (size_t)len, BB_OK, cases[i].bytes, strlen(cases[i].bytes), own);
        for (size_t less = 1; less < own; ++less)
            assert_int_equal(decode(chunked(), in, less, less, less)->code, BB_AGAIN);
    }
}

/* "|" stands before the byte that is rejected. */
static void check_refused(const char *marked, const char *bytes)
{
    char in[200];
    size_t before = strcspn(marked, "|");
    int len = snprintf(in, sizeof in, "%.*s%s", (int)before, marked, marked + before + 1);
    check(chunked(), in, (size_t)len, 400, bytes, strlen(bytes), before);
}

static void test_a_malformed_chunk_size_is_rejected(void **state)
{
    (void)state;
    static const char *const cases[] = {"|\r\n",
                                        "|\n",
                                        "| 5\r\n",
                                        "|\t5\r\n",
                                        "|+5\r\n",
                                        "|-5\r\n",
                                        "|;a\r\n",
                                        "|x5\r\n",
                                        "|\r5\r\n",
                                        "|\x80\r\n",
                                        "0|x5\r\nhello\r\n",
                                        "0|X5\r\nhello\r\n",
                                        "5|_0\r\n",
                                        "5|.0\r\n",
                                        "5|,5\r\n",
                                        "5|h\r\n",
                                        "5|=a\r\n",
                                        "5|\nhello\r\n",
                                        "5 |\r\nhello\r\n",
                                        "5\t|\r\nhello\r\n",
                                        "5 |5\r\n",
                                        "5 |=a\r\n",
                                        "5\r|hello",
                                        "5\r|\r\n",
                                        "5\r| \n",
                                        "ffffffffffffffff|f\r\n",
                                        "0000000000000000|5\r\n",
                                        "1000000000000000|0\r\n"};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) check_refused(cases[i], "");
    check(chunked(), "\0", 1, 400, "", 0, 0);
}

static void test_a_malformed_chunk_extension_is_rejected(void **state)
{
    (void)state;
    static const char *const cases[] = {
        "5;|\r\nhello\r\n", "5; |\r\n",        "5;|;a\r\n",       "5;|=a\r\n",        "5;|\"a\"\r\n",
        "5;a|\n",           "5;a\r|x\n",       "5;a |\r\n",       "5;a |b\r\n",       "5;a=|\r\n",
        "5;a= |\r\n",       "5;a=|;b\r\n",     "5;a=|=\r\n",      "5;a=b|=c\r\n",     "5;a=b |\r\n",
        "5;a=b |=c\r\n",    "5;a=b|\"c\"\r\n", "5;a=b|\n",        "5;a=\"b|\r\n",     "5;a=\"b|\n",
        "5;a=\"\\|\r\n",    "5;a=\"\\|\n",     "5;a=\"b\"|c\r\n", "5;a=\"b\"|\"\r\n", "5;a=\"b\"|=c\r\n",
        "5;a=\"b\" |\r\n",  "5;a=\"b\"|\n",    "0;a|\n\r\n"};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) check_refused(cases[i], "");
    check(chunked(), "5;a=\"\0\"\r\n", 9, 400, "", 0, 5);
}

static void test_a_malformed_end_of_a_chunk_is_rejected(void **state)
{
    (void)state;
    static const char *const cases[] = {
        "5\r\nhello|0\r\n",
        "5\r\nhello|\n0\r\n",
        "5\r\nhello|!\r\n",
        "5\r\nhello\r|0\r\n",
        "5\r\nhello\r|\r\n",
        "5\r\nhello\r\n|\r\n0",
        "5\r\nhello\r\n| 0\r\n",
        "5\r\nhello\r\n0\r\n|\n",
        "5\r\nhello\r\n0\r\n\r|\r\n",
        "5\r\nhello\r\nfffffffffffffffb\r|\nabc"}; /* the sum of the sizes overflows */
    for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) check_refused(cases[i], "hello");
}

static void test_a_malformed_trailer_is_rejected(void **state)
{
    (void)state;
    static const char *const cases[] = {"0\r\n| A: b\r\n",      "0\r\n|: b\r\n",           "0\r\nA| : b\r\n",
                                        "0\r\nA|\r\n",          "0\r\nA: b|\n\r\n",        "0\r\nA: b\r|A: c",
                                        "0\r\nA: b\r\n| c\r\n", "0\r\nA: b\r\n|\tc\r\n",   "0\r\nA: b\r\n|\n",
                                        "0\r\nA: b\r|\r\n",     "0\r\nGET| / HTTP/1.1\r\n"};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) check_refused(cases[i], "");
    check(chunked(), "0\r\nA: \0\r\n", 9, 400, "", 0, 6);
}

static int code_after(const char *start, char byte)
{
    char in[32];
    int len = snprintf(in, sizeof in, "%s", start);
    in[len] = byte;
    return decode(chunked(), in, (size_t)len + 1, (size_t)len + 1, 1)->code;
}

/* Tries each byte value at each place of the chunk grammar. */
static void test_each_byte_is_accepted_as_the_grammar_says(void **state)
{
    (void)state;
    for (unsigned value = 0; value < 256; ++value) {
        char byte = (char)value;
        bool is_digit = value > 0 && strchr("0123456789abcdefABCDEF", byte) != NULL;
        bool is_tchar = bb__is_tchar[value];
        bool is_blank = byte == ' ' || byte == '\t';
        bool is_text = bb__scan_value(&byte, &byte + 1) != &byte;
        assert_int_equal(code_after("", byte), is_digit ? BB_AGAIN : 400);
        assert_int_equal(code_after("1", byte),
                         is_digit || is_blank || byte == ';' || byte == '\r' ? BB_AGAIN : 400);
        assert_int_equal(code_after("1;", byte), is_tchar || is_blank ? BB_AGAIN : 400);
        assert_int_equal(code_after("1;a=", byte), is_tchar || is_blank || byte == '"' ? BB_AGAIN : 400);
        assert_int_equal(code_after("1;a=\"", byte), is_text ? BB_AGAIN : 400);
        assert_int_equal(code_after("1;a=\"\\", byte), is_text ? BB_AGAIN : 400);
        assert_int_equal(code_after("0\r\n", byte), is_tchar || byte == '\r' ? BB_AGAIN : 400);
        assert_int_equal(code_after("0\r\nA", byte), is_tchar || byte == ':' ? BB_AGAIN : 400);
        assert_int_equal(code_after("0\r\nA:", byte), is_text || byte == '\r' ? BB_AGAIN : 400);
    }
}

static void test_the_size_of_a_chunk_counts_before_its_data_come(void **state)
{
    (void)state;
    assert_int_equal(decode(chunked(), "1\r\nx\r\nff\r", 9, 9, 9)->announced, 1);
    assert_int_equal(decode(chunked(), "1\r\nx\r\nff\r\n", 10, 10, 10)->announced, 256);
    assert_int_equal(decode(chunked(), "ffffffffffffffff\r\n", 18, 18, 18)->announced, UINT64_MAX);
    assert_int_equal(decode(chunked(), "ffffffffffffffff\r\n", 18, 18, 18)->code, BB_AGAIN);
}

/* Writes `count` chunks of one byte, each with `extension` bytes of extension. Returns the length. */
static size_t with_extensions(char *in, unsigned count, int extension)
{
    size_t len = 0;
    for (unsigned i = 0; i < count; ++i)
        len += (size_t)sprintf(in + len, "1;%0*d\r\nx\r\n", extension - 1, 0);
    return len;
}

/* Blanks and quotes in an extension also count towards the limit. */
static void test_each_byte_of_a_chunk_extension_counts(void **state)
{
    (void)state;
    char in[BB_CHUNK_EXTENSION_MAX + 20];
    const int all_but_quoted = BB_CHUNK_EXTENSION_MAX - 5; /* the other 5 bytes are ;a="" */
    int len = sprintf(in, "1%*s;a=\"\"", all_but_quoted, "");
    check(chunked(), in, (size_t)len, BB_AGAIN, "", 0, (size_t)len);
    len = sprintf(in, "1%*s;a=\"\" ", all_but_quoted, "");
    check(chunked(), in, (size_t)len, 400, "", 0, (size_t)len - 1);
    len = sprintf(in, "1;a=\"%0*d\"\r", all_but_quoted, 0);
    check(chunked(), in, (size_t)len, BB_AGAIN, "", 0, (size_t)len);
    len = sprintf(in, "1;a=\"%0*d\"\r", all_but_quoted + 1, 0);
    check(chunked(), in, (size_t)len, 400, "", 0, (size_t)len - 2);
}

static void test_chunk_extensions_are_limited(void **state)
{
    (void)state;
    static char in[INPUT_MAX], bytes[64];
    memset(bytes, 'x', sizeof bytes);
    size_t len = with_extensions(in, 1, BB_CHUNK_EXTENSION_MAX);
    check(chunked(), in, len, BB_AGAIN, bytes, 1, len);
    len = with_extensions(in, 1, BB_CHUNK_EXTENSION_MAX + 1);
    check(chunked(), in, len, 400, bytes, 0, 1 + BB_CHUNK_EXTENSION_MAX);

    const unsigned most = BB_CHUNK_EXTENSIONS_MAX / BB_CHUNK_EXTENSION_MAX;
    len = with_extensions(in, most, BB_CHUNK_EXTENSION_MAX);
    check(chunked(), in, len, BB_AGAIN, bytes, most, len);
    memcpy(in + len, "0;a\r\n", 5);
    check(chunked(), in, len + 5, 400, bytes, most, len + 1);
    memcpy(in + len, "0\r\n\r\n", 5);
    check(chunked(), in, len + 5, BB_OK, bytes, most, len + 5);
}

/* chunked() allows 3 trailer lines and a total of 100 bytes, CRLFs included. */
static void test_trailers_are_limited(void **state)
{
    (void)state;
    char in[200];
    int len = sprintf(in, "0\r\nA: %095d\r\n\r\n", 0);
    check(chunked(), in, (size_t)len, BB_OK, "", 0, (size_t)len);
    len = sprintf(in, "0\r\nA: %096d\r\n\r\n", 0);
    check(chunked(), in, (size_t)len, 431, "", 0, (size_t)len - 3);
    len = sprintf(in, "0\r\n%0101d: b\r\n\r\n", 0);
    check(chunked(), in, (size_t)len, 431, "", 0, 3 + 100);

    check(chunked(), "0\r\nA:1\r\nB:2\r\nC:3\r\n\r\n", 20, BB_OK, "", 0, 20);
    check(chunked(), "0\r\nA:1\r\nB:2\r\nC:3\r\nD:4\r\n\r\n", 25, 431, "", 0, 18);

    struct bb__body none;
    bb__body_start_chunked(&none, 0, 0);
    check(none, "0\r\n\r\n", 5, BB_OK, "", 0, 5);
    check(none, "0\r\nA:b\r\n\r\n", 10, 431, "", 0, 3);
}

static int set_up(void **state)
{
    (void)state;
    guard = guard_new(INPUT_MAX);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    guard_free(&guard);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_body_with_content_length_is_decoded),
        cmocka_unit_test(test_a_chunked_body_is_decoded),
        cmocka_unit_test(test_a_malformed_chunk_size_is_rejected),
        cmocka_unit_test(test_a_malformed_chunk_extension_is_rejected),
        cmocka_unit_test(test_a_malformed_end_of_a_chunk_is_rejected),
        cmocka_unit_test(test_a_malformed_trailer_is_rejected),
        cmocka_unit_test(test_each_byte_is_accepted_as_the_grammar_says),
        cmocka_unit_test(test_the_size_of_a_chunk_counts_before_its_data_come),
        cmocka_unit_test(test_chunk_extensions_are_limited),
        cmocka_unit_test(test_each_byte_of_a_chunk_extension_counts),
        cmocka_unit_test(test_trailers_are_limited),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
