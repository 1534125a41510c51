/* h1_reply_test.c: the bytes of response heads: status lines, fields that the core adds, error responses, and
 * failed allocations. h1_reply_fields_test.c tests the application's fields. h1_framing_test.c tests the
 * body. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "http/h1_status.h"
#include "support/encode.h"
#include "support/fail_alloc.h"

static void test_known_statuses_have_a_reason_phrase(void **state)
{
    (void)state;
    static const struct {
        int status;
        const char *line;
    } cases[] = {
        {100, "HTTP/1.1 100 Continue\r\n"},   {200, "HTTP/1.1 200 OK\r\n"},
        {204, "HTTP/1.1 204 No Content\r\n"}, {404, "HTTP/1.1 404 Not Found\r\n"},
        {418, "HTTP/1.1 418 \r\n"},           {431, "HTTP/1.1 431 Request Header Fields Too Large\r\n"},
        {299, "HTTP/1.1 299 \r\n"},           {511, "HTTP/1.1 511 Network Authentication Required\r\n"},
        {512, "HTTP/1.1 512 \r\n"},           {999, "HTTP/1.1 999 \r\n"},
    };
    struct encode encode = encode_new();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
        assert_int_equal(bb__h1_reply_start(&encode.reply, &encode.out, cases[i].status), BB_OK);
        assert_string_equal(encode_head_text(&encode), cases[i].line);
    }
    encode_free(&encode);
}

static void test_each_status_line_fits(void **state)
{
    (void)state;
    for (int status = 100; status <= 999; ++status) {
        char line[BB_STATUS_LINE_MAX], start[32];
        int start_len = snprintf(start, sizeof start, "HTTP/1.1 %d ", status);
        size_t len = bb__h1_put_status_line(line, status);
        assert_in_range(len, (size_t)start_len + 2, sizeof line);
        assert_memory_equal(line, start, (size_t)start_len);
        assert_ptr_equal(memchr(line, '\r', len), line + len - 2);
        assert_int_equal(line[len - 1], '\n');
    }
}

static void test_a_status_outside_100_to_999_is_rejected(void **state)
{
    (void)state;
    static const int cases[] = {99, 0, -1, -200, 1000, 2000000000};
    struct encode encode = encode_new();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i)
        assert_int_equal(bb__h1_reply_start(&encode.reply, &encode.out, cases[i]), BB_ESTATUS);
    encode_free(&encode);
}

static void test_a_head_has_the_fields_that_the_core_adds(void **state)
{
    (void)state;
    struct encode encode = encode_new();
    assert_int_equal(encode_field(&encode, "A", "b"), BB_OK);
    assert_int_equal(bb__h1_reply_head(&encode.reply, &encode.out, 5, &encode.date, "bontebok"), BB_OK);
    assert_string_equal(
        encode_head_text(&encode),
        "HTTP/1.1 200 OK\r\nA: b\r\nDate: @\r\nServer: bontebok\r\nContent-Length: 5\r\n\r\n");

    encode.reply.minor_version = 0;
    bb__h1_reply_start(&encode.reply, &encode.out, 500);
    bb__h1_reply_head(&encode.reply, &encode.out, UINT64_MAX - 2, &encode.date, "");
    assert_string_equal(
        encode_head_text(&encode),
        "HTTP/1.1 500 Internal Server Error\r\nDate: @\r\nContent-Length: 18446744073709551613\r\n"
        "Connection: keep-alive\r\n\r\n");

    bb__h1_reply_start(&encode.reply, &encode.out, 200);
    bb__h1_reply_head(&encode.reply, &encode.out, BB_LENGTH_UNKNOWN, &encode.date, "");
    assert_string_equal(encode_head_text(&encode), "HTTP/1.1 200 OK\r\nDate: @\r\nConnection: close\r\n\r\n");

    encode.reply.minor_version = 1;
    encode.reply.keep_alive = true;
    bb__h1_reply_start(&encode.reply, &encode.out, 200);
    bb__h1_reply_head(&encode.reply, &encode.out, BB_LENGTH_UNKNOWN, &encode.date, "");
    assert_string_equal(encode_head_text(&encode),
                        "HTTP/1.1 200 OK\r\nDate: @\r\nTransfer-Encoding: chunked\r\n\r\n");
    encode_free(&encode);
}

static void test_a_content_length_has_all_its_digits(void **state)
{
    (void)state;
    static const uint64_t lengths[] = {0,
                                       1,
                                       9,
                                       10,
                                       11,
                                       99,
                                       100,
                                       101,
                                       999,
                                       1000,
                                       65535,
                                       4294967295,
                                       4294967296,
                                       9999999999999999999U,
                                       10000000000000000000U,
                                       UINT64_MAX};
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
        char digits[24], expected[100];
        struct encode encode = encode_new();
        (void)snprintf(digits, sizeof digits, "%llu", (unsigned long long)lengths[i]);
        assert_int_equal(encode_field(&encode, "Content-Length", digits), BB_OK);
        assert_int_equal(encode_head(&encode, BB_LENGTH_UNKNOWN), BB_OK);
        (void)snprintf(expected, sizeof expected, "HTTP/1.1 200 OK\r\nDate: @\r\nContent-Length: %s\r\n\r\n",
                       digits);
        assert_string_equal(encode_head_text(&encode), expected);
        encode_free(&encode);
    }
}

/* The buffer has any number of bytes left. ASan reports a byte behind its end. */
static void test_the_longest_fields_of_the_core_fit(void **state)
{
    (void)state;
    static char filler[3000], server[200];
    memset(filler, 'f', sizeof filler);
    memset(server, 's', sizeof server - 1);
    const struct bb__h1_error error = {.status = 405, .retry_after = UINT32_MAX, .minor_version = 1};
    for (size_t len = 1; len < sizeof filler; len++) {
        struct encode encode = encode_new();
        encode.reply.keep_alive = false;
        assert_int_equal(encode_bytes(&encode, "X", filler, len), BB_OK);
        assert_int_equal(encode_field(&encode, "Upgrade", "x"), BB_OK);
        assert_int_equal(encode_field(&encode, "Content-Length", "18446744073709551615"), BB_OK);
        assert_int_equal(
            bb__h1_reply_head(&encode.reply, &encode.out, BB_LENGTH_UNKNOWN, &encode.date, server), BB_OK);
        encode_free(&encode);

        struct bb__buf out = {0};
        assert_int_equal(bb__buf_append(&out, filler, len), BB_OK);
        assert_int_equal(bb__h1_reply_error(&out, &error, &encode.date, server), BB_OK);
        bb__buf_free(&out);
    }
}

static void test_date_and_server_are_not_doubled(void **state)
{
    (void)state;
    struct encode encode = encode_new();
    assert_int_equal(encode_field(&encode, "DATE", "now"), BB_OK);
    assert_int_equal(encode_field(&encode, "server", "app"), BB_OK);
    assert_int_equal(bb__h1_reply_head(&encode.reply, &encode.out, 0, &encode.date, "bontebok"), BB_OK);
    assert_string_equal(encode_head_text(&encode),
                        "HTTP/1.1 200 OK\r\nDATE: now\r\nserver: app\r\nContent-Length: 0\r\n\r\n");
    encode_free(&encode);
}

static void test_start_forgets_the_response_before(void **state)
{
    (void)state;
    struct encode encode = encode_new();
    encode_field(&encode, "Date", "now");
    encode_field(&encode, "Server", "app");
    encode_field(&encode, "Connection", "close");
    encode_field(&encode, "Transfer-Encoding", "chunked");
    encode_field(&encode, "Content-Length", "7");
    assert_int_equal(encode_field(&encode, "X", "a\nb\r"), BB_EVALUE);

    assert_int_equal(bb__h1_reply_start(&encode.reply, &encode.out, 500), BB_OK);
    assert_int_equal(bb__h1_reply_head(&encode.reply, &encode.out, 2, &encode.date, "s"), BB_OK);
    assert_string_equal(
        encode_head_text(&encode),
        "HTTP/1.1 500 Internal Server Error\r\nDate: @\r\nServer: s\r\nContent-Length: 2\r\n\r\n");
    encode_free(&encode);
}

static void test_an_error_response_is_complete(void **state)
{
    (void)state;
    struct encode encode = encode_new();
    bb__buf_clear(&encode.out);
    bb__buf_append(&encode.out, "before ", 7);
    assert_int_equal(bb__h1_reply_error(&encode.out, &(struct bb__h1_error){.status = 400}, &encode.date, ""),
                     BB_OK);
    assert_string_equal(
        encode_head_text(&encode),
        "before HTTP/1.1 400 Bad Request\r\nDate: @\r\nContent-Type: text/plain\r\nContent-Length: 16\r\n"
        "Connection: close\r\n\r\n400 Bad Request\n");
    bb__buf_clear(&encode.out);
    assert_int_equal(bb__h1_reply_error(&encode.out,
                                        &(struct bb__h1_error){.status = 417, .head_method = true},
                                        &encode.date, "bontebok"),
                     BB_OK);
    assert_string_equal(encode_head_text(&encode),
                        "HTTP/1.1 417 Expectation Failed\r\nDate: @\r\nServer: bontebok\r\n"
                        "Content-Type: text/plain\r\n"
                        "Content-Length: 23\r\nConnection: close\r\n\r\n");
    encode_free(&encode);
}

static void test_an_error_response_may_keep_the_connection(void **state)
{
    (void)state;
    static const char *const connection[] = {"Connection: keep-alive\r\n", ""};
    struct encode encode = encode_new();
    for (uint8_t minor = 0; minor <= 1; minor++) {
        const struct bb__h1_error error = {
            .status = 503, .keep_alive = true, .minor_version = minor, .retry_after = 12};
        char expected[256];
        snprintf(expected, sizeof expected,
                 "HTTP/1.1 503 Service Unavailable\r\nDate: @\r\nContent-Type: text/plain\r\n"
                 "Content-Length: 24\r\nRetry-After: 12\r\n%s\r\n503 Service Unavailable\n",
                 connection[minor]);
        bb__buf_clear(&encode.out);
        assert_int_equal(bb__h1_reply_error(&encode.out, &error, &encode.date, ""), BB_OK);
        assert_string_equal(encode_head_text(&encode), expected);
    }
    encode_free(&encode);
}

/* Tries 0 to 511 free bytes in the buffer. ASan detects a write beyond the buffer. */
static void test_each_step_makes_room_in_the_buffer(void **state)
{
    (void)state;
    char server[300];
    memset(server, 's', sizeof server - 1);
    server[sizeof server - 1] = '\0';
    for (size_t room = 0; room < 512; ++room) {
        struct encode encode = encode_new();
        encode.out.end = encode.out.cap - room;
        memset(encode.out.data, 'x', encode.out.end);
        assert_int_equal(bb__h1_reply_head(&encode.reply, &encode.out, UINT64_MAX - 2, &encode.date, server),
                         BB_OK);
        encode_free(&encode);

        encode = encode_new();
        encode.out.end = encode.out.cap - room;
        assert_int_equal(
            bb__h1_reply_error(&encode.out, &(struct bb__h1_error){.status = 431}, &encode.date, server),
            BB_OK);
        encode_free(&encode);
    }
}

/* Runs all steps of the encoder with an empty buffer that must grow. */
static int long_reply(struct encode *encode, const char *long_value)
{
    encode->reply.keep_alive = true;
    bb__buf_free(&encode->out);
    int code = bb__h1_reply_start(&encode->reply, &encode->out, 200);
    for (int i = 0; code == BB_OK && i < 8; ++i) code = encode_field(encode, "X", long_value);
    if (code != BB_OK) return code;
    code = bb__h1_reply_head(&encode->reply, &encode->out, 0, &encode->date, "bontebok");
    if (code != BB_OK) return code;
    return bb__h1_reply_error(&encode->out, &(struct bb__h1_error){.status = 500}, &encode->date, "");
}

static void test_each_allocation_of_a_response_fails_once(void **state)
{
    (void)state;
    char value[500];
    memset(value, 'v', sizeof value - 1);
    value[sizeof value - 1] = '\0';
    struct encode encode = encode_new();
    int code;
    unsigned n = 1;
    for (; fail_alloc_at(n), code = long_reply(&encode, value), fail_alloc_off(); ++n)
        assert_int_equal(code, BB_ENOMEM);
    assert_int_equal(code, BB_OK);
    assert_in_range(n, 3, 10);
    encode_free(&encode);
}

static void test_each_step_fails_if_there_is_no_memory(void **state)
{
    (void)state;
    struct encode encode = encode_new();
    bb__buf_free(&encode.out);
    fail_alloc_at(1);
    assert_int_equal(bb__h1_reply_start(&encode.reply, &encode.out, 200), BB_ENOMEM);
    fail_alloc_at(1);
    assert_int_equal(encode_field(&encode, "A", "b"), BB_ENOMEM);
    fail_alloc_at(1);
    assert_int_equal(encode_head(&encode, 0), BB_ENOMEM);
    fail_alloc_at(1);
    assert_int_equal(bb__h1_reply_error(&encode.out, &(struct bb__h1_error){.status = 400}, &encode.date, ""),
                     BB_ENOMEM);
    assert_true(fail_alloc_off());
    assert_int_equal(bb__buf_len(&encode.out), 0);
    encode_free(&encode);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_known_statuses_have_a_reason_phrase),
        cmocka_unit_test(test_each_status_line_fits),
        cmocka_unit_test(test_a_status_outside_100_to_999_is_rejected),
        cmocka_unit_test(test_a_head_has_the_fields_that_the_core_adds),
        cmocka_unit_test(test_a_content_length_has_all_its_digits),
        cmocka_unit_test(test_the_longest_fields_of_the_core_fit),
        cmocka_unit_test(test_date_and_server_are_not_doubled),
        cmocka_unit_test(test_start_forgets_the_response_before),
        cmocka_unit_test(test_an_error_response_is_complete),
        cmocka_unit_test(test_an_error_response_may_keep_the_connection),
        cmocka_unit_test(test_each_step_makes_room_in_the_buffer),
        cmocka_unit_test(test_each_allocation_of_a_response_fails_once),
        cmocka_unit_test(test_each_step_fails_if_there_is_no_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
