/* request_unsent_test.c: an interim response (100 or 103) that the socket has not taken when the host begins
 * to read the body, or lets the connection leave its lane. The client may wait for this response before it
 * sends the body, so the core sends it while the lane waits. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "request_read_case.h"
#include "stream_case.h"
#include "support/fail_alloc.h"
#include "support/fake_clock.h"

#define LONG (1 << 20) /* bytes; the kernel buffers only a part of them */

/* ---- the socket ---- */

static void fill_socket(const struct host *host)
{
    int little = 1, fd = host->lane->current->fd;
    assert_int_equal(setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &little, sizeof little), 0);
    while (send(fd, "", 1, MSG_DONTWAIT) == 1) continue;
}

/* The client reads all bytes that have come, and drops the bytes of fill_socket(). */
static void take(void)
{
    while (client_receive(client)) continue;
    while (bb__buf_len(&client->in) > 0 && *bb__buf_bytes(&client->in) == '\0')
        bb__buf_consume(&client->in, 1);
}

static bool has_unsent(const struct host *host)
{
    return bb__conn_has_unsent(host->lane->current);
}

static void begin_hint(struct host *host)
{
    static char value[LONG];
    memset(value, 'a', sizeof value);
    assert_int_equal(bb_reply_begin(host->lane, 103), BB_OK);
    assert_int_equal(bb_reply_field(host->lane, "link", 4, value, sizeof value), BB_OK);
}

static void hint(struct host *host)
{
    begin_hint(host);
    assert_int_equal(bb_reply_interim(host->lane), BB_OK);
    assert_true(has_unsent(host));
}

static void assert_hint(void)
{
    assert_true(client_read(client, false));
    assert_int_equal(client->status, 103);
    assert_true(strlen(client->head) > LONG);
}

/* ---- reading ---- */

/* Returns whether the wait ends because the socket takes bytes. A busy machine can make one wait long. */
static bool wait_is_short(struct host *host)
{
    for (int tries = 0; tries < 3; tries++) {
        uint64_t since = real_ms();
        bb_request_wait(host->lane);
        if (real_ms() - since < BB_UNBUFFERED_WAIT_MAX) return true;
    }
    return false;
}

/* Reads until the client has the interim response. */
static void read_until_sent(struct host *host)
{
    assert_int_equal(read_some(host, MOST), BB_AGAIN);
    assert_true(has_unsent(host));
    while (has_unsent(host)) {
        take();
        assert_true(wait_is_short(host));
        assert_int_equal(read_some(host, MOST), BB_AGAIN);
    }
    take();
}

static void app_reads(struct host *host, const struct bb_request *request)
{
    (void)request;
    read_until_sent(host);
    say_and_wait(host, "abcdef");
    assert_read(host, "abcdef");
    host_respond(host, 200, "read", 4);
}

static void app_continues(struct host *host, const struct bb_request *request)
{
    fill_socket(host);
    app_reads(host, request);
}

static void test_a_hundred_is_sent_while_the_lane_waits(void **state)
{
    (void)state;
    new_client(AF_UNIX, app_continues, LENGTH EXPECT "\r\n");
    assert_response(client, 100, NULL);
    assert_response(client, 200, "read");
    finish();
}

static void app_hints(struct host *host, const struct bb_request *request)
{
    hint(host);
    app_reads(host, request);
}

static void test_hints_are_sent_while_the_lane_waits(void **state)
{
    (void)state;
    new_client(AF_UNIX, app_hints, LENGTH "\r\n");
    assert_hint();
    assert_response(client, 200, "read");
    finish();
}

/* The client takes the hints only when it has sent its body. */
static void app_reads_slowly(struct host *host, const struct bb_request *request)
{
    (void)request;
    hint(host);
    for (int part = 0; part < 3; part++) {
        say("ab");
        assert_read(host, "ab");
        fake_clock_advance(host->worker->settings.write_timeout - 1);
    }
    host_respond(host, 200, "read", 4);
}

static void test_a_client_that_sends_its_body_may_take_nothing(void **state)
{
    (void)state;
    new_client(AF_UNIX, app_reads_slowly, LENGTH "\r\n");
    assert_hint();
    assert_response(client, 200, "read");
    finish();
}

/* The thread of the lane waits for its client, outside of the host's lock. Another thread reads the body. */
static void app_reads_beside_a_wait(struct host *host, const struct bb_request *request)
{
    static char part[LONG];
    struct bb_slice slice = {part, sizeof part};
    uint64_t taken;
    (void)request;
    host->worker->settings.response_buffer = 1;
    host->worker->spool_budget.max = 1;
    host_fields(host, 200);
    assert_int_equal(bb_reply_head(host->lane, BB_LENGTH_UNKNOWN), BB_OK);
    while (bb_reply_write(host->lane, &slice, 1, false, &taken) == BB_OK) continue;
    uint64_t unsent = bb__conn_unsent(host->lane->current);
    take();
    say("abcdef");
    assert_read(host, "abcdef");
    assert_int_equal(bb__conn_unsent(host->lane->current), unsent);
    bb_reply_abort(host->lane);
}

static void test_a_read_leaves_the_unsent_bytes_to_the_thread_that_waits(void **state)
{
    (void)state;
    new_client(AF_UNIX, app_reads_beside_a_wait, LENGTH "\r\n");
    assert_false(client_read(client, true));
    finish();
}

/* ---- connections that leave the lane ---- */

static void app_streams(struct host *host, const struct bb_request *request)
{
    uint64_t taken;
    int code;
    (void)request;
    hint(host);
    host_fields(host, 200);
    assert_int_equal(bb_reply_head(host->lane, BB_LENGTH_UNKNOWN), BB_OK);
    assert_int_equal(bb_lane_detach(host->lane, &stream), BB_OK);
    while ((code = bb_stream_write(stream, NULL, 0, true, &taken)) == BB_AGAIN) take();
    assert_int_equal(code, BB_OK);
    bb_lane_rejoin(host->lane, stream);
    assert_int_equal(bb_reply_end(host->lane), BB_OK);
    bb_stream_free(stream);
}

static void test_a_stream_sends_the_rest_of_hints_before_its_head(void **state)
{
    (void)state;
    new_client(AF_UNIX, app_streams, NEXT);
    for (int round = 0; round < 2; round++) {
        assert_hint();
        assert_response(client, 200, "");
        if (round == 0) client_say(client, NEXT);
    }
    finish();
}

static void app_reads_a_stream(struct host *host, const struct bb_request *request)
{
    (void)request;
    fill_socket(host);
    host_fields(host, 200);
    assert_int_equal(bb_reply_head(host->lane, BB_LENGTH_UNKNOWN), BB_OK);
    assert_int_equal(bb_lane_detach(host->lane, &stream), BB_OK);
    uint64_t since = real_ms();
    for (take(); bb__buf_len(&client->in) == 0; take()) {
        assert_true(real_ms() - since < WAIT_LIMIT);
        assert_int_equal(bb_stream_read(stream, bytes, MOST, &got), BB_AGAIN);
    }
    say("abcdef");
    assert_int_equal(bb_stream_read(stream, bytes, MOST, &got), BB_OK);
    assert_int_equal(got, 6);
    put_text("read", true);
    bb_lane_rejoin(host->lane, stream);
    assert_int_equal(bb_reply_end(host->lane), BB_OK);
    bb_stream_free(stream);
}

static void test_a_stream_sends_a_hundred_while_it_is_read(void **state)
{
    (void)state;
    new_client(AF_UNIX, app_reads_a_stream, LENGTH EXPECT "\r\n");
    assert_response(client, 100, NULL);
    assert_response(client, 200, "read");
    finish();
}

static void app_hijacks(struct host *host, const struct bb_request *request)
{
    struct bb_slice unread;
    int fd;
    (void)request;
    hint(host);
    assert_int_equal(bb_lane_hijack(host->lane, &fd, &unread), BB_AGAIN);
    do take();
    while (bb_lane_hijack(host->lane, &fd, &unread) == BB_AGAIN);
    assert_int_equal(bb_reply_end(host->lane), BB_OK);
    close(fd);
}

static void test_a_hijack_waits_for_the_rest_of_hints(void **state)
{
    (void)state;
    new_client(AF_UNIX, app_hijacks, NEXT);
    assert_hint();
    assert_end(client);
    finish();
}

/* ---- write_timeout ---- */

/* write_timeout begins with the hints, not with the request. */
static void app_hints_late(struct host *host, const struct bb_request *request)
{
    (void)request;
    fake_clock_advance(host->worker->settings.write_timeout);
    hint(host);
    host_respond(host, 200, "late", 4);
}

static void test_a_client_has_the_whole_write_timeout_for_late_hints(void **state)
{
    (void)state;
    new_client(AF_UNIX, app_hints_late, NEXT);
    assert_hint();
    assert_response(client, 200, "late");
    finish();
}

static void app_continues_late(struct host *host, const struct bb_request *request)
{
    (void)request;
    fake_clock_advance(host->worker->settings.write_timeout);
    fill_socket(host);
    assert_int_equal(read_some(host, MOST), BB_AGAIN);
    host_respond(host, 200, "late", 4);
}

static void test_a_client_has_the_whole_write_timeout_for_a_late_hundred(void **state)
{
    (void)state;
    new_client(AF_UNIX, app_continues_late, LENGTH EXPECT "\r\n");
    while (bb__buf_len(&client->in) == 0) {
        host_turn(client->host);
        take();
    }
    assert_response(client, 100, NULL);
    assert_response(client, 200, "late");
    finish();
}

static int ended;

/* The memory of the worker is full, too, so the core takes no more bytes of the host. */
static void app_names_a_missing_file(struct host *host, const struct bb_request *request)
{
    atomic_uint_fast64_t *unsent = &host->worker->spool_budget.unsent;
    uint64_t more = host->worker->spool_budget.unsent_max;
    bool answered;
    (void)request;
    hint(host);
    atomic_fetch_add(unsent, more);
    assert_int_equal(bb_reply_begin(host->lane, 200), BB_OK);
    assert_int_equal(bb_reply_field(host->lane, "x-sendfile", 10, "/proc/none/file", 15), BB_OK);
    assert_int_equal(bb_reply_named_file(host->lane, &answered), BB_OK);
    ended = bb_reply_end(host->lane);
    atomic_fetch_sub(unsent, more);
}

static void test_the_response_for_a_missing_file_follows_the_rest_of_hints(void **state)
{
    (void)state;
    struct bb_settings settings = host_settings();
    strcpy(settings.x_sendfile, "/proc/none");
    struct host *host = host_new(&settings, AF_UNIX);
    host->app = app_names_a_missing_file;
    client = client_new_saying(host, "GET / HTTP/1.1\r\nHost: x\r\n\r\n");
    assert_hint();
    assert_response(client, 404, "The file cannot be sent.\n");
    assert_int_equal(ended, BB_OK);
    client_free(client);
    host_free(host);
}

/* The socket takes a part of the 103, and there is no memory for the rest. */
static void app_hints_without_memory(struct host *host, const struct bb_request *request)
{
    (void)request;
    begin_hint(host);
    assert_int_equal(bb__buf_reserve(&host->lane->reply.staged, 2), BB_OK);
    fail_alloc_at(1);
    assert_int_equal(bb_reply_interim(host->lane), BB_ENOMEM);
    fail_alloc_off();
    assert_int_equal(bb_reply_begin(host->lane, 500), BB_EGONE);
    bb_reply_abort(host->lane);
}

static void test_no_response_follows_a_part_of_hints(void **state)
{
    (void)state;
    new_client(AF_UNIX, app_hints_without_memory, "GET / HTTP/1.1\r\nHost: x\r\n\r\n");
    assert_false(client_read(client, false));
    assert_int_not_equal(client->end, CLIENT_OPEN);
    finish();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_hundred_is_sent_while_the_lane_waits),
        cmocka_unit_test(test_hints_are_sent_while_the_lane_waits),
        cmocka_unit_test(test_a_client_that_sends_its_body_may_take_nothing),
        cmocka_unit_test(test_a_read_leaves_the_unsent_bytes_to_the_thread_that_waits),
        cmocka_unit_test(test_a_stream_sends_the_rest_of_hints_before_its_head),
        cmocka_unit_test(test_a_stream_sends_a_hundred_while_it_is_read),
        cmocka_unit_test(test_a_hijack_waits_for_the_rest_of_hints),
        cmocka_unit_test(test_a_client_has_the_whole_write_timeout_for_late_hints),
        cmocka_unit_test(test_a_client_has_the_whole_write_timeout_for_a_late_hundred),
        cmocka_unit_test(test_the_response_for_a_missing_file_follows_the_rest_of_hints),
        cmocka_unit_test(test_no_response_follows_a_part_of_hints),
    };
    return cmocka_run_group_tests_name("request_unsent", tests, NULL, NULL);
}
