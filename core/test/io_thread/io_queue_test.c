/* io_queue_test.c: queue_timeout: how long requests may wait while all lanes are busy. `make tsan` runs this
 * test under ThreadSanitizer. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "rush.h"
#include "support/later_clock.h"

static void test_a_request_that_waits_for_too_long_is_rejected(void **state)
{
    (void)state;
    struct bb_settings settings = bounded(SOON, 0);
    struct rush rush;
    begin(&rush, &settings);
    int early = connect_early(&rush);
    block_all(&rush);
    say(early, "GET /late HTTP/1.1\r\nHost: x\r\n\r\n");
    int fresh = ask(&rush, "POST /late HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\nGET /");
    assert_refused(early, NULL);
    assert_refused(fresh, NULL);
    unblock_all(&rush);
    assert_true(is_served(early, "/next", ""));
    assert_true(is_served(fresh, "/next", "body"));
    close(early);
    close(fresh);
    end(&rush, 3);
}

/* A process frozen by SIGSTOP still looks idle on the scoreboard, but never receives the request. */
static void test_a_request_that_is_left_to_a_stopped_process_is_rejected(void **state)
{
    (void)state;
    struct bb_settings settings = bounded(SOON, 0);
    struct rush rush;
    begin(&rush, &settings);
    int early = connect_early(&rush);
    block_all(&rush);
    struct bb__slot *stopped = bb__scoreboard_claim(lanes_scoreboard);
    atomic_store(&stopped->pid, 1);
    bb__scoreboard_set_idle(stopped, true);
    say(early, "GET /late HTTP/1.1\r\nHost: x\r\n\r\n");
    assert_refused(early, NULL);
    unblock_all(&rush);
    assert_true(is_served(early, "/next", ""));
    close(early);
    end(&rush, 2);
}

/* The frozen process does not accept the new connection. limit 0 tests queue_timeout, limit 1 tests
 * max_queue. */
static void test_a_new_connection_is_not_left_to_a_stopped_process(void **state)
{
    (void)state;
    for (int limit = 0; limit <= 1; limit++) {
        struct bb_settings settings = limit == 0 ? bounded(SOON, 0) : bounded(0, 1);
        struct rush rush;
        begin(&rush, &settings);
        block_all(&rush);
        struct bb__slot *stopped = bb__scoreboard_claim(lanes_scoreboard);
        atomic_store(&stopped->pid, 1);
        bb__scoreboard_set_idle(stopped, true);
        int first = ask(&rush, "GET /first HTTP/1.1\r\nHost: x\r\n\r\n");
        if (limit == 1) await_waiting(&rush, 1);
        int last = ask(&rush, "GET /last HTTP/1.1\r\nHost: x\r\n\r\n");
        assert_refused(last, NULL);
        close(last);
        if (limit == 0) assert_refused(first, NULL);
        hold_clocks();
        bb__scoreboard_set_idle(stopped, false); /* the process continues and is idle again */
        bb__scoreboard_set_idle(stopped, true);
        assert_int_equal(bb__scoreboard_idle(lanes_scoreboard, 8), 1);
        bb__scoreboard_set_idle(stopped, false);
        let_clocks_go_on();
        unblock_all(&rush);
        if (limit == 1) assert_true(lanes_read(first, "/first 0"));
        close(first);
        end(&rush, (unsigned)limit);
    }
}

/* If a busy lane has only one connection, the I/O thread does not watch the lane's connections. The I/O
 * thread must still reject new connections in time. */
static void test_requests_that_wait_for_a_lane_with_one_connection_are_rejected(void **state)
{
    (void)state;
    for (int limit = 0; limit <= 1; limit++) {
        struct bb_settings settings = limit == 0 ? bounded(SOON, 0) : bounded(0, 1);
        struct rush rush;
        begin_with(&rush, &settings, 1);
        block_all(&rush);
        int first = ask(&rush, "GET /first HTTP/1.1\r\nHost: x\r\n\r\n");
        if (limit == 1) await_waiting(&rush, 1);
        int last = ask(&rush, "GET /last HTTP/1.1\r\nHost: x\r\n\r\n");
        assert_refused(last, NULL);
        close(last);
        if (limit == 0) assert_refused(first, NULL);
        unblock_all(&rush);
        if (limit == 1) assert_true(lanes_read(first, "/first 0"));
        close(first);
        end(&rush, (unsigned)limit);
    }
}

static void test_a_request_that_gets_a_lane_in_time_is_served(void **state)
{
    (void)state;
    struct bb_settings settings = bounded(NEVER, 0);
    struct rush rush;
    begin(&rush, &settings);
    int early = connect_early(&rush);
    block_all(&rush);
    say(early, "POST /early HTTP/1.1\r\nHost: x\r\n\r\n");
    int fresh = ask(&rush, "POST /fresh HTTP/1.1\r\nHost: x\r\n\r\n");
    await_waiting(&rush, 2);
    assert_true(is_silent(early) && is_silent(fresh));
    unblock_all(&rush);
    assert_true(lanes_read(early, "/early 0"));
    assert_true(lanes_read(fresh, "/fresh 0"));
    close(early);
    close(fresh);
    end(&rush, 3);
}

/* The queue time of the second request begins when the core has rejected the first request. */
static void test_a_pipelined_request_is_rejected_after_the_first(void **state)
{
    (void)state;
    struct rush rush;
    begin_busy(&rush, SOON, 0);
    int fd = ask(&rush, "GET /one HTTP/1.1\r\nHost: x\r\n\r\nGET /two HTTP/1.1\r\nHost: x\r\n\r\n");
    assert_refused(fd, NULL);
    assert_refused(fd, NULL);
    unblock_all(&rush);
    assert_true(is_served(fd, "/three", ""));
    close(fd);
    end(&rush, 1);
}

static void test_a_client_of_http_1_0_that_asks_for_keep_alive_stays(void **state)
{
    (void)state;
    struct rush rush;
    char response[256];
    begin_busy(&rush, SOON, 0);
    int fd = ask(&rush, "HEAD /one HTTP/1.0\r\nConnection: keep-alive\r\n\r\n");
    read_until(fd, "\r\n\r\n", response, sizeof response);
    assert_non_null(strstr(response, "\r\nConnection: keep-alive\r\n\r\n"));
    unblock_all(&rush);
    assert_true(is_served(fd, "/two", ""));
    close(fd);
    end(&rush, 1);
}

/* A nudge (an empty message that wakes a lane) is in the shared queue before the request. The request must be
 * rejected in time, and the nudge must stay in the queue. */
static void test_a_request_behind_a_nudge_is_rejected(void **state)
{
    (void)state;
    struct rush rush;
    begin_busy(&rush, SOON, 0);
    bb__shared_queue_nudge(&rush.lanes.worker->shared.queue);
    int fd = ask(&rush, "GET /late HTTP/1.1\r\nHost: x\r\n\r\n");
    assert_refused(fd, NULL);
    await_first(&rush, has_word, 0);
    close(fd);
    unblock_all(&rush);
    end(&rush, 0);
}

static void test_a_rejected_connection_is_closed_if_the_client_asks_for_it(void **state)
{
    (void)state;
    struct rush rush;
    char byte;
    begin_busy(&rush, SOON, 0);
    int fd = ask(&rush, "GET /late HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
    assert_refused(fd, "\r\nConnection: close\r\n");
    assert_int_equal(recv(fd, &byte, 1, 0), 0);
    close(fd);
    unblock_all(&rush);
    end(&rush, 0);
}

static void test_a_health_check_waits(void **state)
{
    (void)state;
    struct rush rush;
    begin_busy(&rush, SOON, 1);
    int check = ask(&rush, "GET /healthz?deep=1 HTTP/1.1\r\nHost: x\r\n\r\n");
    for (int round = 0; round < 3; round++) {
        int fd = ask(&rush, "GET /healthz/more HTTP/1.1\r\nHost: x\r\n\r\n");
        assert_refused(fd, NULL);
        close(fd);
    }
    assert_true(is_silent(check));
    int other = ask(&rush, "GET /up HTTP/1.1\r\nHost: x\r\n\r\n");
    assert_true(is_silent(other));
    unblock_all(&rush);
    assert_true(lanes_read(check, "/healthz?deep=1 0"));
    assert_true(lanes_read(other, "/up 0"));
    close(check);
    close(other);
    end(&rush, 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_request_that_waits_for_too_long_is_rejected),
        cmocka_unit_test(test_a_request_that_is_left_to_a_stopped_process_is_rejected),
        cmocka_unit_test(test_a_new_connection_is_not_left_to_a_stopped_process),
        cmocka_unit_test(test_requests_that_wait_for_a_lane_with_one_connection_are_rejected),
        cmocka_unit_test(test_a_request_that_gets_a_lane_in_time_is_served),
        cmocka_unit_test(test_a_pipelined_request_is_rejected_after_the_first),
        cmocka_unit_test(test_a_client_of_http_1_0_that_asks_for_keep_alive_stays),
        cmocka_unit_test(test_a_request_behind_a_nudge_is_rejected),
        cmocka_unit_test(test_a_rejected_connection_is_closed_if_the_client_asks_for_it),
        cmocka_unit_test(test_a_health_check_waits),
    };
    return cmocka_run_group_tests_name("io_queue", tests, NULL, NULL);
}
