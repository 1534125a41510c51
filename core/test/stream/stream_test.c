/* stream_test.c: streams that last longer than their request. lane_detach_test.c is for streams that end with
 * their request. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "stream_case.h"
#include "support/fake_clock.h"

#define GET     "GET / HTTP/1.1\r\nHost: x\r\n\r\n"
#define UPGRADE "GET / HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: echo\r\n\r\n"

/* The first request of the test gets a stream that stays open. */
static void app_leaves_a_stream(struct host *host, const struct bb_request *request)
{
    if (host->served > 1) {
        app_echo(host, request);
        return;
    }
    assert_int_equal(bb_reply_begin(host->lane, request->head.upgrade ? 101 : 200), BB_OK);
    assert_int_equal(bb_reply_field(host->lane, "upgrade", 7, "echo", 4), BB_OK);
    assert_int_equal(bb_reply_head(host->lane, BB_LENGTH_UNKNOWN), BB_OK);
    assert_int_equal(bb_lane_detach(host->lane, &stream), BB_OK);
    put_text("", false);
    bb_lane_rejoin(host->lane, stream);
    assert_int_equal(bb_reply_end(host->lane), BB_OK);
}

static struct host *new_host_with(const struct bb_settings *settings, int family)
{
    struct host *host = host_new(settings, family);
    host->app = app_leaves_a_stream;
    return host;
}

static struct host *new_host(int family)
{
    struct bb_settings settings = host_settings();
    return new_host_with(&settings, family);
}

static struct client *new_streaming(struct host *host, const char *request)
{
    struct client *client = client_new_saying(host, request);
    assert_true(client_read_head(client));
    host_settle_to(host, 0);
    return client;
}

static void end_stream(void)
{
    bb_stream_free(stream);
    stream = NULL;
}

/* Frees the client and its host, and the stream if the test has not ended it. */
static void finish(struct client *client)
{
    struct host *host = client->host;
    end_stream();
    client_free(client);
    host_free(host);
}

static void test_the_lane_is_free(void **state)
{
    (void)state;
    struct host *host = new_host(AF_INET);
    struct client *client = new_streaming(host, GET), *other = client_new_saying(host, GET);
    assert_response(other, 200, "GET / ");
    put_text("late", false);
    put_text(" text", true);
    assert_true(client_read_body(client));
    assert_int_equal(bb__buf_len(&client->body), 9);
    assert_memory_equal(bb__buf_bytes(&client->body), "late text", 9);
    bb_stream_free(stream);
    client_free(client);
    client_free(other);
    host_free(host);
}

static void test_a_lane_serves_the_next_requests_of_the_connection(void **state)
{
    (void)state;
    struct client *client = new_streaming(new_host(AF_INET), GET "GET /two HTTP/1.1\r\nHost: x\r\n\r\n");
    assert_int_equal(client->host->served, 1);
    put_text("one", true);
    end_stream();
    assert_true(client_read_body(client));
    assert_response(client, 200, "GET /two ");
    client_say(client, "GET /three HTTP/1.1\r\nHost: x\r\n\r\n");
    assert_response(client, 200, "GET /three ");
    finish(client);
}

static void test_the_connection_is_closed_if_the_worker_is_the_last(void **state)
{
    (void)state;
    struct client *client = new_streaming(new_host(AF_INET), GET);
    bb_worker_drain(client->host->worker, BB_QUEUE_TAKE);
    put_text("one", true);
    end_stream();
    assert_true(client_read_body(client));
    assert_end(client);
    finish(client);
}

static void test_a_dropped_stream_is_reset(void **state)
{
    (void)state;
    struct client *client = new_streaming(new_host(AF_INET), GET);
    put_text("one", false);
    end_stream();
    assert_reset(client);
    finish(client);
}

static void test_both_directions_of_an_upgrade(void **state)
{
    (void)state;
    struct client *client = new_streaming(new_host(AF_INET), UPGRADE "ab");
    char bytes[16];
    size_t got;
    assert_int_equal(bb_stream_read(stream, bytes, 1, &got), BB_OK);
    assert_int_equal(bb_stream_read(stream, bytes + 1, 8, &got), BB_OK);
    assert_memory_equal(bytes, "ab", 2);
    assert_int_equal(bb_stream_read(stream, bytes, 8, &got), BB_AGAIN);
    assert_false(bb_stream_client_gone(stream));
    client_say(client, "cd");
    bb_stream_wait(stream, BB_STREAM_READABLE);
    assert_int_equal(bb_stream_read(stream, bytes, 8, &got), BB_OK);
    assert_int_equal(got, 2);
    put_text("raw", true); /* ends only this direction */
    while (client_more(client)) continue;
    assert_int_equal(client->end, CLIENT_ENDED);
    assert_memory_equal(bb__buf_bytes(&client->in), "raw", 3);
    client_say(client, "e");
    bb_stream_wait(stream, BB_STREAM_READABLE);
    assert_int_equal(bb_stream_read(stream, bytes, 8, &got), BB_OK);
    shutdown(client->fd, SHUT_WR);
    bb_stream_wait(stream, BB_STREAM_READABLE);
    assert_int_equal(bb_stream_read(stream, bytes, 8, &got), BB_EOF);
    assert_true(bb_stream_client_gone(stream));
    finish(client);
}

/* After an upgrade, the client's last bytes come before its end. */
static void test_a_client_of_an_upgrade_that_has_gone(void **state)
{
    (void)state;
    static const int families[] = {AF_INET, AF_UNIX};
    for (int i = 0; i < 4; i++) {
        struct client *client = new_streaming(new_host(families[i % 2]), i < 2 ? UPGRADE : UPGRADE "a");
        char bytes[16];
        size_t got;
        assert_false(bb_stream_client_gone(stream));
        if (i < 2) client_say(client, "a");
        shutdown(client->fd, SHUT_WR);
        bb_stream_wait(stream, BB_STREAM_READABLE);
        assert_false(bb_stream_client_gone(stream));
        assert_int_equal(bb_stream_read(stream, bytes, 16, &got), BB_OK);
        assert_true(bb_stream_client_gone(stream));
        put_text("still", true); /* the client may have ended only its sending */
        while (client_more(client)) continue;
        assert_memory_equal(bb__buf_bytes(&client->in), "still", 5);
        finish(client);
    }
}

static void test_a_client_that_has_gone(void **state)
{
    (void)state;
    struct host *host = new_host(AF_UNIX);
    struct client *client = new_streaming(host, GET);
    uint64_t taken;
    assert_false(bb_stream_client_gone(stream));
    client_free(client);
    assert_true(bb_stream_client_gone(stream));
    assert_int_equal(put("one", 3, false, &taken), BB_EGONE);
    assert_int_equal(put("one", 3, true, &taken), BB_EGONE);
    bb_stream_free(stream);
    host_free(host);
}

/* ---- slow clients ---- */

static char large[256 * 1024];

/* Writes until the client's socket takes no more. Returns the number of bytes. */
static uint64_t fill(void)
{
    uint64_t total = 0, taken;
    memset(large, 'x', sizeof large);
    int code;
    do {
        code = put(large, sizeof large, false, &taken);
        total += taken;
    } while (code == BB_OK);
    assert_int_equal(code, BB_AGAIN);
    return total;
}

static void test_a_slow_client_slows_the_writer_down(void **state)
{
    (void)state;
    struct client *client = new_streaming(new_host(AF_UNIX), GET);
    uint64_t total = fill(), taken = 0;
    const struct bb_slice none = {"", 0};
    bool ended = false;
    for (unsigned turn = 0; turn < 100000 && !ended; turn++) {
        client_receive(client);
        ended = bb_stream_write(stream, &none, 1, true, &taken) == BB_OK;
    }
    assert_true(ended);
    assert_true(client_read_body(client));
    assert_int_equal(bb__buf_len(&client->body), total);
    finish(client);
}

static void test_write_timeout(void **state)
{
    (void)state;
    struct bb_settings settings = host_settings();
    settings.write_timeout = 5000;
    settings.min_body_rate = 0;
    struct client *client = new_streaming(new_host_with(&settings, AF_UNIX), GET);
    uint64_t taken;
    (void)fill();
    fake_clock_advance(4999);
    assert_int_equal(put("", 0, false, &taken), BB_AGAIN);
    client_receive(client);
    (void)fill();
    fake_clock_advance(4999);
    assert_int_equal(put("", 0, false, &taken), BB_AGAIN);
    fake_clock_advance(1);
    assert_int_equal(put("", 0, false, &taken), BB_EGONE);
    finish(client);
}

static void test_min_body_rate(void **state)
{
    (void)state;
    struct bb_settings settings = host_settings();
    settings.write_timeout = 0;
    settings.min_body_rate = 1000 * 1000;
    struct client *client = new_streaming(new_host_with(&settings, AF_UNIX), GET);
    uint64_t taken;
    (void)fill();
    fake_clock_advance(BB_RATE_AFTER);
    assert_int_equal(put("", 0, false, &taken), BB_AGAIN);
    fake_clock_advance(1);
    assert_int_equal(put("", 0, false, &taken), BB_EGONE);
    finish(client);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_lane_is_free),
        cmocka_unit_test(test_a_lane_serves_the_next_requests_of_the_connection),
        cmocka_unit_test(test_the_connection_is_closed_if_the_worker_is_the_last),
        cmocka_unit_test(test_a_dropped_stream_is_reset),
        cmocka_unit_test(test_both_directions_of_an_upgrade),
        cmocka_unit_test(test_a_client_of_an_upgrade_that_has_gone),
        cmocka_unit_test(test_a_client_that_has_gone),
        cmocka_unit_test(test_a_slow_client_slows_the_writer_down),
        cmocka_unit_test(test_write_timeout),
        cmocka_unit_test(test_min_body_rate),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
