/* io_linger_test.c: a stream (a response that outlives its request) ends while the lane is busy. The I/O
 * thread reads what the stream's client still sends. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "stream/stream_case.h"

static struct client *uploader;

/* Waits until the worker has this many connections. */
static void await_connections(const struct host *host, unsigned count)
{
    uint64_t since = real_ms();
    while (atomic_load(&host->worker->room.connections) != count) {
        assert_true(real_ms() - since < WAIT_LIMIT);
        (void)poll(NULL, 0, 1);
    }
}

/* Sends more than the kernel's buffers hold. */
static void upload(void)
{
    static const char bytes[64 * 1024];
    struct pollfd watched = {.fd = uploader->fd, .events = POLLOUT};
    for (size_t left = 256 * sizeof bytes; left > 0;) {
        assert_int_equal(poll(&watched, 1, WAIT_LIMIT), 1);
        ssize_t sent = send(uploader->fd, bytes, left < sizeof bytes ? left : sizeof bytes, MSG_NOSIGNAL);
        assert_true(sent > 0);
        left -= (size_t)sent;
    }
}

/* The first request gets a stream. The second request ends this stream, and lasts until the I/O thread has
 * read all bytes of the stream's client. */
static void app(struct host *host, const struct bb_request *request)
{
    (void)request;
    if (host->served > 1) {
        put_text("one", true);
        bb_stream_free(stream);
        await_connections(host, 3);
        upload();
        assert_int_equal(shutdown(uploader->fd, SHUT_WR), 0);
        await_connections(host, 2);
        host_respond(host, 200, "two", 3);
        return;
    }
    host_fields(host, 200);
    assert_int_equal(bb_reply_head(host->lane, 3), BB_OK);
    assert_int_equal(bb_lane_detach(host->lane, &stream), BB_OK);
    bb_lane_rejoin(host->lane, stream);
    assert_int_equal(bb_reply_end(host->lane), BB_OK);
}

static void test_the_io_thread_reads_for_a_busy_lane(void **state)
{
    (void)state;
    struct host *host = host_new_default(AF_INET);
    host->app = app;
    assert_int_equal(bb_worker_start_io_thread(host->worker), BB_OK);
    uploader = client_new_saying(host, "GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
    while (host->served == 0) host_turn(host);
    struct client *idle = client_new(host); /* with this connection, the I/O thread takes the lane's set */
    host_settle_to(host, 1);
    struct client *client = client_new_saying(host, "GET / HTTP/1.1\r\nHost: x\r\n\r\n");
    assert_response(client, 200, "two");
    assert_response(uploader, 200, "one");
    assert_end(uploader);
    client_free(uploader);
    client_free(idle);
    client_free(client);
    host_free(host);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_the_io_thread_reads_for_a_busy_lane)};
    return cmocka_run_group_tests_name("io_linger", tests, NULL, NULL);
}
