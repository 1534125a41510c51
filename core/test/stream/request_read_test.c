/* request_read_test.c: which request bodies the host reads while they come, and how it reads them.
 * request_end_test.c is for their end, request_stream_test.c for streams and hijacked connections. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "request_read_case.h"

/* ---- which requests are unbuffered ---- */

static void app_tells(struct host *host, const struct bb_request *request)
{
    const char *text = request->unbuffered ? "unbuffered" : "complete";
    host_respond(host, 200, text, strlen(text));
}

static void assert_told(const char *line, const char *fields, const char *body, const char *told)
{
    char text[256];
    snprintf(text, sizeof text, "POST %s HTTP/1.1\r\nHost: x\r\n%s\r\n%s", line, fields, body);
    new_client(AF_UNIX, app_tells, text);
    if (told)
        assert_response(client, 200, told);
    else
        assert_silence(client);
    finish();
}

static void test_only_the_given_paths_are_unbuffered(void **state)
{
    (void)state;
    static const char length[] = "Content-Length: 6\r\n", chunked[] = "Transfer-Encoding: chunked\r\n";
    assert_told("/upload", length, "a", "unbuffered");
    assert_told("/upload?a=b", length, "", "unbuffered");
    assert_told("/in/", length, "", "unbuffered");
    assert_told("/in/a/b", chunked, "1\r\n", "unbuffered");
    assert_told("/upload/", length, "a", NULL);
    assert_told("/in", length, "a", NULL);
    assert_told("/", chunked, "1\r\n", NULL);
}

static void test_a_body_that_came_with_the_head_is_complete(void **state)
{
    (void)state;
    assert_told("/upload", "Content-Length: 6\r\n", "abcdef", "complete");
    assert_told("/upload", "Content-Length: 0\r\n", "", "complete");
    assert_told("/upload", "", "", "complete");
}

static void test_a_body_before_an_upgrade_is_complete(void **state)
{
    (void)state;
    static const char upgrade[] = "Content-Length: 6\r\nConnection: Upgrade\r\nUpgrade: x\r\n";
    assert_told("/upload", upgrade, "abc", NULL);
    assert_told("/upload", upgrade, "abcdef", "complete");
}

static void test_a_length_above_max_body_is_rejected_at_once(void **state)
{
    (void)state;
    new_client(AF_UNIX, app_tells, POST "Content-Length: 1001\r\n\r\n");
    assert_response(client, 413, NULL);
    assert_end(client);
    assert_int_equal(client->host->served, 0);
    finish();
}

/* ---- reading ---- */

static void app_reads_six(struct host *host, const struct bb_request *request)
{
    if (!request->unbuffered) {
        app_echo(host, request);
        return;
    }
    assert_read(host, "ab");
    assert_int_equal(read_some(host, MOST), BB_AGAIN);
    say_and_wait(host, "cd");
    assert_int_equal(read_some(host, 1), BB_OK);
    assert_string_equal(bytes, "c");
    assert_int_equal(read_some(host, MOST), BB_OK);
    assert_string_equal(bytes, "d");
    say_and_wait(host, "ef" NEXT);
    assert_read(host, "ef");
    assert_int_equal(read_some(host, MOST), BB_EOF);
    assert_int_equal(read_some(host, MOST), BB_EOF);
    host_respond(host, 200, "read", 4);
}

static void test_the_next_request_follows_the_body(void **state)
{
    (void)state;
    new_client(AF_UNIX, app_reads_six, LENGTH "\r\nab");
    assert_response(client, 200, "read");
    assert_response(client, 200, "GET /next ");
    client_say(client, LENGTH "\r\nab"); /* the connection has no state of the first body */
    assert_response(client, 200, "read");
    assert_response(client, 200, "GET /next ");
    finish();
}

static void app_reads_chunks(struct host *host, const struct bb_request *request)
{
    if (!request->unbuffered) {
        app_echo(host, request);
        return;
    }
    assert_read(host, "ab");
    say_and_wait(host, "1\r\nc\r\n2\r\nd");
    assert_read(host, "cd");
    say_and_wait(host, "e\r\n1");
    assert_read(host, "e");
    assert_int_equal(read_some(host, MOST), BB_AGAIN);
    say_and_wait(host, "\r\nf\r\n0\r\nTrailer: x\r\n\r\n" NEXT);
    assert_read(host, "f");
    host_respond(host, 200, "read", 4);
}

static void test_chunks_are_decoded(void **state)
{
    (void)state;
    new_client(AF_UNIX, app_reads_chunks, CHUNKED "\r\n2\r\nab\r\n");
    assert_response(client, 200, "read");
    assert_response(client, 200, "GET /next ");
    finish();
}

/* Writes the bytes of a chunked body one by one. The result is the same as with one write. */
static void app_reads_byte_by_byte(struct host *host, const struct bb_request *request)
{
    static const char body[] = "3\r\nabc\r\n00003;x=\"y\"\r\ndef\r\n0\r\nA: b\r\n\r\n";
    char text[16] = "";
    (void)request;
    for (size_t i = 0; i < sizeof body - 1; i++) {
        assert_int_equal(write(client->fd, body + i, 1), 1);
        bb_request_wait(host->lane);
        int code = read_some(host, MOST);
        if (code == BB_OK) strcat(text, bytes);
        assert_int_equal(code, i == sizeof body - 2 ? BB_EOF : got > 0 ? BB_OK : BB_AGAIN);
    }
    host_respond(host, 200, text, strlen(text));
}

static void test_the_division_of_the_bytes_does_not_matter(void **state)
{
    (void)state;
    new_client(AF_UNIX, app_reads_byte_by_byte, CHUNKED "\r\n");
    assert_response(client, 200, "abcdef");
    client_say(client, CHUNKED "\r\n");
    assert_response(client, 200, "abcdef");
    finish();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_only_the_given_paths_are_unbuffered),
        cmocka_unit_test(test_a_body_that_came_with_the_head_is_complete),
        cmocka_unit_test(test_a_body_before_an_upgrade_is_complete),
        cmocka_unit_test(test_a_length_above_max_body_is_rejected_at_once),
        cmocka_unit_test(test_the_next_request_follows_the_body),
        cmocka_unit_test(test_chunks_are_decoded),
        cmocka_unit_test(test_the_division_of_the_bytes_does_not_matter),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
