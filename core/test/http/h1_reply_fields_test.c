/* h1_reply_fields_test.c: the application's fields: which fields are sent, interpreted, dropped or rejected.
 * A value must not smuggle in a line with another field name. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "support/encode.h"
#include "support/guard.h"

static void test_fields_of_the_application_pass(void **state)
{
    (void)state;
    struct encode encode = encode_new();
    assert_int_equal(encode_field(&encode, "Content-Type", "text/plain"), BB_OK);
    assert_int_equal(encode_field(&encode, "x-empty", ""), BB_OK);
    assert_int_equal(encode_field(&encode, "X-Text", "a\tb \x80\xff \"c\""), BB_OK);
    assert_int_equal(encode_field(&encode, "!#$%&'*+-.^_`|~09azAZ", "x"), BB_OK);
    assert_string_equal(
        encode_head_text(&encode),
        "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nx-empty: \r\nX-Text: a\tb \x80\xff \"c\"\r\n"
        "!#$%&'*+-.^_`|~09azAZ: x\r\n");
    encode_free(&encode);
}

static void test_names_that_resemble_known_names_pass(void **state)
{
    (void)state;
    static const char *const names[] = {"ta",
                                        "dame",
                                        "serves",
                                        "trailer",
                                        "upgraded",
                                        "uphrade",
                                        "set-cookie",
                                        "keep-alivf",
                                        "connectiom",
                                        "content-lengtg",
                                        "content-lengths",
                                        "proxy-connectiom",
                                        "transfer-encodinh",
                                        "transfer-encodings",
                                        "rack.a",
                                        "dat",
                                        "dates",
                                        "connectio",
                                        "connections",
                                        "xtransfer-encoding",
                                        "xe",
                                        "xate",
                                        "xerver",
                                        "xpgrade",
                                        "xonnection",
                                        "xeep-alive",
                                        "xontent-length"};
    for (size_t i = 0; i < sizeof names / sizeof *names; ++i) {
        struct encode encode = encode_new();
        char expected[200];
        snprintf(expected, sizeof expected, "HTTP/1.1 200 OK\r\n%s: close\r\n", names[i]);
        assert_int_equal(encode_field(&encode, names[i], "close"), BB_OK);
        assert_string_equal(encode_head_text(&encode), expected);
        assert_false(encode.reply.has_close || encode.reply.has_date || encode.reply.has_server);
        encode_free(&encode);
    }
}

static void test_connection_fields_are_dropped(void **state)
{
    (void)state;
    static const char *const names[] = {"Keep-Alive", "keep-alive", "Proxy-Connection", "TE",
                                        "te",         "Upgrade",    "Connection"};
    struct encode encode = encode_new();
    for (size_t i = 0; i < sizeof names / sizeof *names; ++i)
        assert_int_equal(encode_field(&encode, names[i], "x"), BB_OK);
    assert_int_equal(encode_field(&encode, "TE", "\r\n\x01"), BB_EVALUE);
    assert_string_equal(encode_head_text(&encode), "HTTP/1.1 200 OK\r\n");
    encode_free(&encode);
}

/* A host that allows several lines in a value adds them one by one after BB_EVALUE. */
static void test_a_rejected_value_leaves_the_head_as_it_was(void **state)
{
    (void)state;
    struct encode encode = encode_new();
    assert_int_equal(encode_field(&encode, "X", "a"), BB_OK);
    assert_int_equal(encode_field(&encode, "X", "b\nContent-Length: 0"), BB_EVALUE);
    assert_int_equal(encode_field(&encode, "\n", "b"), BB_ENAME);
    assert_int_equal(encode_field(&encode, "Content-Length", "5\n"), BB_EVALUE);
    assert_int_equal(encode_field(&encode, "Content-Length", "1"), BB_OK);
    assert_int_equal(encode_field(&encode, "Content-Length", "2"), BB_EVALUE);
    assert_int_equal(encode_field(&encode, "Connection", "close\n"), BB_EVALUE);
    assert_int_equal(encode_field(&encode, "Date", "\n"), BB_EVALUE);
    assert_int_equal(encode_field(&encode, "Server", "\n"), BB_EVALUE);
    assert_int_equal(encode_field(&encode, "Transfer-Encoding", "chunked, gzip"), BB_EVALUE);
    assert_int_equal(encode_field(&encode, "X", "b"), BB_OK);
    assert_int_equal(encode_head(&encode, 1), BB_OK);
    assert_string_equal(encode_head_text(&encode),
                        "HTTP/1.1 200 OK\r\nX: a\r\nX: b\r\nDate: @\r\nContent-Length: 1\r\n\r\n");
    encode_free(&encode);
}

static void test_a_name_that_is_no_token_is_rejected(void **state)
{
    (void)state;
    static const char *const names[] = {"",
                                        " ",
                                        "A ",
                                        " A",
                                        "A:",
                                        "A b",
                                        "A\r\nB",
                                        "A\n",
                                        "A\r",
                                        "A\t",
                                        "\x80",
                                        "A\x7f",
                                        "A(",
                                        "content-length\r",
                                        "connection ",
                                        "te\n",
                                        "A;",
                                        "A/",
                                        "[A]"};
    for (size_t i = 0; i < sizeof names / sizeof *names; ++i) {
        struct encode encode = encode_new();
        assert_int_equal(encode_field(&encode, names[i], "x"), BB_ENAME);
        assert_string_equal(encode_head_text(&encode), "HTTP/1.1 200 OK\r\n");
        encode_free(&encode);
    }
    struct encode encode = encode_new();
    assert_int_equal(bb__h1_reply_field(&encode.reply, &encode.out, "A\0", 2, "x", 1), BB_ENAME);
    encode_free(&encode);
}

/* Tries each byte value at several places of a field value of 1 to 69 bytes, and in fields that the core does
 * not send. */
static void test_control_bytes_in_a_value_are_rejected(void **state)
{
    (void)state;
    for (unsigned value = 0; value < 256; ++value) {
        bool passes = value == '\t' || (value >= ' ' && value != 0x7f);
        for (size_t len = 1; len < 70; ++len) {
            for (size_t place = 0; place < len; place += 7) {
                char bytes[70];
                memset(bytes, 'v', len);
                bytes[place] = (char)value;
                struct encode encode = encode_new();
                assert_int_equal(encode_bytes(&encode, "X", bytes, len), passes ? BB_OK : BB_EVALUE);
                encode_free(&encode);
            }
        }
    }
    struct encode encode = encode_new();
    assert_int_equal(encode_field(&encode, "TE", "a\rb"), BB_EVALUE);
    assert_int_equal(encode_field(&encode, "Connection", "close\r"), BB_EVALUE);
    encode_free(&encode);
}

/* Names and values end right before an inaccessible page. */
static void test_no_byte_behind_a_name_or_value_is_read(void **state)
{
    (void)state;
    static const char *const names[] = {
        "r", "te", "date", "server", "connection", "content-length", "transfer-encoding", "x-any"};
    static const char *const values[] = {"",    "1",  "close",     "close,", "chunked",
                                         "a\n", "\n", "identity ", " ",      "\t, close"};
    struct guard name_guard = guard_new(4096), value_guard = guard_new(4096);
    for (size_t i = 0; i < sizeof names / sizeof *names; ++i) {
        for (size_t j = 0; j < sizeof values / sizeof *values; ++j) {
            struct encode encode = encode_new();
            const char *name = guard_put(&name_guard, names[i], strlen(names[i]));
            const char *value = guard_put(&value_guard, values[j], strlen(values[j]));
            int code = bb__h1_reply_field(&encode.reply, &encode.out, name, strlen(names[i]), value,
                                          strlen(values[j]));
            assert_true(code == BB_OK || code == BB_EVALUE);
            encode_free(&encode);
        }
    }
    guard_free(&name_guard);
    guard_free(&value_guard);
}

static void test_a_long_value_passes_as_a_whole(void **state)
{
    (void)state;
    const size_t len = 3 * 1000 * 1000;
    char *value = malloc(len + 1);
    memset(value, 'v', len);
    value[len] = '\0';
    struct encode encode = encode_new();
    assert_int_equal(encode_field(&encode, "A", "b"), BB_OK);
    assert_int_equal(encode_field(&encode, "X", value), BB_OK);
    size_t before = strlen("HTTP/1.1 200 OK\r\nA: b\r\nX: ");
    assert_int_equal(bb__buf_len(&encode.out), before + len + 2);
    assert_memory_equal(encode.out.data + before, value, len);
    value[len / 2] = '\r';
    assert_int_equal(encode_field(&encode, "X", value), BB_EVALUE);
    encode_free(&encode);
    free(value);
}

static void test_content_length_must_be_a_number(void **state)
{
    (void)state;
    static const struct {
        const char *value;
        int code;
        uint64_t length;
    } cases[] = {
        {"0", BB_OK, 0},
        {"5", BB_OK, 5},
        {"007", BB_OK, 7},
        {" 5\t", BB_OK, 5},
        {"5\n5", BB_EVALUE, 0},
        {"18446744073709551615", BB_OK, UINT64_MAX},
        {"18446744073709551616", BB_EVALUE, 0},
        {"99999999999999999999", BB_EVALUE, 0},
        {"184467440737095516150", BB_EVALUE, 0},
        {"+5", BB_EVALUE, 0},
        {"-5", BB_EVALUE, 0},
        {"0x5", BB_EVALUE, 0},
        {"5,5", BB_EVALUE, 0},
        {"5 5", BB_EVALUE, 0},
        {"5.0", BB_EVALUE, 0},
        {"5:", BB_EVALUE, 0},
        {"5/", BB_EVALUE, 0},
        {"\xb5", BB_EVALUE, 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
        struct encode encode = encode_new();
        assert_int_equal(encode_field(&encode, "CONTENT-Length", cases[i].value), cases[i].code);
        assert_string_equal(encode_head_text(&encode), "HTTP/1.1 200 OK\r\n");
        if (cases[i].code == BB_OK) assert_true(encode.reply.content_length == cases[i].length);
        encode_free(&encode);
    }
}

/* Applications leave out a field by nil or undef, which arrive as an empty value. */
static void test_a_field_of_the_core_without_a_value_counts_as_absent(void **state)
{
    (void)state;
    static const char *const names[] = {"Content-Length", "Transfer-Encoding", "Connection", "Date", "Server",
                                        "Upgrade"};
    static const char *const values[] = {"", " ", "\t "};
    for (size_t i = 0; i < sizeof values / sizeof *values; ++i) {
        struct encode encode = encode_new();
        for (size_t j = 0; j < sizeof names / sizeof *names; ++j)
            assert_int_equal(encode_field(&encode, names[j], values[i]), BB_OK);
        assert_int_equal(bb__h1_reply_head(&encode.reply, &encode.out, 5, &encode.date, "bontebok"), BB_OK);
        assert_string_equal(encode_head_text(&encode),
                            "HTTP/1.1 200 OK\r\nDate: @\r\nServer: bontebok\r\nContent-Length: 5\r\n\r\n");
        encode_free(&encode);
    }
    struct encode encode = encode_new();
    assert_int_equal(bb__h1_reply_start(&encode.reply, &encode.out, 101), BB_OK);
    assert_int_equal(encode_field(&encode, "Upgrade", ""), BB_OK);
    assert_int_equal(encode_field(&encode, "Content-Length", "5"), BB_OK);
    assert_int_equal(encode_field(&encode, "Content-Length", ""), BB_OK);
    assert_int_equal(encode.reply.content_length, 5);
    assert_false(encode.reply.has_upgrade);
    encode_free(&encode);
}

static void test_repeated_content_lengths_must_be_equal(void **state)
{
    (void)state;
    struct encode encode = encode_new();
    assert_int_equal(encode_field(&encode, "Content-Length", "5"), BB_OK);
    assert_int_equal(encode_field(&encode, "content-length", "05"), BB_OK);
    assert_int_equal(encode_field(&encode, "content-length", "6"), BB_EVALUE);
    bb__h1_reply_start(&encode.reply, &encode.out, 200); /* removes the fields */
    assert_int_equal(encode_field(&encode, "content-length", "6"), BB_OK);
    assert_int_equal(encode_head(&encode, 5), BB_OK);
    assert_string_equal(encode_head_text(&encode), "HTTP/1.1 200 OK\r\nDate: @\r\nContent-Length: 6\r\n\r\n");
    encode_free(&encode);
}

static void test_only_chunked_and_identity_are_accepted(void **state)
{
    (void)state;
    static const struct {
        const char *value;
        int code;
        bool chunked;
    } cases[] = {
        {"chunked", BB_OK, true},
        {" Chunked ", BB_OK, true},
        {"identity", BB_OK, false},
        {"IDENTITY, chunked", BB_OK, true},
        {"", BB_OK, false},
        {",", BB_OK, false},
        {"chunked,", BB_OK, true},
        {"identity\nchunked", BB_EVALUE, false},
        {"gzip", BB_EVALUE, false},
        {"gzip, chunked", BB_EVALUE, false},
        {"chunked, gzip", BB_EVALUE, false},
        {"chunked, chunked", BB_EVALUE, false},
        {"xchunked", BB_EVALUE, false},
        {"chunked;q=1", BB_EVALUE, false},
        {"chunked chunked", BB_EVALUE, false},
        {"chunke", BB_EVALUE, false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
        struct encode encode = encode_new();
        assert_int_equal(encode_field(&encode, "transfer-Encoding", cases[i].value), cases[i].code);
        assert_int_equal(encode.reply.has_chunked, cases[i].chunked);
        assert_string_equal(encode_head_text(&encode), "HTTP/1.1 200 OK\r\n");
        encode_free(&encode);
    }
    struct encode encode = encode_new();
    assert_int_equal(encode_field(&encode, "Transfer-Encoding", "chunked"), BB_OK);
    assert_int_equal(encode_field(&encode, "Transfer-Encoding", "chunked"), BB_EVALUE);
    encode_free(&encode);
}

static void test_the_option_close_ends_the_connection(void **state)
{
    (void)state;
    static const struct {
        const char *value;
        bool close;
    } cases[] = {
        {"close", true},      {"Close", true},       {"keep-alive", false}, {"upgrade, close", true},
        {"a,close ,b", true}, {",,\tclose\t", true}, {"closed", false},     {"enclose", false},
        {"close x", false},   {"", false},           {"close;q=1", false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
        struct encode encode = encode_new();
        assert_int_equal(encode_field(&encode, "Connection", cases[i].value), BB_OK);
        assert_int_equal(encode_head(&encode, 0), BB_OK);
        assert_string_equal(
            encode_head_text(&encode),
            cases[i].close ? "HTTP/1.1 200 OK\r\nDate: @\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
                           : "HTTP/1.1 200 OK\r\nDate: @\r\nContent-Length: 0\r\n\r\n");
        assert_int_equal(encode.reply.keep_alive, !cases[i].close);
        encode_free(&encode);
    }
}

static void test_upgrade_is_sent_with_101_and_426(void **state)
{
    (void)state;
    static const struct {
        int status;
        bool keep_alive;
        const char *connection;
    } cases[] = {
        {101, true, "upgrade"},         {101, false, "upgrade"}, {426, true, "upgrade"},
        {426, false, "close, upgrade"}, {200, true, NULL},       {103, false, "close"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
        struct encode encode = encode_new();
        char expected[64] = "";
        encode.reply.keep_alive = cases[i].keep_alive;
        assert_int_equal(bb__h1_reply_start(&encode.reply, &encode.out, cases[i].status), BB_OK);
        assert_int_equal(encode_field(&encode, "UPGRADE", "websocket"), BB_OK);
        assert_int_equal(encode_head(&encode, 0), BB_OK);
        const char *head = encode_head_text(&encode);
        if (cases[i].connection)
            snprintf(expected, sizeof expected, "Connection: %s\r\n", cases[i].connection);
        assert_true(cases[i].connection ? strstr(head, expected) != NULL : !strstr(head, "Connection"));
        assert_int_equal(strstr(head, "UPGRADE: websocket\r\n") != NULL,
                         cases[i].status == 101 || cases[i].status == 426);
        assert_int_equal(encode.reply.framing == BB_FRAMING_NONE, cases[i].status == 103);
        encode_free(&encode);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_fields_of_the_application_pass),
        cmocka_unit_test(test_names_that_resemble_known_names_pass),
        cmocka_unit_test(test_connection_fields_are_dropped),
        cmocka_unit_test(test_a_rejected_value_leaves_the_head_as_it_was),
        cmocka_unit_test(test_a_name_that_is_no_token_is_rejected),
        cmocka_unit_test(test_control_bytes_in_a_value_are_rejected),
        cmocka_unit_test(test_no_byte_behind_a_name_or_value_is_read),
        cmocka_unit_test(test_a_long_value_passes_as_a_whole),
        cmocka_unit_test(test_content_length_must_be_a_number),
        cmocka_unit_test(test_a_field_of_the_core_without_a_value_counts_as_absent),
        cmocka_unit_test(test_repeated_content_lengths_must_be_equal),
        cmocka_unit_test(test_only_chunked_and_identity_are_accepted),
        cmocka_unit_test(test_the_option_close_ends_the_connection),
        cmocka_unit_test(test_upgrade_is_sent_with_101_and_426),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
