/* h1_framing_test.c: how a response body is framed. Encodes a response for each combination of request,
 * status, fields and settings, and reads it back as a client does (RFC 9112 6.3). Also tests bodies that do
 * not match their head. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "support/encode.h"

/* One response to encode. combination_of() makes it from a number. */
struct combination {
    bool head_method, app_length, app_chunked, app_close, known_length, chunked_transfer, keep_alive;
    uint8_t minor_version;
    int status;
};

static const int statuses[] = {101, 103, 200, 204, 205, 206, 299, 304, 404, 500, 999};
#define STATUSES (sizeof statuses / sizeof *statuses)

static struct combination combination_of(unsigned number)
{
    return (struct combination){
        .head_method = number & 1,
        .app_length = number & 2,
        .app_chunked = number & 4,
        .app_close = number & 8,
        .known_length = number & 16,
        .chunked_transfer = number & 32,
        .keep_alive = number & 64,
        .minor_version = number >> 7 & 1,
        .status = statuses[number >> 8],
    };
}

#define COMBINATIONS (STATUSES << 8)

/* The response as a client reads it. */
struct reading {
    unsigned lengths, codings, options; /* numbers of Content-Length, Transfer-Encoding, Connection fields */
    bool persists;
    bool until_close;
    char body[64];
    bool whole; /* the body ends exactly at the end of the bytes */
};

static unsigned count(const char *head, const char *line_start)
{
    unsigned found = 0;
    for (const char *at = head; (at = strstr(at, line_start)) != NULL; ++at) ++found;
    return found;
}

static void read_body(struct reading *reading, const char *head, const char *at, size_t len, bool bodyless)
{
    struct bb__body decoder;
    bb__body_start_length(&decoder, 0);
    if (!bodyless && reading->codings > 0) bb__body_start_chunked(&decoder, 0, 0);
    if (!bodyless && reading->codings == 0 && reading->lengths > 0)
        bb__body_start_length(&decoder, strtoull(strstr(head, "Content-Length: ") + 16, NULL, 10));
    reading->until_close = !bodyless && reading->codings == 0 && reading->lengths == 0;
    if (reading->until_close) bb__body_start_length(&decoder, len);

    size_t used = 0, body_len = 0;
    int code = BB_AGAIN;
    while (code == BB_AGAIN && used < len) {
        size_t step;
        struct bb_slice run;
        code = bb__body_decode(&decoder, at + used, len - used, &step, &run);
        assert_in_range(body_len + run.len, 0, sizeof reading->body - 1);
        if (run.len > 0) memcpy(reading->body + body_len, run.at, run.len);
        body_len += run.len;
        used += step;
    }
    reading->whole = used == len && bb__body_done(&decoder);
}

static struct reading read_as_client(const char *wire, size_t len, bool head_method, unsigned minor_version)
{
    char head[1024] = "";
    const char *end = strstr(wire, "\r\n\r\n");
    assert_non_null(end);
    memcpy(head, wire, (size_t)(end + 2 - wire));
    int status = atoi(head + strlen("HTTP/1.1 "));

    struct reading reading = {
        .lengths = count(head, "\r\nContent-Length: "),
        .codings = count(head, "\r\nTransfer-Encoding: "),
        .options = count(head, "\r\nConnection: "),
        .persists = minor_version > 0 ? strstr(head, "\r\nConnection: close\r\n") == NULL
                                      : strstr(head, "\r\nConnection: keep-alive\r\n") != NULL,
    };
    bool bodyless = head_method || status < 200 || status == 204 || status == 304;
    read_body(&reading, head, end + 4, len - (size_t)(end + 4 - wire), bodyless);
    return reading;
}

static struct encode encode_combination(struct combination given)
{
    struct encode encode = {.reply = {.head_method = given.head_method,
                                      .minor_version = given.minor_version,
                                      .chunked_transfer = given.chunked_transfer,
                                      .keep_alive = given.keep_alive}};
    assert_int_equal(bb__h1_reply_start(&encode.reply, &encode.out, given.status), BB_OK);
    if (given.app_length) assert_int_equal(encode_field(&encode, "content-length", "5"), BB_OK);
    if (given.app_chunked) assert_int_equal(encode_field(&encode, "transfer-encoding", "chunked"), BB_OK);
    if (given.app_close) assert_int_equal(encode_field(&encode, "connection", "close"), BB_OK);
    assert_int_equal(encode_head(&encode, given.known_length ? 5 : BB_LENGTH_UNKNOWN), BB_OK);
    if (given.app_chunked) {
        encode_part(&encode, "5\r\nhello\r\n", 10);
        encode_part(&encode, "0\r\n\r\n", 5);
    } else {
        encode_part(&encode, "hel", 3);
        encode_part(&encode, "", 0);
        encode_part(&encode, "lo", 2);
    }
    assert_int_equal(encode_end(&encode), BB_OK);
    return encode;
}

static void check_combination(struct combination given)
{
    struct encode encode = encode_combination(given);
    const char *wire = encode_text(&encode);
    struct reading seen =
        read_as_client(wire, bb__buf_len(&encode.wire), given.head_method, given.minor_version);
    bool reset = given.status == 205;
    bool bodyless =
        given.head_method || given.status < 200 || given.status == 204 || reset || given.status == 304;
    bool may_have_length = given.status >= 200 && given.status != 204;

    /* The client gets the body and nothing else. */
    assert_true(seen.whole);
    assert_string_equal(seen.body, bodyless ? "" : "hello");

    /* Client and encoder agree on whether the connection persists. It persists if the request, the
     * application, the status and the framing allow it. */
    assert_in_range(seen.options, 0, 1);
    assert_int_equal(seen.persists, encode.reply.keep_alive);
    assert_int_equal(seen.persists,
                     given.keep_alive && !given.app_close && given.status >= 200 && !seen.until_close);
    assert_true(given.minor_version == 0 || strstr(wire, "Connection: keep-alive") == NULL);

    /* At most one field frames the body. */
    assert_in_range(seen.lengths + seen.codings, 0, 1);
    if (bodyless) {
        assert_int_equal(seen.codings, 0);
        assert_int_equal(seen.lengths, reset || (may_have_length && given.app_length && !given.app_chunked));
        if (reset) assert_non_null(strstr(wire, "Content-Length: 0\r\n"));
    } else if (given.app_chunked) {
        assert_int_equal(seen.codings, given.minor_version);
    } else if (given.app_length || given.known_length) {
        assert_int_equal(seen.lengths, 1);
    } else {
        assert_int_equal(seen.codings, given.minor_version > 0 && given.chunked_transfer);
    }
    encode_free(&encode);
}

static void test_a_client_reads_each_combination_back(void **state)
{
    (void)state;
    for (unsigned number = 0; number < COMBINATIONS; ++number) check_combination(combination_of(number));
}

/* Encodes a response to an HTTP/1.`minor_version` request. The response has one field, and a body in pieces
 * of `piece` bytes. */
static struct encode encode_body(uint8_t minor_version, const char *name, const char *value, const char *body,
                                 size_t piece)
{
    struct encode encode = encode_new();
    encode.reply.minor_version = minor_version;
    assert_int_equal(encode_field(&encode, name, value), BB_OK);
    assert_int_equal(encode_head(&encode, BB_LENGTH_UNKNOWN), BB_OK);
    bb__buf_clear(&encode.wire);
    for (size_t at = 0, len = strlen(body); at < len; at += piece)
        if (!encode_part(&encode, body + at, piece < len - at ? piece : len - at)) break;
    return encode;
}

/* Encodes a response with one field. Tries each size of the body's pieces. wire: the expected bytes. ended:
 * the expected result at the end of the body. */
static void check_body(uint8_t minor_version, const char *name, const char *value, const char *body,
                       const char *wire, int ended, bool keep_alive)
{
    for (size_t piece = 1; piece <= strlen(body); ++piece) {
        struct encode encode = encode_body(minor_version, name, value, body, piece);
        assert_int_equal(encode_end(&encode), ended);
        assert_string_equal(encode_text(&encode), wire);
        assert_int_equal(encode.reply.keep_alive, keep_alive);
        encode_free(&encode);
    }
}

static void test_a_body_that_differs_from_its_length_is_cut_or_short(void **state)
{
    (void)state;
    check_body(1, "Content-Length", "5", "hello", "hello", BB_OK, true);
    check_body(1, "Content-Length", "4", "hello", "hell", BB_OK, false);
    check_body(1, "Content-Length", "0", "hello", "", BB_OK, false);
    check_body(1, "Content-Length", "6", "hello", "hello", BB_ESHORT, false);
    check_body(0, "Content-Length", "2", "helloHTTP/1.1 200 OK\r\n", "he", BB_OK, false);
}

static void test_a_body_of_unknown_length_is_sent_in_chunks(void **state)
{
    (void)state;
    struct encode encode = encode_new();
    assert_int_equal(encode_head(&encode, BB_LENGTH_UNKNOWN), BB_OK);
    bb__buf_clear(&encode.wire);
    encode_part(&encode, "", 0);
    encode_part(&encode, "a", 1);
    encode_part(&encode, "", 0);
    encode_part(&encode, "0\r\n\r\n0123456789abcdef", 21);
    assert_int_equal(encode_end(&encode), BB_OK);
    assert_string_equal(encode_text(&encode), "1\r\na\r\n15\r\n0\r\n\r\n0123456789abcdef\r\n0\r\n\r\n");
    assert_true(encode.reply.keep_alive);
    encode_free(&encode);
}

static void test_an_empty_body_in_chunks_has_a_last_chunk_only(void **state)
{
    (void)state;
    struct encode encode = encode_new();
    assert_int_equal(encode_head(&encode, BB_LENGTH_UNKNOWN), BB_OK);
    bb__buf_clear(&encode.wire);
    assert_int_equal(encode_end(&encode), BB_OK);
    assert_string_equal(encode_text(&encode), "0\r\n\r\n");
    encode_free(&encode);
}

#define CHUNKED "Transfer-Encoding", "chunked"

static void test_chunks_of_the_application_are_sent_as_they_are(void **state)
{
    (void)state;
    const char *whole = "5;a=b\r\nhello\r\n1\r\n!\r\n0\r\nT: x\r\n\r\n";
    check_body(1, CHUNKED, whole, whole, BB_OK, true);
    check_body(1, CHUNKED, "5\r\nhello\r\n", "5\r\nhello\r\n", BB_ECHUNKS, false);
    check_body(1, CHUNKED, "5\r\nhel", "5\r\nhel", BB_ECHUNKS, false);
    check_body(1, CHUNKED, "0\r\n", "0\r\n", BB_ECHUNKS, false);
    /* The application must not smuggle in a second response behind the last chunk or behind an error. */
    check_body(1, CHUNKED, "0\r\n\r\nHTTP/1.1 200 OK\r\n\r\n", "0\r\n\r\n", BB_OK, false);
    check_body(1, CHUNKED, "hello", "", BB_ECHUNKS, false);
    check_body(1, CHUNKED, "5\r\nhello\n0\r\n\r\n", "5\r\nhello", BB_ECHUNKS, false);
}

static void test_chunks_of_the_application_are_decoded_for_http_1_0(void **state)
{
    (void)state;
    check_body(0, CHUNKED, "5;a=b\r\nhello\r\n1\r\n!\r\n0\r\nT: x\r\n\r\n", "hello!", BB_OK, false);
    check_body(0, CHUNKED, "5\r\nhello\r\n", "hello", BB_ECHUNKS, false);
    check_body(0, CHUNKED, "0\r\n\r\nmore", "", BB_OK, false);
    check_body(0, CHUNKED, "1\r\na\r\n0\r\n\r\nmore", "a", BB_OK, false);
    check_body(0, CHUNKED, "5\r\nhello\n0\r\n\r\n", "hello", BB_ECHUNKS, false);
}

/* Returns how many bytes of the first part the encoder has used. */
static size_t use_first_part(uint8_t minor_version, const char *part)
{
    struct encode encode = encode_body(minor_version, CHUNKED, "", 1);
    char chunk_head[BB_CHUNK_HEAD_MAX];
    struct bb_slice spans[BB_PART_SPANS];
    size_t used;
    (void)bb__h1_reply_part(&encode.reply, part, strlen(part), chunk_head, spans, &used);
    encode_free(&encode);
    return used;
}

/* The host reports the error before it sends the head. */
static void test_a_first_part_that_is_no_chunk_is_rejected(void **state)
{
    (void)state;
    for (uint8_t minor_version = 0; minor_version < 2; ++minor_version) {
        assert_int_equal(use_first_part(minor_version, "hello"), 0);
        assert_int_equal(use_first_part(minor_version, "\r\n"), 0);
        assert_int_equal(use_first_part(minor_version, "1\r\na\r\n0\r\n\r\nmore") > 0, true);
        assert_int_equal(use_first_part(minor_version, "5"), 1);
    }
}

static void test_missing_chunks_of_the_application_are_an_error(void **state)
{
    (void)state;
    for (uint8_t minor_version = 0; minor_version < 2; ++minor_version) {
        struct encode encode = encode_body(minor_version, CHUNKED, "", 1);
        assert_int_equal(encode_end(&encode), BB_ECHUNKS);
        encode_free(&encode);
    }
}

/* After a partial hijack the application sends its chunks past the encoder, also to an HTTP/1.0 client. */
static void test_the_coding_of_a_body_past_the_encoder_is_announced(void **state)
{
    (void)state;
    for (uint8_t minor_version = 0; minor_version < 2; ++minor_version) {
        struct encode encode = encode_new();
        encode.reply.minor_version = minor_version;
        assert_int_equal(encode_field(&encode, CHUNKED), BB_OK);
        assert_int_equal(encode_head(&encode, BB_LENGTH_RAW), BB_OK);
        assert_string_equal(encode_head_text(&encode), "HTTP/1.1 200 OK\r\nDate: @\r\nTransfer-Encoding: "
                                                       "chunked\r\nConnection: close\r\n\r\n");
        encode_free(&encode);
    }
}

static void test_a_chunk_head_has_the_size_in_hexadecimal(void **state)
{
    (void)state;
    static const uint64_t sizes[] = {
        1, 9, 10, 15, 16, 255, 256, 4096, 65535, 1 << 20, UINT64_MAX >> 4, UINT64_MAX};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; ++i) {
        char head[BB_CHUNK_HEAD_MAX], expected[32];
        int len = snprintf(expected, sizeof expected, "%llx\r\n", (unsigned long long)sizes[i]);
        assert_int_equal(bb__h1_chunk_head(head, sizes[i]), len);
        assert_memory_equal(head, expected, (size_t)len);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_client_reads_each_combination_back),
        cmocka_unit_test(test_a_body_that_differs_from_its_length_is_cut_or_short),
        cmocka_unit_test(test_a_body_of_unknown_length_is_sent_in_chunks),
        cmocka_unit_test(test_an_empty_body_in_chunks_has_a_last_chunk_only),
        cmocka_unit_test(test_chunks_of_the_application_are_sent_as_they_are),
        cmocka_unit_test(test_chunks_of_the_application_are_decoded_for_http_1_0),
        cmocka_unit_test(test_a_first_part_that_is_no_chunk_is_rejected),
        cmocka_unit_test(test_missing_chunks_of_the_application_are_an_error),
        cmocka_unit_test(test_the_coding_of_a_body_past_the_encoder_is_announced),
        cmocka_unit_test(test_a_chunk_head_has_the_size_in_hexadecimal),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
