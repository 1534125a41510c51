/* lane_detach_test.c: hijacked connections, and streams that end with their request. stream_test.c is for
 * streams that last longer. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "support/client.h"

#define GET     "GET / HTTP/1.1\r\nHost: x\r\n\r\n"
#define UPGRADE "GET / HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: echo\r\n\r\n"

static struct host *new_host(int family, host_app app)
{
    struct host *host = host_new_default(family);
    host->app = app;
    return host;
}

static void say(int fd, const char *text)
{
    assert_int_equal(write(fd, text, strlen(text)), strlen(text));
}

/* ---- hijack ---- */

static int hijacked = -1;
static char unread[64];

static void hijack(struct host *host)
{
    struct bb_slice bytes;
    assert_int_equal(bb_lane_hijack(host->lane, &hijacked, &bytes), BB_OK);
    snprintf(unread, sizeof unread, "%.*s", (int)bytes.len, bytes.at);
}

static void app_hijacks(struct host *host, const struct bb_request *request)
{
    int again;
    struct bb_slice bytes;
    (void)request;
    hijack(host);
    assert_int_equal(bb_lane_hijack(host->lane, &again, &bytes), BB_EGONE);
    assert_int_equal(bb_reply_begin(host->lane, 200), BB_EGONE);
    assert_int_equal(bb_reply_end(host->lane), BB_OK);
}

static void test_host_owns_the_hijacked_socket(void **state)
{
    (void)state;
    struct host *host = new_host(AF_INET, app_hijacks);
    struct client *client = client_new_saying(host, GET "behind");
    host_settle(host);
    assert_string_equal(unread, "behind");
    assert_int_equal(host_connections(host), 0);
    client_say(client, "more");
    host_settle(host);
    char bytes[8] = "";
    assert_int_equal(read(hijacked, bytes, sizeof bytes), 4);
    assert_string_equal(bytes, "more");
    say(hijacked, "HTTP/1.1 204 No Content\r\n\r\n");
    assert_response(client, 204, NULL);
    assert_silence(client);
    close(hijacked);
    assert_end(client);
    client_free(client);
    host_free(host);
}

static void test_body_is_not_unread(void **state)
{
    (void)state;
    struct host *host = new_host(AF_UNIX, app_hijacks);
    struct client *client =
        client_new_saying(host, "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 4\r\n\r\nbody!");
    host_settle(host);
    assert_string_equal(unread, "!");
    close(hijacked);
    assert_end(client);
    client_free(client);
    host_free(host);
}

static void app_hijacks_and_closes(struct host *host, const struct bb_request *request)
{
    (void)request;
    hijack(host);
    close(hijacked);
}

/* The application may work on after it has closed the socket. */
static void test_client_sees_the_close_before_the_request_ends(void **state)
{
    (void)state;
    struct host *host = new_host(AF_INET, app_hijacks_and_closes);
    struct client *client = client_new_saying(host, GET);
    while (host->served == 0) client_wait(client, POLLIN, real_ms());
    struct pollfd watched = {.fd = client->fd, .events = POLLIN};
    assert_int_equal(poll(&watched, 1, WAIT_LIMIT), 1);
    assert_true(client_receive(client));
    assert_int_equal(client->end, CLIENT_ENDED);
    assert_int_equal(bb_reply_end(host->lane), BB_OK);
    client_free(client);
    host_free(host);
}

static void app_hijacks_behind_the_head(struct host *host, const struct bb_request *request)
{
    uint64_t taken;
    assert_int_equal(bb_reply_begin(host->lane, request->head.upgrade ? 101 : 200), BB_OK);
    assert_int_equal(bb_reply_field(host->lane, "upgrade", 7, "echo", 4), BB_OK);
    assert_int_equal(bb_reply_head(host->lane, BB_LENGTH_RAW), BB_OK);
    assert_false(bb_reply_bodyless(host->lane));
    assert_int_equal(bb_reply_write(host->lane, NULL, 0, false, &taken), BB_OK);
    hijack(host);
    assert_int_equal(bb_reply_end(host->lane), BB_OK);
}

static void test_hijack_behind_the_head(void **state)
{
    (void)state;
    struct host *host = new_host(AF_INET, app_hijacks_behind_the_head);
    struct client *client = client_new_saying(host, GET GET);
    assert_true(client_read_head(client));
    assert_string_equal(client_field(client, "Connection"), "close");
    assert_null(client_field(client, "Upgrade"));
    assert_null(client_field(client, "Transfer-Encoding"));
    assert_string_equal(unread, GET);
    assert_int_equal(host->served, 1);
    close(hijacked);
    client_free(client);

    client = client_new_saying(host, UPGRADE "frame");
    assert_true(client_read(client, false));
    assert_int_equal(client->status, 101);
    assert_string_equal(client_field(client, "Connection"), "upgrade");
    assert_string_equal(client_field(client, "Upgrade"), "echo");
    assert_string_equal(unread, "frame");
    close(hijacked);
    client_free(client);
    host_free(host);
}

/* ---- streams that end with their request ---- */

static struct bb_stream *stream;

static void put(const char *text, bool last, int expected)
{
    const struct bb_slice part = {text, strlen(text)};
    uint64_t taken;
    assert_int_equal(bb_stream_write(stream, &part, 1, last, &taken), expected);
    if (expected == BB_OK) assert_int_equal(taken, part.len);
}

static void detach(struct host *host, const struct bb_request *request, const char *length)
{
    assert_int_equal(bb_reply_begin(host->lane, request->head.upgrade ? 101 : 200), BB_OK);
    assert_int_equal(bb_reply_field(host->lane, "upgrade", 7, "echo", 4), BB_OK);
    if (length) assert_int_equal(bb_reply_field(host->lane, "content-length", 14, length, 1), BB_OK);
    if (request->head.target.len > 1) /* "/chunked" */
        assert_int_equal(bb_reply_field(host->lane, "transfer-encoding", 17, "chunked", 7), BB_OK);
    assert_int_equal(bb_reply_head(host->lane, BB_LENGTH_UNKNOWN), BB_OK);
    assert_int_equal(bb_lane_detach(host->lane, &stream), BB_OK);
}

static int end_request(struct host *host)
{
    bb_lane_rejoin(host->lane, stream);
    int code = bb_reply_end(host->lane);
    bb_stream_free(stream);
    return code;
}

static void app_streams(struct host *host, const struct bb_request *request)
{
    detach(host, request, NULL);
    put("one ", false, BB_OK);
    put("two", true, BB_OK);
    assert_int_equal(end_request(host), BB_OK);
}

static void test_connection_is_kept_alive(void **state)
{
    (void)state;
    struct host *host = new_host(AF_INET, app_streams);
    struct client *client = client_new_saying(host, GET GET);
    assert_response(client, 200, "one two");
    assert_response(client, 200, "one two");
    client_say(client, GET);
    assert_response(client, 200, "one two");
    assert_silence(client);
    client_free(client);
    host_free(host);
}

static void app_stops_in_the_middle(struct host *host, const struct bb_request *request)
{
    detach(host, request, NULL);
    put("one", false, BB_OK);
    assert_int_equal(end_request(host), BB_OK);
}

static void test_unfinished_stream_is_reset(void **state)
{
    (void)state;
    struct host *host = new_host(AF_INET, app_stops_in_the_middle);
    struct client *client = client_new_saying(host, GET);
    assert_reset(client);
    client_free(client);
    host_free(host);
}

static void app_writes_too_little(struct host *host, const struct bb_request *request)
{
    detach(host, request, "5");
    put("one", true, BB_ESHORT);
    put("", true, BB_ESHORT);
    assert_int_equal(end_request(host), BB_OK);
}

static void test_short_body_is_reset(void **state)
{
    (void)state;
    struct host *host = new_host(AF_INET, app_writes_too_little);
    struct client *client = client_new_saying(host, GET);
    assert_reset(client);
    client_free(client);
    host_free(host);
}

static void app_writes_no_chunk(struct host *host, const struct bb_request *request)
{
    detach(host, request, NULL);
    put("1\r\na\r\n", false, BB_OK);
    put("no chunk", false, BB_ECHUNKS);
    put("0\r\n\r\n", true, BB_ECHUNKS);
    assert_int_equal(end_request(host), BB_OK);
}

static void test_body_that_is_not_in_chunks_is_reset(void **state)
{
    (void)state;
    struct host *host = new_host(AF_INET, app_writes_no_chunk);
    struct client *client = client_new_saying(host, "GET /chunked HTTP/1.1\r\nHost: x\r\n\r\n");
    assert_reset(client);
    client_free(client);
    host_free(host);
}

static void app_echoes_one_frame(struct host *host, const struct bb_request *request)
{
    char frame[16];
    size_t got;
    detach(host, request, NULL);
    assert_int_equal(bb_stream_is_upgrade(stream), request->head.upgrade);
    put("", false, BB_OK);
    int code = bb_stream_read(stream, frame, sizeof frame - 1, &got);
    assert_int_equal(code, request->head.upgrade ? BB_OK : BB_EOF);
    frame[got] = '\0';
    put(frame, true, BB_OK);
    assert_int_equal(end_request(host), BB_OK);
}

/* Bytes behind an upgrade are never a request. */
static void test_upgrade_reads_what_follows(void **state)
{
    (void)state;
    struct host *host = new_host(AF_INET, app_echoes_one_frame);
    struct client *client = client_new_saying(host, UPGRADE "PRI * x");
    assert_true(client_read(client, false));
    assert_int_equal(client->status, 101);
    while (client_more(client)) continue;
    assert_int_equal(client->end, CLIENT_ENDED);
    assert_int_equal(bb__buf_len(&client->in), 7);
    assert_memory_equal(bb__buf_bytes(&client->in), "PRI * x", 7);
    client_free(client);

    client = client_new_saying(host, GET);
    assert_response(client, 200, "");
    client_free(client);
    host_free(host);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_host_owns_the_hijacked_socket),
        cmocka_unit_test(test_body_is_not_unread),
        cmocka_unit_test(test_client_sees_the_close_before_the_request_ends),
        cmocka_unit_test(test_hijack_behind_the_head),
        cmocka_unit_test(test_connection_is_kept_alive),
        cmocka_unit_test(test_unfinished_stream_is_reset),
        cmocka_unit_test(test_short_body_is_reset),
        cmocka_unit_test(test_body_that_is_not_in_chunks_is_reset),
        cmocka_unit_test(test_upgrade_reads_what_follows),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
