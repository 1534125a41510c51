/* request_test.c: the bytes of a request that is built from options. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "request.h"
#include "support/files.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static struct target target;
static struct request request;
static struct body body;

static void assert_bytes(const struct options *options, const char *url, const char *expected)
{
    assert_null(target_parse(&target, url));
    assert_int_equal(request_build(&request, options, body.bytes ? &body : NULL, &target), 0);
    assert_int_equal(request.len, strlen(expected));
    assert_memory_equal(request.bytes, expected, request.len);
    request_free(&request);
}

static void says_what_is_needed_and_no_more(void **state)
{
    (void)state;
    struct options options = {.method = "GET"};
    assert_bytes(&options, "http://h:81/a?b#c", "GET /a?b HTTP/1.1\r\nHost: h:81\r\n\r\n");
    assert_bytes(&options, "http://h", "GET / HTTP/1.1\r\nHost: h\r\n\r\n");
    assert_bytes(&options, "http://[::1]?q", "GET /?q HTTP/1.1\r\nHost: [::1]\r\n\r\n");
    assert_bytes(&options, "unix:/s:/x", "GET /x HTTP/1.1\r\nHost: localhost\r\n\r\n");
    options.close = true;
    assert_bytes(&options, "unix:/s", "GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
}

static void given_fields_win(void **state)
{
    (void)state;
    const char *fields[] = {"HOST: other", "Connection: keep-alive"};
    struct options options = {.method = "GET", .fields = fields, .field_count = 2, .close = true};
    assert_bytes(&options, "http://h", "GET / HTTP/1.1\r\nHOST: other\r\nConnection: keep-alive\r\n\r\n");
    assert_true(request.closes);
}

/* RFC 9112 9.6: after a client has sent "close", it must not send another request on that connection. */
static void a_given_close_closes(void **state)
{
    (void)state;
    const char *fields[] = {"connection: te, Close"};
    struct options options = {.method = "GET", .fields = fields, .field_count = 1};
    assert_bytes(&options, "http://h", "GET / HTTP/1.1\r\nHost: h\r\nconnection: te, Close\r\n\r\n");
    assert_true(request.closes);
    fields[0] = "X: close";
    assert_bytes(&options, "http://h", "GET / HTTP/1.1\r\nHost: h\r\nX: close\r\n\r\n");
    assert_false(request.closes);
}

static void sends_a_file_as_body(void **state)
{
    (void)state;
    char path[TEMPORARY_PATH];
    int fd = mkstemp(temporary_path(path));
    assert_true(fd >= 0 && write(fd, "12345\n", 6) == 6);
    close(fd);
    struct options options = {.method = "POST"};
    assert_int_equal(body_read(&body, path), 0);
    assert_bytes(&options, "http://h", "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 6\r\n\r\n12345\n");
    free(body.bytes);
    assert_int_equal(truncate(path, 0), 0);
    assert_int_equal(body_read(&body, path), 0);
    assert_bytes(&options, "http://h", "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 0\r\n\r\n");
    free(body.bytes);
    unlink(path);

    assert_int_equal(body_read(&body, path), ENOENT);
    assert_null(body.bytes);
    assert_int_equal(body_read(&body, "/"), EISDIR);
    free(body.bytes);
    body = (struct body){0};
    assert_bytes(&options, "http://h", "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 0\r\n\r\n");
}

static void other_requests_differ_by_their_path(void **state)
{
    (void)state;
    struct also also[] = {{.share = 0.1, .resource = "/b?c"}};
    struct options options = {.method = "GET", .also = also, .also_count = 1, .close = true};
    struct request *requests;
    assert_null(target_parse(&target, "http://h:81/a"));
    assert_int_equal(requests_build(&requests, &options, NULL, &target), 0);
    assert_string_equal(requests[0].bytes, "GET /a HTTP/1.1\r\nHost: h:81\r\nConnection: close\r\n\r\n");
    assert_string_equal(requests[1].bytes, "GET /b?c HTTP/1.1\r\nHost: h:81\r\nConnection: close\r\n\r\n");
    assert_true(requests[1].closes);
    requests_free(requests, &options);
}

static void knows_that_head_has_no_body(void **state)
{
    (void)state;
    static const struct {
        const char *method;
        bool is_head;
    } methods[] = {{"GET", false}, {"HEAD", true}, {"head", false}};
    assert_null(target_parse(&target, "http://h"));
    for (size_t i = 0; i < sizeof methods / sizeof *methods; i++) {
        struct options options = {.method = methods[i].method};
        assert_int_equal(request_build(&request, &options, NULL, &target), 0);
        assert_int_equal(request.is_head, methods[i].is_head);
        request_free(&request);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(says_what_is_needed_and_no_more),
        cmocka_unit_test(given_fields_win),
        cmocka_unit_test(a_given_close_closes),
        cmocka_unit_test(sends_a_file_as_body),
        cmocka_unit_test(other_requests_differ_by_their_path),
        cmocka_unit_test(knows_that_head_has_no_body),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
