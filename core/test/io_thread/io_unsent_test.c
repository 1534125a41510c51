/* io_unsent_test.c: unsent bytes of a response whose host does something else, for example reads the
 * request's body: which of them the I/O thread sends. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "stream/request_read_case.h"
#include "support/fail_alloc.h"
#include "support/files.h"

#define LONG (1 << 20) /* bytes; the kernel buffers only a part of them */

static char text[LONG];

/* The host of request_read_case.h, with an I/O thread. */
static struct host *host_with_io(host_app app)
{
    struct host *host = new_host(AF_UNIX, app);
    host->worker->settings.response_buffer = 2 * LONG;
    bb_lane_free(host->lane);
    assert_int_equal(bb_worker_start_io_thread(host->worker), BB_OK);
    assert_int_equal(bb_lane_new(&host->lane, host->worker), BB_OK);
    memset(text, 'x', sizeof text);
    client = client_new_saying(host, LENGTH "\r\n");
    return host;
}

static void begin(struct host *host)
{
    host_fields(host, 200);
    assert_int_equal(bb_reply_head(host->lane, LONG), BB_OK);
}

static int write_text(struct host *host, bool last)
{
    const struct bb_slice part = {text, sizeof text};
    uint64_t taken;
    return bb_reply_write(host->lane, &part, 1, last, &taken);
}

/* The I/O thread looks at unsent bytes every 10 ms. */
static void let_io_thread_look(void)
{
    usleep(50 * 1000);
}

static void read_whole_body(struct host *host)
{
    say("abcdef");
    assert_read(host, "abcdef");
    assert_int_equal(read_some(host, MOST), BB_EOF);
    assert_true(bb__conn_has_unsent(host->lane->current));
}

/* ---- after the last part ---- */

/* The client gets the whole text. The host makes no call meanwhile. */
static void app_ends_and_works(struct host *host, const struct bb_request *request)
{
    uint64_t since = real_ms();
    (void)request;
    begin(host);
    assert_int_equal(write_text(host, true), BB_OK);
    bb_reply_pause(host->lane);
    while (bb__buf_len(&client->in) < LONG) {
        if (!client_receive(client)) usleep(1000);
        assert_true(real_ms() - since < WAIT_LIMIT);
    }
    assert_int_equal(bb_reply_end(host->lane), BB_OK);
}

static void app_ends_and_reads(struct host *host, const struct bb_request *request)
{
    (void)request;
    begin(host);
    assert_int_equal(write_text(host, true), BB_OK);
    read_whole_body(host);
    assert_int_equal(bb_reply_end(host->lane), BB_OK);
    let_io_thread_look();
}

static char path[TEMPORARY_PATH];

static void app_sends_a_file_and_reads(struct host *host, const struct bb_request *request)
{
    (void)request;
    host_send_file(host, path);
    read_whole_body(host);
    assert_int_equal(bb_reply_end(host->lane), BB_OK);
    let_io_thread_look();
}

static void assert_whole_response(struct host *host)
{
    assert_response(client, 200, NULL);
    assert_int_equal(bb__buf_len(&client->body), LONG + 1);
    client_free(client);
    host->app = app_echo;
    client = client_new_saying(host, NEXT);
    assert_response(client, 200, "GET /next ");
    finish();
}

static void test_the_io_thread_sends_the_rest_while_the_host_works(void **state)
{
    (void)state;
    assert_whole_response(host_with_io(app_ends_and_works));
}

static void test_the_lane_sends_the_rest_after_the_last_part(void **state)
{
    (void)state;
    assert_whole_response(host_with_io(app_ends_and_reads));
}

static void test_the_lane_sends_the_rest_of_a_file(void **state)
{
    (void)state;
    int fd = mkostemp(temporary_path(path), O_CLOEXEC);
    assert_int_equal(write(fd, text, sizeof text), sizeof text);
    close(fd);
    assert_whole_response(host_with_io(app_sends_a_file_and_reads));
    assert_int_equal(unlink(path), 0);
}

/* ---- after an error ---- */

static bool sends_more;

/* The socket takes the head and a part of the text, and there is no memory for the rest. */
static void app_fails_and_reads(struct host *host, const struct bb_request *request)
{
    (void)request;
    begin(host);
    fail_alloc_at(1);
    assert_int_equal(write_text(host, false), BB_ENOMEM);
    assert_true(fail_alloc_off());
    while (client_receive(client)) continue;
    say("abc");
    assert_read(host, "abc");
    let_io_thread_look();
    sends_more = client_receive(client);
    bb_reply_abort(host->lane);
}

static void test_the_io_thread_sends_nothing_twice_after_an_error(void **state)
{
    (void)state;
    host_with_io(app_fails_and_reads);
    while (client_more(client)) continue;
    assert_false(sends_more);
    finish();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_io_thread_sends_the_rest_while_the_host_works),
        cmocka_unit_test(test_the_lane_sends_the_rest_after_the_last_part),
        cmocka_unit_test(test_the_lane_sends_the_rest_of_a_file),
        cmocka_unit_test(test_the_io_thread_sends_nothing_twice_after_an_error),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
