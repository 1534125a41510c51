/* conn_public_test.c: requests for files of `public`, to which the core itself responds. public_change_test.c
 * has files that change, public_slow_test.c has files that the kernel does not have in memory. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "files/public_dir.h"
#include "support/client.h"

#define ASK(path, fields) "GET " path " HTTP/1.1\r\nHost: x\r\n" fields "\r\n"
#define LARGE             (BB_FILE_SMALL + 1)
#define VERY_LARGE        (8 << 20) /* the kernel buffers only a part of it */

static struct host *new_host(const char *headers)
{
    struct host *host = host_new_default(AF_UNIX);
    host_enter_public(host, public_dir, headers);
    return host;
}

static void assert_field(struct client *client, const char *name, const char *value)
{
    const char *found = client_field(client, name);
    if (value)
        assert_string_equal(found ? found : "", value);
    else
        assert_null(found);
}

/* The letters of write_public_at(). */
static void assert_letters(struct client *client, uint64_t first, uint64_t len)
{
    const char *bytes = bb__buf_bytes(&client->body);
    assert_int_equal(bb__buf_len(&client->body), len + 1);
    for (uint64_t i = 0; i<len; i += len> 10000 ? 997 : 1) assert_int_equal(bytes[i], 'a' + (first + i) % 26);
}

static void test_a_file(void **state)
{
    (void)state;
    make_public_dir();
    write_public("hello.txt", "hello");
    struct host *host = new_host("");
    struct client *client = client_new_saying(host, GET("/hello.txt"));
    assert_response(client, 200, "hello");
    assert_field(client, "Content-Type", "text/plain; charset=utf-8");
    assert_field(client, "Content-Length", "5");
    assert_field(client, "Last-Modified", "Tue, 14 Nov 2023 22:13:20 GMT");
    assert_field(client, "ETag", "\"17979cfe362a0000-5\"");
    assert_field(client, "Accept-Ranges", "bytes");
    assert_field(client, "Cache-Control", NULL);
    assert_field(client, "Vary", NULL);
    client_say(client, GET("/other"));
    assert_response(client, 200, "GET /other ");
    assert_int_equal(host->served, 1);
    client_free(client);
    host_leave_public(host);
    remove_public_dir();
}

/* Requests that are the application's, although there is such a file. */
static void test_requests_for_the_application(void **state)
{
    static const char *const requests[] = {
        "POST /a.txt HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\r\n",
        "OPTIONS /a.txt HTTP/1.1\r\nHost: x\r\n\r\n",
        "GET /a.txt HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\n\r\nb",
        "GET /a.txt HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nb\r\n0\r\n\r\n",
        "GET /a.txt HTTP/1.1\r\nHost: x\r\nConnection: upgrade\r\nUpgrade: websocket\r\n\r\n",
        "GET /a.txt HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\n\r\n",
        "GET https://x/a.txt HTTP/1.1\r\nHost: x\r\n\r\n",
        "GET //a.txt HTTP/1.1\r\nHost: x\r\n\r\n",
    };
    (void)state;
    make_public_dir();
    write_public("a.txt", "file");
    struct host *host = new_host("");
    for (size_t i = 0; i < sizeof requests / sizeof *requests; i++) {
        struct client *client = client_new_saying(host, requests[i]);
        assert_true(client_read(client, true));
        assert_int_equal(host->served, i + 1);
        client_free(client);
    }
    struct client *client = client_new_saying(host, "GET HTTP://x/a.txt?query HTTP/1.1\r\nHost: x\r\n\r\n");
    assert_response(client, 200, "file");
    client_say(client, "GET /a.txt HTTP/1.1\r\nHost: x\r\nConnection: Upgrade, HTTP2-Settings\r\n"
                       "Upgrade: h2c\r\nHTTP2-Settings: AAMAAABkAAQAAP__\r\n\r\n");
    assert_response(client, 200, "file");
    client_free(client);
    host_leave_public(host);
    remove_public_dir();
}

static void test_head_and_http_1_0(void **state)
{
    (void)state;
    make_public_dir();
    write_public("a.txt", "file");
    struct host *host = new_host("");
    struct client *client = client_new_saying(host, "HEAD /a.txt HTTP/1.1\r\nHost: x\r\n\r\n");
    assert_true(client_read(client, false));
    assert_int_equal(client->status, 200);
    assert_field(client, "Content-Length", "4");
    client_say(client, "GET /a.txt HTTP/1.0\r\n\r\n");
    assert_response(client, 200, "file");
    assert_field(client, "Connection", "close");
    assert_end(client);
    client_free(client);
    host_leave_public(host);
    remove_public_dir();
}

static void test_an_empty_file(void **state)
{
    (void)state;
    make_public_dir();
    write_public("empty", "");
    struct host *host = new_host("");
    struct client *client = client_new_saying(host, ASK("/empty", "Range: bytes=0-0\r\n"));
    assert_response(client, 200, "");
    assert_field(client, "Content-Length", "0");
    assert_field(client, "Content-Type", "application/octet-stream");
    client_free(client);
    host_leave_public(host);
    remove_public_dir();
}

static void check_range(struct host *host, const char *name, uint64_t size)
{
    char text[256], field[64];
    struct client *client = client_new(host);
    snprintf(text, sizeof text, "GET /%s HTTP/1.1\r\nHost: x\r\nRange: bytes=5-9\r\n\r\n", name);
    client_say(client, text);
    assert_true(client_read(client, true));
    assert_int_equal(client->status, 206);
    snprintf(field, sizeof field, "bytes 5-9/%u", (unsigned)size);
    assert_field(client, "Content-Range", field);
    assert_letters(client, 5, 5);
    snprintf(text, sizeof text, "GET /%s HTTP/1.1\r\nHost: x\r\nRange: bytes=0-1,-1\r\n\r\n", name);
    client_say(client, text);
    assert_true(client_read(client, true));
    assert_int_equal(client->status, 206);
    assert_non_null(strstr(bb__buf_bytes(&client->body), "Content-Range: bytes 0-1/"));
    snprintf(text, sizeof text, "GET /%s HTTP/1.1\r\nHost: x\r\nRange: bytes=99999999-\r\n\r\n", name);
    client_say(client, text);
    assert_response(client, 416, "");
    client_free(client);
}

static void test_ranges(void **state)
{
    (void)state;
    make_public_dir();
    write_public_at("small", NULL, 4096, OLD_TIME);
    write_public_at("large", NULL, 2 * LARGE, OLD_TIME);
    struct host *host = new_host("");
    check_range(host, "small", 4096);
    check_range(host, "large", 2 * LARGE);
    client_free(client_new(host));
    host_leave_public(host);
    remove_public_dir();
}

/* Many connections send one file, and the cache has one descriptor of it. */
static void test_a_large_file_has_one_descriptor(void **state)
{
    LINUX_ONLY;
    make_public_dir();
    write_public_at("large", NULL, VERY_LARGE, OLD_TIME);
    struct host *host = new_host("");
    struct client *clients[8];
    int before = 0;
    for (int i = 0; i < 8; i++) {
        clients[i] = client_new_saying(host, GET("/large"));
        host_settle(host);
        int now = open_descriptors();
        if (i > 0) assert_int_equal(now, before + 2); /* the two ends of the connection */
        before = now;
    }
    for (int i = 0; i < 8; i++) {
        assert_true(client_read(clients[i], true));
        assert_letters(clients[i], 0, VERY_LARGE);
        client_free(clients[i]);
    }
    host_leave_public(host);
    remove_public_dir();
}

static void test_public_headers(void **state)
{
    (void)state;
    make_public_dir();
    make_public_subdir("assets");
    make_public_subdir("assets/old");
    write_public("a.css", "a");
    write_public("assets/b.css", "b");
    write_public("assets/old/c.css", "c");
    struct host *host = new_host("/ X-One: root\n/assets/ Cache-Control: max-age=9\n/assets/ x-one: assets\n"
                                 "/assets/ X-ONE: again\n/assets/old/ cache-control: no-store\n"
                                 "/assets/old/ Content-Type: text/x-old");
    struct client *client = client_new_saying(host, GET("/a.css"));
    assert_response(client, 200, "a");
    assert_field(client, "X-One", "root");
    assert_field(client, "Cache-Control", NULL);
    client_say(client, GET("/assets/b.css"));
    assert_response(client, 200, "b");
    assert_non_null(strstr(client->head, "x-one: assets\r\n"));
    assert_non_null(strstr(client->head, "X-ONE: again\r\n"));
    assert_null(strstr(client->head, "root"));
    assert_field(client, "Cache-Control", "max-age=9");
    client_say(client, GET("/assets/old/c.css"));
    assert_response(client, 200, "c");
    assert_field(client, "Cache-Control", "no-store");
    assert_field(client, "Content-Type", "text/x-old");
    client_free(client);
    host_leave_public(host);
    remove_public_dir();
}

static void test_the_first_directory_wins(void **state)
{
    char first[TEMPORARY_PATH], both[200];
    (void)state;
    make_public_dir();
    write_public("both", "first");
    memcpy(first, public_dir, sizeof first);
    make_public_dir();
    write_public("both", "second");
    write_public("second", "second");
    snprintf(both, sizeof both, "%s\n%s", first, public_dir);
    struct host *host = host_new_default(AF_UNIX);
    host_enter_public(host, both, "");
    struct client *client = client_new_saying(host, GET("/both"));
    assert_response(client, 200, "first");
    client_say(client, GET("/second"));
    assert_response(client, 200, "second");
    client_free(client);
    host_leave_public(host);
    remove_public_dir();
    memcpy(public_dir, first, sizeof first);
    remove_public_dir();
}

/* A lane that has sent many files returns to its host, which may have signals to handle. */
static void test_the_host_runs_after_some_files(void **state)
{
    enum { FILES = 2 * BB_FILES_IN_A_ROW + 2 };
    const struct bb_request *request;
    LINUX_ONLY;
    make_public_dir();
    write_public("a", "a");
    struct host *host = new_host("");
    struct client *client = client_new(host);
    host_settle(host);
    for (int i = 0; i < FILES; i++) client_say(client, GET("/a"));
    int turns = 0;
    for (unsigned sent; host->lane->context.files_sent < FILES; turns++) {
        assert_int_equal(bb_lane_wait(host->lane), BB_OK); /* may send a file, without the host's lock */
        sent = host->lane->context.files_sent;
        assert_int_equal(bb_lane_next(host->lane, &request), BB_AGAIN);
        assert_in_range(host->lane->context.files_sent - sent, 1, BB_FILES_IN_A_ROW);
    }
    assert_true(turns >= 3);
    for (int i = 0; i < FILES; i++) assert_response(client, 200, "a");
    client_free(client);
    host_leave_public(host);
    remove_public_dir();
}

/* After a file, the lane sends the next files without the host. The first request for the host ends the wait.
 */
static void test_a_lane_that_waits_sends_files(void **state)
{
    const struct bb_request *request;
    LINUX_ONLY;
    make_public_dir();
    write_public("a", "a");
    struct host *host = new_host("");
    struct client *client = client_new_saying(host, GET("/a")), *other = client_new(host);
    assert_response(client, 200, "a");
    host_settle(host);
    client_say(client, GET("/a"));
    assert_int_equal(bb_lane_wait(host->lane), BB_OK);
    assert_int_equal(bb_lane_next(host->lane, &request), BB_AGAIN);
    unsigned sent = host->lane->context.files_sent;
    client_say(client, GET("/a"));
    client_say(other, GET("/1"));
    assert_int_equal(bb_lane_wait(host->lane), BB_OK);
    assert_int_equal(host->lane->context.files_sent, sent + 1);
    assert_response(client, 200, "a");
    assert_response(client, 200, "a");
    assert_response(other, 200, "GET /1 ");
    client_free(client);
    client_free(other);
    host_leave_public(host);
    remove_public_dir();
}

/* Pipelined requests are answered in their order, also between files and the application. */
static void test_pipelined_requests(void **state)
{
    (void)state;
    make_public_dir();
    write_public("a", "a");
    write_public_at("large", NULL, VERY_LARGE, OLD_TIME);
    struct host *host = new_host("");
    struct client *client = client_new_saying(host, GET("/a") GET("/1") GET("/large") GET("/2") GET("/a"));
    assert_response(client, 200, "a");
    assert_response(client, 200, "GET /1 ");
    assert_true(client_read(client, true));
    assert_letters(client, 0, VERY_LARGE);
    assert_response(client, 200, "GET /2 ");
    assert_response(client, 200, "a");
    client_free(client);
    host_leave_public(host);
    remove_public_dir();
}

static void test_max_keepalive_requests(void **state)
{
    (void)state;
    make_public_dir();
    write_public("a", "a");
    struct bb_settings settings = host_settings();
    settings.max_keepalive_requests = 2;
    struct host *host = host_new(&settings, AF_UNIX);
    host_enter_public(host, public_dir, "");
    struct client *client = client_new_saying(host, GET("/a"));
    assert_response(client, 200, "a");
    assert_field(client, "Connection", NULL);
    client_say(client, GET("/a"));
    assert_response(client, 200, "a");
    assert_field(client, "Connection", "close");
    client_free(client);
    host_leave_public(host);
    remove_public_dir();
}

static void test_bad_settings(void **state)
{
    static const char *const lines[][2] = {
        {"assets/ A: b", "public_headers: assets/ A: b: must be '/PREFIX NAME: VALUE'"},
        {"/assets/", "public_headers: /assets/: must be '/PREFIX NAME: VALUE'"},
        {"/assets/ A", "public_headers: /assets/ A: must be '/PREFIX NAME: VALUE'"},
        {"/a A:", "public_headers: /a A:: must be '/PREFIX NAME: VALUE'"},
        {"/a A B: c", "public_headers: /a A B: c: the name is not valid"},
        {"/a A: b\x01", "public_headers: /a A: b\x01: the value is not valid"},
        {"/a A: b\n\n/a C: d", "public_headers: : must be '/PREFIX NAME: VALUE'"},
        {"/a eTag: b", "public_headers: /a eTag: b: the server sets this field itself"},
        {"/a Keep-Alive: b", "public_headers: /a Keep-Alive: b: this field belongs to the connection"},
        {"/a Upgrade: b", "public_headers: /a Upgrade: b: this field belongs to the connection"},
    };
    char fault[BB_FAULT_MAX], wanted[200];
    struct bb_settings settings = host_settings();
    (void)state;
    make_public_dir();
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        strcpy(settings.public, public_dir);
        strcpy(settings.public_headers, lines[i][0]);
        assert_int_equal(bb_public_open(&public_files, &settings, fault), BB_EFORMAT);
        assert_string_equal(fault, lines[i][1]);
    }
    settings.public_headers[0] = '\0';
    snprintf(settings.public, sizeof settings.public, "%s\n%s/none", public_dir, public_dir);
    assert_int_equal(bb_public_open(&public_files, &settings, fault), BB_ESYSTEM);
    snprintf(wanted, sizeof wanted, "public: %s/none: No such file or directory", public_dir);
    assert_string_equal(fault, wanted);
    settings.public[0] = '\0';
    assert_int_equal(bb_public_open(&public_files, &settings, fault), BB_OK);
    assert_null(public_files);
    bb_public_free(public_files);
    remove_public_dir();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_file),
        cmocka_unit_test(test_requests_for_the_application),
        cmocka_unit_test(test_head_and_http_1_0),
        cmocka_unit_test(test_an_empty_file),
        cmocka_unit_test(test_ranges),
        cmocka_unit_test(test_a_large_file_has_one_descriptor),
        cmocka_unit_test(test_public_headers),
        cmocka_unit_test(test_the_first_directory_wins),
        cmocka_unit_test(test_the_host_runs_after_some_files),
        cmocka_unit_test(test_a_lane_that_waits_sends_files),
        cmocka_unit_test(test_pipelined_requests),
        cmocka_unit_test(test_max_keepalive_requests),
        cmocka_unit_test(test_bad_settings),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
