/* h1_reply_file_test.c: the head of a response whose body is a file, and the pieces of its body. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "http/h1_reply_file.h"

#include <stdlib.h>

static const char boundary[] = "0123456789abcdef0123456789abcdef";

static struct bb__h1_reply reply;
static struct bb__buf head;
static struct bb__file_body body;

static void begin(int status)
{
    reply = (struct bb__h1_reply){.minor_version = 1, .chunked_transfer = true, .keep_alive = true};
    assert_int_equal(bb__h1_reply_start(&reply, &head, status), BB_OK);
}

static void add(const char *name, const char *value)
{
    assert_int_equal(bb__h1_reply_field(&reply, &head, name, strlen(name), value, strlen(value)), BB_OK);
}

/* Makes the reply for a request. range, condition: values of Range and If-Range, or NULL. */
static void choose(const char *method, const char *range, const char *condition, uint64_t size)
{
    struct bb_field fields[3] = {{.name = "x-other", .name_len = 7, .value = "1", .value_len = 1}};
    unsigned count = 1;
    if (range)
        fields[count++] = (struct bb_field){
            .name = "RANGE", .name_len = 5, .value = range, .value_len = (uint32_t)strlen(range)};
    if (condition)
        fields[count++] = (struct bb_field){
            .name = "if-range", .name_len = 8, .value = condition, .value_len = (uint32_t)strlen(condition)};
    struct bb_head request = {
        .method = {method, strlen(method)}, .fields = fields, .field_count = count, .minor_version = 1};
    reply.head_method = strcmp(method, "HEAD") == 0;
    assert_true(bb__h1_reply_takes_file(&reply, &head, size));
    assert_int_equal(bb__h1_reply_file(&reply, &head, &request, size, boundary, &body), BB_OK);
    assert_true(reply.has_length);
    assert_int_equal(reply.content_length, body.length);
}

static void assert_head(const char *expected)
{
    assert_int_equal(bb__buf_append(&head, "", 1), BB_OK);
    assert_string_equal(bb__buf_bytes(&head), expected);
    bb__buf_free(&head);
}

static void assert_piece(unsigned at, size_t text_len, uint64_t first, uint64_t len)
{
    assert_true(at < body.count);
    assert_int_equal(body.pieces[at].text_len, text_len);
    assert_int_equal(body.pieces[at].first, first);
    assert_int_equal(body.pieces[at].len, len);
}

static void test_a_whole_file(void **state)
{
    (void)state;
    begin(200);
    add("etag", "\"a\"");
    choose("GET", NULL, NULL, 100);
    assert_head("HTTP/1.1 200 OK\r\netag: \"a\"\r\nAccept-Ranges: bytes\r\n");
    assert_int_equal(body.count, 1);
    assert_piece(0, 0, 0, 100);
}

static void test_a_range(void **state)
{
    (void)state;
    begin(200);
    add("content-type", "text/plain");
    choose("GET", "bytes=10-19", NULL, 100);
    assert_head("HTTP/1.1 206 Partial Content\r\ncontent-type: text/plain\r\nAccept-Ranges: bytes\r\n"
                "Content-Range: bytes 10-19/100\r\n");
    assert_int_equal(body.count, 1);
    assert_piece(0, 0, 10, 10);
    assert_int_equal(reply.status, 206);
}

static void assert_text(size_t at, const char *expected)
{
    assert_memory_equal(bb__buf_bytes(&body.text) + at, expected, strlen(expected));
}

static void test_several_ranges(void **state)
{
    (void)state;
    static const char first[] = "--0123456789abcdef0123456789abcdef\r\nContent-Type: text/plain\r\n"
                                "Content-Range: bytes 0-0/100\r\n\r\n";
    static const char second[] = "\r\n--0123456789abcdef0123456789abcdef\r\nContent-Type: text/plain\r\n"
                                 "Content-Range: bytes 95-99/100\r\n\r\n";
    static const char last[] = "\r\n--0123456789abcdef0123456789abcdef--\r\n";
    begin(200);
    add("content-type", "text/plain");
    add("x-kept", "1");
    choose("GET", "bytes=0-0,-5", NULL, 100);
    assert_head("HTTP/1.1 206 Partial Content\r\nx-kept: 1\r\nAccept-Ranges: bytes\r\n"
                "Content-Type: multipart/byteranges; boundary=0123456789abcdef0123456789abcdef\r\n");
    assert_int_equal(body.count, 3);
    assert_piece(0, sizeof first - 1, 0, 1);
    assert_piece(1, sizeof second - 1, 95, 5);
    assert_piece(2, sizeof last - 1, 0, 0);
    assert_text(0, first);
    assert_text(sizeof first - 1, second);
    assert_text(sizeof first + sizeof second - 2, last);
    assert_int_equal(body.length, sizeof first + sizeof second + sizeof last - 3 + 6);
    bb__buf_free(&body.text);
}

static void test_parts_without_a_type(void **state)
{
    (void)state;
    begin(200);
    choose("GET", "bytes=0-0,-5", NULL, 100);
    assert_text(0, "--0123456789abcdef0123456789abcdef\r\nContent-Range: bytes 0-0/100\r\n\r\n");
    bb__buf_free(&head);
    bb__buf_free(&body.text);
}

/* The encoding would apply to the multipart body as well, and the client could not decode it. */
static void test_an_encoded_file_is_not_sent_in_several_ranges(void **state)
{
    (void)state;
    static const struct {
        const char *range;
        int status;
    } cases[] = {{"bytes=0-0,-5", 200}, {"bytes=0-0", 206}, {"bytes=0-0,100-", 206}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        begin(200);
        add("content-encoding", "gzip");
        choose("GET", cases[i].range, NULL, 100);
        assert_int_equal(reply.status, cases[i].status);
        assert_int_equal(body.count, 1);
        bb__buf_free(&head);
        bb__buf_free(&body.text);
    }
}

/* A cache must not store the 416 as the response to a request without Range. */
static void test_ranges_beyond_the_end(void **state)
{
    (void)state;
    begin(200);
    add("Content-Type", "text/plain");
    add("Content-Disposition", "attachment");
    add("ETag", "\"a\"");
    add("Last-Modified", "Tue, 01 Jan 2030 00:00:00 GMT");
    add("Cache-Control", "max-age=60");
    add("Expires", "Tue, 01 Jan 2030 00:00:00 GMT");
    add("Set-Cookie", "a=b");
    add("Content-Length", "100");
    choose("GET", "bytes=100-", NULL, 100);
    assert_head("HTTP/1.1 416 Range Not Satisfiable\r\nSet-Cookie: a=b\r\nAccept-Ranges: bytes\r\n"
                "Content-Range: bytes */100\r\n");
    assert_int_equal(body.count, 0);
    assert_int_equal(body.length, 0);
}

static int status_for(const char *method, int status, const char *range, const char *condition,
                      const char *etag, const char *accept)
{
    begin(status);
    if (etag) add("etag", etag);
    if (accept) add("accept-ranges", accept);
    choose(method, range, condition, 100);
    bb__buf_free(&head);
    bb__buf_free(&body.text);
    return reply.status;
}

static void test_when_ranges_apply(void **state)
{
    (void)state;
    assert_int_equal(status_for("GET", 200, "bytes=0-0", NULL, NULL, NULL), 206);
    assert_int_equal(status_for("GET", 200, "bytes=0-0", NULL, NULL, "bytes"), 206);
    assert_int_equal(status_for("GET", 200, "bytes=0-0", NULL, NULL, "None"), 200);
    assert_int_equal(status_for("HEAD", 200, "bytes=0-0", NULL, NULL, NULL), 200);
    assert_int_equal(status_for("POST", 200, "bytes=0-0", NULL, NULL, NULL), 200);
    assert_int_equal(status_for("GET", 404, "bytes=0-0", NULL, NULL, NULL), 404);
    assert_int_equal(status_for("GET", 203, "bytes=0-0", NULL, NULL, NULL), 203);
    assert_int_equal(status_for("GET", 200, "bytes=0-0", "\"a\"", "\"a\"", NULL), 206);
    assert_int_equal(status_for("GET", 200, "bytes=0-0", "\"a\"", "\"b\"", NULL), 200);
    assert_int_equal(status_for("GET", 200, "bytes=500-", "\"a\"", "\"b\"", NULL), 200);
    assert_int_equal(status_for("GET", 200, NULL, "\"a\"", "\"a\"", NULL), 200);
}

/* RFC 9110 14.2: Range is no list, so a second field makes the first one ambiguous. */
static void test_two_range_fields_are_ignored(void **state)
{
    (void)state;
    struct bb_field fields[2] = {{.name = "range", .name_len = 5, .value = "bytes=0-0", .value_len = 9}};
    fields[1] = fields[0];
    struct bb_head request = {.method = {"GET", 3}, .fields = fields, .field_count = 2};
    begin(200);
    assert_int_equal(bb__h1_reply_file(&reply, &head, &request, 100, boundary, &body), BB_OK);
    assert_int_equal(reply.status, 200);
    bb__buf_free(&head);
}

static void test_a_shorter_length_of_the_application_counts(void **state)
{
    (void)state;
    begin(200);
    add("content-length", "40");
    choose("GET", "bytes=30-", NULL, 100);
    assert_head("HTTP/1.1 206 Partial Content\r\nAccept-Ranges: bytes\r\nContent-Range: bytes 30-39/40\r\n");
    assert_piece(0, 0, 30, 10);
}

static bool takes(int status, const char *name, const char *value)
{
    begin(status);
    if (name) add(name, value);
    bool result = bb__h1_reply_takes_file(&reply, &head, 100);
    bb__buf_free(&head);
    return result;
}

static void test_which_responses_take_a_file(void **state)
{
    (void)state;
    assert_true(takes(200, NULL, NULL));
    assert_true(takes(404, NULL, NULL));
    assert_true(takes(200, "content-length", "100"));
    assert_true(takes(200, "content-length", "0"));
    assert_false(takes(200, "content-length", "101"));
    assert_false(takes(200, "Content-Range", "bytes 0-9/100"));
    assert_false(takes(200, "transfer-encoding", "chunked"));
    static const int others[] = {101, 204, 205, 206, 304};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) assert_false(takes(others[i], NULL, NULL));
}

static void test_fields_are_found_and_removed(void **state)
{
    (void)state;
    begin(200);
    assert_null(bb__h1_reply_find(&head, "x-a").at);
    add("X-A", " one ");
    add("X-AB", "two");
    add("x-a", "three");
    add("x-b", "");
    struct bb_slice found = bb__h1_reply_find(&head, "x-a");
    assert_int_equal(found.len, 5);
    assert_memory_equal(found.at, "three", 5);
    assert_non_null(bb__h1_reply_find(&head, "x-b").at);
    assert_int_equal(bb__h1_reply_find(&head, "x-b").len, 0);
    bb__h1_reply_remove(&head, "x-a");
    assert_head("HTTP/1.1 200 OK\r\nX-AB: two\r\nx-b: \r\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_whole_file),
        cmocka_unit_test(test_a_range),
        cmocka_unit_test(test_several_ranges),
        cmocka_unit_test(test_parts_without_a_type),
        cmocka_unit_test(test_an_encoded_file_is_not_sent_in_several_ranges),
        cmocka_unit_test(test_ranges_beyond_the_end),
        cmocka_unit_test(test_when_ranges_apply),
        cmocka_unit_test(test_two_range_fields_are_ignored),
        cmocka_unit_test(test_a_shorter_length_of_the_application_counts),
        cmocka_unit_test(test_which_responses_take_a_file),
        cmocka_unit_test(test_fields_are_found_and_removed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
