/* counting_stream_test.c: what hijacked connections and streams count, and responses that the I/O thread has
 * ended. The test stands for the I/O thread. counting_limit_test.c has a real one. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/wait.h>

#include <cmocka.h>

#include "counting_case.h"
#include "stream/stream_case.h"
#include "support/fake_clock.h"

static void free_all(struct host *host, struct client *client)
{
    bb_stream_free(stream);
    stream = NULL;
    client_free(client);
    counting_free(host);
}

/* ---- hijack ---- */

static bool hijacks_after_a_part;

static void app_hijacks(struct host *host, const struct bb_request *request)
{
    const struct bb_slice part = {"abc", 3};
    struct bb_slice unread;
    uint64_t taken;
    int fd;
    (void)request;
    if (hijacks_after_a_part) {
        host_fields(host, 200);
        assert_int_equal(bb_reply_head(host->lane, 10), BB_OK);
        assert_int_equal(bb_reply_write(host->lane, &part, 1, false, &taken), BB_OK);
    }
    assert_int_equal(bb_lane_hijack(host->lane, &fd, &unread), BB_OK);
    close(fd);
    assert_int_equal(bb_reply_end(host->lane), BB_OK);
}

static void test_a_hijacked_request_has_no_response(void **state)
{
    (void)state;
    for (int after_a_part = 0; after_a_part < 2; after_a_part++) {
        hijacks_after_a_part = after_a_part;
        struct host *host = counting_host_with(AF_UNIX, app_hijacks);
        struct client *client = client_new_saying(host, POST("/", "Content-Length: 4\r\n") "body");
        while (client_more(client)) continue;
        assert_totals(after_a_part ? "responses_2xx 1 bytes_in 4 bytes_out 3 accepted 1"
                                   : "hijacked 1 bytes_in 4 accepted 1");
        assert_int_equal(times(), 1);
        free_all(host, client);
    }
}

/* ---- streams ---- */

static enum { ENDS_BEFORE, ENDS_LATER, IS_NOT_REJOINED } stream_does;
static const char *stream_length;

static void app_streams(struct host *host, const struct bb_request *request)
{
    host_fields(host, request->head.upgrade ? 101 : 200);
    if (request->head.upgrade) assert_int_equal(bb_reply_field(host->lane, "upgrade", 7, "x", 1), BB_OK);
    if (stream_length)
        assert_int_equal(
            bb_reply_field(host->lane, "content-length", 14, stream_length, strlen(stream_length)), BB_OK);
    assert_int_equal(bb_reply_head(host->lane, BB_LENGTH_UNKNOWN), BB_OK);
    assert_int_equal(bb_lane_detach(host->lane, &stream), BB_OK);
    put_text("abc", false);
    put_text("defg", stream_does == ENDS_BEFORE);
    if (stream_does != IS_NOT_REJOINED) bb_lane_rejoin(host->lane, stream);
    assert_int_equal(bb_reply_end(host->lane), BB_OK);
}

static void test_a_stream_that_ends_before_its_request_counts_once(void **state)
{
    (void)state;
    static const char *const lengths[] = {NULL, "7"};
    stream_does = ENDS_BEFORE;
    for (int i = 0; i < 2; i++) {
        stream_length = lengths[i];
        struct host *host = counting_host_with(AF_UNIX, app_streams);
        struct client *client = client_new_saying(host, GET("/", ""));
        assert_response(client, 200, "abcdefg");
        assert_totals("responses_2xx 1 bytes_out 7 accepted 1");
        assert_int_equal(times(), 1);
        bb_stream_free(stream);
        stream = NULL;
        assert_totals("responses_2xx 1 bytes_out 7 accepted 1");
        free_all(host, client);
    }
}

static void test_a_stream_that_goes_on_counts_its_bytes_at_its_end(void **state)
{
    (void)state;
    static const char *const lengths[] = {NULL, "9"};
    for (int rejoins = 0; rejoins < 2; rejoins++)
        for (int i = 0; i < 2; i++) {
            stream_does = rejoins ? ENDS_LATER : IS_NOT_REJOINED;
            stream_length = lengths[i];
            struct host *host = counting_host_with(AF_UNIX, app_streams);
            struct client *client = client_new_saying(host, GET("/", ""));
            assert_true(client_read_head(client));
            assert_totals(rejoins ? "responses_2xx 1 bytes_out 7 accepted 1" : "responses_2xx 1 accepted 1");
            assert_int_equal(times(), 1);
            put_text("hi", true);
            bb_stream_free(stream);
            stream = NULL;
            assert_totals("responses_2xx 1 bytes_out 9 accepted 1 passed_on 1");
            free_all(host, client);
        }
}

static void test_the_stream_of_a_HEAD_counts_no_bytes(void **state)
{
    (void)state;
    stream_does = ENDS_LATER;
    stream_length = NULL;
    struct host *host = counting_host_with(AF_UNIX, app_streams);
    struct client *client = client_new_saying(host, "HEAD / HTTP/1.1\r\nHost: x\r\n\r\n");
    assert_true(client_read(client, false));
    put_text("hi", true);
    bb_stream_free(stream);
    stream = NULL;
    assert_totals("responses_2xx 1 accepted 1 passed_on 1");
    free_all(host, client);
}

static void test_an_upgrade_counts_as_1xx(void **state)
{
    (void)state;
    stream_does = ENDS_LATER;
    stream_length = NULL;
    struct host *host = counting_host_with(AF_UNIX, app_streams);
    struct client *client = client_new_saying(host, GET("/", "Connection: Upgrade\r\nUpgrade: x\r\n"));
    assert_true(client_read(client, false));
    assert_int_equal(client->status, 101);
    assert_totals("responses_1xx 1 bytes_out 7 accepted 1");
    put_text("hi", true);
    bb_stream_free(stream);
    stream = NULL;
    assert_totals("responses_1xx 1 bytes_out 9 accepted 1");
    free_all(host, client);
}

static void app_streams_and_reads(struct host *host, const struct bb_request *request)
{
    char bytes[16];
    size_t got;
    assert_true(request->unbuffered);
    assert_int_equal(bb_request_read(host->lane, bytes, 2, &got), BB_OK);
    host_fields(host, 200);
    assert_int_equal(bb_reply_head(host->lane, BB_LENGTH_UNKNOWN), BB_OK);
    assert_int_equal(bb_lane_detach(host->lane, &stream), BB_OK);
    assert_int_equal(bb_stream_read(stream, bytes, 3, &got), BB_OK);
    put_text("x", stream_does == ENDS_BEFORE);
    bb_lane_rejoin(host->lane, stream);
    assert_int_equal(bb_reply_end(host->lane), BB_OK);
}

static void test_a_stream_counts_the_body_that_it_reads_once(void **state)
{
    (void)state;
    for (int later = 0; later < 2; later++) {
        struct bb_settings settings = host_settings();
        strcpy(settings.unbuffered_bodies, "/in/");
        struct host *host = counting_host(&settings, AF_UNIX, 1);
        char bytes[16];
        size_t got;
        host->app = app_streams_and_reads;
        stream_does = later ? ENDS_LATER : ENDS_BEFORE;
        struct client *client = client_new_saying(host, POST("/in/", "Content-Length: 9\r\n") "abcde");
        assert_true(client_read_head(client));
        client_say(client, "fghi");
        assert_totals(later ? "responses_2xx 1 bytes_out 1 accepted 1"
                            : "responses_2xx 1 bytes_in 5 bytes_out 1 accepted 1");
        if (later) assert_int_equal(bb_stream_read(stream, bytes, sizeof bytes, &got), BB_OK);
        bb_stream_free(stream);
        stream = NULL;
        assert_totals(later ? "responses_2xx 1 bytes_in 9 bytes_out 1 accepted 1"
                            : "responses_2xx 1 bytes_in 5 bytes_out 1 accepted 1");
        free_all(host, client);
    }
}

static void test_a_stream_in_a_forked_child_counts_nothing(void **state)
{
    (void)state;
    int status;
    stream_does = IS_NOT_REJOINED;
    stream_length = NULL;
    struct host *host = counting_host_with(AF_UNIX, app_streams);
    struct client *client = client_new_saying(host, GET("/", ""));
    assert_true(client_read_head(client));
    pid_t child = fork();
    if (child == 0) {
        bb_stream_free(stream);
        _exit(0);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_totals("responses_2xx 1 accepted 1");
    bb_stream_free(stream);
    stream = NULL;
    assert_totals("responses_2xx 1 bytes_out 7 accepted 1");
    free_all(host, client);
}

/* The connection of an ended stream lingers in the set of a lane, which has not accepted it. */
static void test_a_stream_that_lingers_is_accepted_once(void **state)
{
    (void)state;
    stream_does = ENDS_LATER;
    stream_length = NULL;
    struct host *host = counting_host_with(AF_INET, app_streams);
    struct client *client = client_new_saying(host, GET("/", "Connection: close\r\n"));
    assert_true(client_read_head(client));
    host_settle_to(host, 0);
    put_text("hi", true);
    bb_stream_free(stream);
    stream = NULL;
    host_settle_to(host, 1);
    assert_totals("responses_2xx 1 bytes_out 9 accepted 1");
    free_all(host, client);
}

/* ---- ended by the I/O thread ---- */

static enum { OVERDUE_REPLY, OVERDUE_HALF, OVERDUE_STREAM, OVERDUE_REJOINS } overdue;
static bool aborts;

/* The I/O thread ends the response, and counts the request. The lane counts the bytes. */
static void app_is_overdue(struct host *host, const struct bb_request *request)
{
    const struct bb_slice part = {"abc", 3};
    uint64_t taken;
    (void)request;
    host_fields(host, 200);
    assert_int_equal(bb_reply_head(host->lane, 3), BB_OK);
    if (overdue == OVERDUE_HALF) bb_reply_write(host->lane, NULL, 0, false, &taken);
    if (overdue >= OVERDUE_STREAM) {
        assert_int_equal(bb_lane_detach(host->lane, &stream), BB_OK);
        put_text("abc", true);
    }
    atomic_store(&host->lane->response, overdue == OVERDUE_REPLY ? BB_RESPONSE_BY_IO : BB_RESPONSE_CUT);
    if (overdue == OVERDUE_REJOINS) bb_lane_rejoin(host->lane, stream);
    if (overdue < OVERDUE_STREAM)
        assert_int_equal(bb_reply_write(host->lane, &part, 1, true, &taken), BB_EGONE);
    if (aborts)
        bb_reply_abort(host->lane);
    else
        (void)bb_reply_end(host->lane);
}

static void test_a_request_that_the_io_thread_has_ended_is_not_counted_again(void **state)
{
    (void)state;
    for (overdue = OVERDUE_REPLY; overdue <= OVERDUE_REJOINS; overdue++)
        for (int way = 0; way < 2; way++) {
            aborts = way == 1;
            struct bb_settings settings = host_settings();
            settings.request_timeout = 3600 * 1000;
            struct host *host = counting_host(&settings, AF_UNIX, 1);
            host->app = app_is_overdue;
            struct client *client = client_new_saying(host, POST("/", "Content-Length: 4\r\n") "body");
            while (host->served == 0) client_wait(client, POLLIN, real_ms());
            bool later = overdue == OVERDUE_STREAM, none = overdue == OVERDUE_REPLY;
            assert_totals(later || none ? "bytes_in 4 accepted 1" : "bytes_in 4 bytes_out 3 accepted 1");
            assert_int_equal(times(), 0);
            bb_stream_free(stream);
            stream = NULL;
            assert_totals(later  ? "bytes_in 4 bytes_out 3 accepted 1 passed_on 1"
                          : none ? "bytes_in 4 accepted 1"
                                 : "bytes_in 4 bytes_out 3 accepted 1");
            atomic_store(&host->lane->response, BB_RESPONSE_OPEN);
            host->app = app_echo; /* the next request of the lane counts again */
            struct client *other = client_new_saying(host, GET("/", ""));
            assert_response(other, 200, "GET / ");
            assert_int_equal(times(), 1);
            client_free(other);
            free_all(host, client);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_hijacked_request_has_no_response),
        cmocka_unit_test(test_a_stream_that_ends_before_its_request_counts_once),
        cmocka_unit_test(test_a_stream_that_goes_on_counts_its_bytes_at_its_end),
        cmocka_unit_test(test_the_stream_of_a_HEAD_counts_no_bytes),
        cmocka_unit_test(test_an_upgrade_counts_as_1xx),
        cmocka_unit_test(test_a_stream_counts_the_body_that_it_reads_once),
        cmocka_unit_test(test_a_stream_in_a_forked_child_counts_nothing),
        cmocka_unit_test(test_a_stream_that_lingers_is_accepted_once),
        cmocka_unit_test(test_a_request_that_the_io_thread_has_ended_is_not_counted_again),
    };
    return cmocka_run_group_tests_name("counting_stream", tests, NULL, NULL);
}
