/* request_stream_test.c: connections that leave their lane before the host has read the whole request
 * body. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "request_read_case.h"
#include "stream_case.h"

/* ---- connections that leave the lane ---- */

static void read_stream(const char *text)
{
    bb_stream_wait(stream, BB_STREAM_READABLE);
    assert_int_equal(bb_stream_read(stream, bytes, MOST, &got), BB_OK);
    assert_int_equal(got, strlen(text));
    assert_memory_equal(bytes, text, got);
}

static void begin_stream(struct host *host)
{
    host_fields(host, 200);
    assert_int_equal(bb_reply_head(host->lane, BB_LENGTH_UNKNOWN), BB_OK);
    assert_int_equal(bb_lane_detach(host->lane, &stream), BB_OK);
    put_text("begun ", false);
}

static void end_request(struct host *host)
{
    bb_lane_rejoin(host->lane, stream);
    assert_int_equal(bb_reply_end(host->lane), BB_OK);
}

static void app_leaves_a_stream(struct host *host, const struct bb_request *request)
{
    if (!request->unbuffered) {
        app_echo(host, request);
        return;
    }
    assert_read(host, "ab");
    begin_stream(host);
    assert_int_equal(read_some(host, MOST), BB_EOF); /* the stream has the body */
    end_request(host);
}

static void test_a_stream_reads_on_after_the_request(void **state)
{
    (void)state;
    struct host *host = new_client(AF_INET, app_leaves_a_stream, LENGTH "\r\nab");
    assert_true(client_read_head(client));
    host_settle_to(host, 0);
    client_say(client, "cd");
    read_stream("cd");
    put_text("cd ", false);
    client_say(client, "ef");
    read_stream("ef");
    assert_int_equal(bb_stream_read(stream, bytes, MOST, &got), BB_EOF);
    put_text("end", true);
    bb_stream_free(stream);
    assert_true(client_read_body(client));
    assert_memory_equal(bb__buf_bytes(&client->body), "begun cd end", 12);
    assert_end(client);
    finish();
}

static void app_ends_a_stream(struct host *host, const struct bb_request *request)
{
    if (!request->unbuffered) {
        app_echo(host, request);
        return;
    }
    assert_read(host, "ab");
    say("cdef" NEXT);
    assert_read(host, "cdef");
    begin_stream(host);
    put_text("end", true);
    end_request(host);
    bb_stream_free(stream);
}

static void test_a_stream_that_ends_in_time_keeps_the_connection(void **state)
{
    (void)state;
    new_client(AF_UNIX, app_ends_a_stream, LENGTH "\r\nab");
    assert_response(client, 200, "begun end");
    assert_response(client, 200, "GET /next ");
    finish();
}

static void app_streams_to_a_waiting_client(struct host *host, const struct bb_request *request)
{
    (void)request;
    begin_stream(host);
    end_request(host);
}

static void test_a_stream_sends_continue_before_its_head(void **state)
{
    (void)state;
    new_client(AF_UNIX, app_streams_to_a_waiting_client, LENGTH EXPECT "\r\n");
    assert_true(client_read(client, false));
    assert_int_equal(client->status, 100);
    assert_true(client_read_head(client));
    assert_int_equal(client->status, 200);
    client_say(client, "abcdef");
    read_stream("abcdef");
    bb_stream_free(stream);
    finish();
}

static void app_hijacks(struct host *host, const struct bb_request *request)
{
    struct bb_slice unread;
    int fd;
    (void)request;
    assert_int_equal(read_some(host, 1), BB_OK);
    assert_int_equal(bb_lane_hijack(host->lane, &fd, &unread), BB_OK);
    assert_int_equal(unread.len, 2);
    assert_memory_equal(unread.at, "bc", 2);
    close(fd);
    assert_int_equal(bb_reply_end(host->lane), BB_OK);
}

static void test_a_hijack_gets_the_unread_bytes(void **state)
{
    (void)state;
    new_client(AF_INET, app_hijacks, LENGTH "\r\nabc");
    host_settle_to(client->host, 0);
    finish();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_stream_reads_on_after_the_request),
        cmocka_unit_test(test_a_stream_that_ends_in_time_keeps_the_connection),
        cmocka_unit_test(test_a_stream_sends_continue_before_its_head),
        cmocka_unit_test(test_a_hijack_gets_the_unread_bytes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
