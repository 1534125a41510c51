/* io_full_test.c: max_queue: how many requests may wait while all lanes are busy. `make timing` runs this
 * test, also under ThreadSanitizer. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "rush.h"
#include "support/later_clock.h"

static void test_one_request_more_than_max_queue_is_rejected(void **state)
{
    (void)state;
    struct bb_settings settings = bounded(0, 2);
    struct rush rush;
    int waiting[2];
    begin(&rush, &settings);
    int early = connect_early(&rush);
    block_all(&rush);
    for (int i = 0; i < 2; i++) waiting[i] = ask(&rush, "GET /waits HTTP/1.1\r\nHost: x\r\n\r\n");
    await_waiting(&rush, 2);
    for (int i = 0; i < 3; i++) {
        say(early, "POST /more HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\n\r\n");
        assert_refused(early, NULL);
    }
    int fresh = ask(&rush, "GET /more HTTP/1.1\r\nHost: x\r\n\r\n");
    assert_refused(fresh, NULL);
    await_waiting(&rush, 2);
    unblock_all(&rush);
    for (int i = 0; i < 2; i++) {
        assert_true(lanes_read(waiting[i], "/waits 0"));
        close(waiting[i]);
    }
    assert_true(lanes_ask(early, "/next", "", ""));
    assert_true(lanes_ask(fresh, "/next", "", ""));
    close(early);
    close(fresh);
    end(&rush, 5);
}

/* Requests that do not fit into the shared queue stay in the worker's memory. These requests also count
 * towards max_queue. */
static void test_requests_without_room_in_the_shared_queue_count(void **state)
{
    (void)state;
    static const struct iovec word = {(char *)"", 1};
    struct rush rush;
    int fds[5], refused = 0;
    begin_busy(&rush, 0, 3);
    const struct bb__shared_queue *shared_queue = &rush.lanes.worker->shared.queue;
    while (bb__shared_queue_send(shared_queue, 0, &word, 1, NULL, 0) == BB_OK) continue;
    for (int i = 0; i < 5; i++) fds[i] = ask(&rush, "GET /waits HTTP/1.1\r\nHost: x\r\n\r\n");
    for (int i = 0; refused < 2; i = (i + 1) % 5) {
        if (fds[i] < 0 || is_silent(fds[i])) continue;
        assert_refused(fds[i], NULL);
        close(fds[i]);
        fds[i] = -1;
        refused++;
    }
    unblock_all(&rush);
    for (int i = 0; i < 5; i++) {
        if (fds[i] < 0) continue;
        assert_true(lanes_read(fds[i], "/waits 0"));
        close(fds[i]);
    }
    end(&rush, 3);
}

/* The core does not send 100 Continue (RFC 9110 10.1.1) for a request that it rejects. */
static void test_the_body_of_a_rejected_request_is_not_read(void **state)
{
    (void)state;
    static const char *const fields[] = {"Content-Length: 1000000\r\nExpect: 100-continue\r\n\r\n",
                                         "Transfer-Encoding: chunked\r\n\r\n2\r\nab\r\n"};
    struct rush rush;
    char request[256];
    begin_busy(&rush, 0, 1);
    int waits = ask(&rush, "GET /waits HTTP/1.1\r\nHost: x\r\n\r\n");
    await_waiting(&rush, 1);
    int sure = ask(&rush, "GET /sure HTTP/1.1\r\nHost: x\r\n\r\n"); /* rejected, so the queue is full */
    assert_refused(sure, NULL);
    int check = ask(&rush, "POST /up HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\n");
    for (int i = 0; i < 2; i++) {
        snprintf(request, sizeof request, "POST /body HTTP/1.1\r\nHost: x\r\n%s", fields[i]);
        int fd = ask(&rush, request);
        assert_refused(fd, "\r\nConnection: close\r\n");
        close(fd);
    }
    assert_true(is_silent(check)); /* the core waits for the body of a health check */
    unblock_all(&rush);
    assert_true(lanes_read(waits, "/waits 0"));
    say(check, "ab");
    assert_true(lanes_read(check, "/up 2"));
    close(waits);
    close(sure);
    close(check);
    end(&rush, 2);
}

static void test_no_request_is_rejected_that_a_lane_has_time_for(void **state)
{
    (void)state;
    struct bb_settings settings = bounded(SOON, 1);
    struct rush rush;
    begin(&rush, &settings);
    int fd = connect_early(&rush), other = connect_early(&rush);
    for (int i = 0; i < 150; i++) {
        say(fd, "GET /slow HTTP/1.1\r\nHost: x\r\n\r\n");
        assert_true(lanes_ask(other, "/slow", "", ""));
        assert_true(lanes_read(fd, "/slow 0"));
    }
    close(fd);
    close(other);
    block_all(&rush);
    unblock_all(&rush);
    end(&rush, 302);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_one_request_more_than_max_queue_is_rejected),
        cmocka_unit_test(test_requests_without_room_in_the_shared_queue_count),
        cmocka_unit_test(test_the_body_of_a_rejected_request_is_not_read),
        cmocka_unit_test(test_no_request_is_rejected_that_a_lane_has_time_for),
    };
    return cmocka_run_group_tests_name("io_full", tests, NULL, NULL);
}
