/* io_limit_test.c: time limits of requests (request_timeout and request_timeout_soft). `make tsan` runs this
 * test under ThreadSanitizer. */
#include <poll.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "io_thread/limited.h"
#include "support/later_clock.h"

static bool is_alarmed(const struct bb_worker *worker, int wait)
{
    struct pollfd watched = {.fd = bb_worker_alarm(worker), .events = POLLIN};
    return poll(&watched, 1, wait) == 1;
}

static bool take_alarm(const struct lanes *lanes)
{
    uint64_t times;
    return is_alarmed(lanes->worker, WAIT_LIMIT * 1000) &&
           read(bb_worker_alarm(lanes->worker), &times, sizeof times) == sizeof times;
}

/* The event about the request may raise the alarm earlier. */
static bool is_alarmed_for_hard(const struct lanes *lanes)
{
    bool overdue = false;
    while (!overdue && take_alarm(lanes)) overdue = bb_worker_take_overdue(lanes->worker);
    return overdue;
}

static void finish(struct lanes *lanes, unsigned served)
{
    bb_worker_drain(lanes->worker, BB_QUEUE_TAKE);
    assert_int_equal(lanes_finish(lanes), served);
}

/* /hints has sent a 103, which is no response yet. */
static void test_a_request_without_a_response_is_answered_with_504(void **state)
{
    (void)state;
    static const char *const requests[] = {"POST /block HTTP/1.1\r\nHost: x\r\n\r\n",
                                           "POST /hints HTTP/1.1\r\nHost: x\r\n\r\n"};
    static const char *const expected[] = {
        "HTTP/1.1 504 Gateway Timeout\r\n",
        "HTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\nHTTP/1.1 504 Gateway Timeout\r\n"};
    struct bb_settings settings = limited(500);
    for (int i = 0; i < 2; i++) {
        struct lanes lanes;
        lanes_start(&lanes, 1, &settings);
        int fd = blocked_with(&lanes, requests[i]);
        const char *response = read_to_end(fd);
        assert_memory_equal(response, expected[i], strlen(expected[i]));
        assert_true(is_alarmed_for_hard(&lanes));
        assert_false(bb_worker_take_overdue(lanes.worker));
        sem_post(&lanes.leave); /* the core drops the rest of the response */
        int next = lanes_connect(&lanes);
        assert_true(is_served_at_once(&lanes, next, "/next"));
        close(next);
        close(fd);
        finish(&lanes, 2);
    }
}

static void test_a_response_that_has_begun_is_cut(void **state)
{
    (void)state;
    struct bb_settings settings = limited(1000);
    struct lanes lanes;
    lanes_start(&lanes, 1, &settings);
    int fd = blocked_with(&lanes, "POST /half HTTP/1.1\r\nHost: x\r\n\r\n");
    const char *response = read_to_end(fd);
    assert_memory_equal(response, "HTTP/1.1 200 OK\r\n", 17);
    assert_string_equal(strstr(response, "\r\n\r\n") + 4, "half");
    assert_true(is_alarmed(lanes.worker, WAIT_LIMIT * 1000));
    sem_post(&lanes.leave);
    close(fd);
    finish(&lanes, 1);
}

/* The client has the whole response. The request becomes overdue because the host is still busy. */
static void test_a_client_that_has_its_whole_response_keeps_its_connection(void **state)
{
    (void)state;
    static const char *const requests[] = {"POST /stay HTTP/1.1\r\nHost: x\r\n\r\n",
                                           "POST /each HTTP/1.1\r\nHost: x\r\n\r\n"};
    struct bb_settings settings = limited(1000);
    for (int i = 0; i < 2; i++) {
        struct lanes lanes;
        lanes_start(&lanes, 1, &settings);
        int fd = blocked_with(&lanes, requests[i]);
        assert_true(lanes_read(fd, "all"));
        assert_true(is_alarmed(lanes.worker, WAIT_LIMIT * 1000));
        sem_post(&lanes.leave);
        assert_true(is_served_at_once(&lanes, fd, "/next"));
        close(fd);
        finish(&lanes, 2);
    }
}

static void test_quick_requests_raise_no_alarm(void **state)
{
    (void)state;
    struct bb_settings settings = limited(10 * 1000);
    struct lanes lanes;
    lanes_start(&lanes, 1, &settings);
    int fd = blocked_with(&lanes, "POST /block HTTP/1.1\r\nHost: x\r\n\r\n");
    int other = lanes_connect(&lanes);
    sem_post(&lanes.leave);
    assert_true(lanes_read(fd, "/block 0"));
    for (int i = 0; i < 100; i++) assert_true(lanes_ask(fd, i % 10 ? "/quick" : "/slow", "", ""));
    assert_false(is_alarmed(lanes.worker, 0));
    close(other);
    close(fd);
    finish(&lanes, 101);
}

static bool is_alarmed_for_soft(const struct lanes *lanes)
{
    return take_alarm(lanes) && !bb_worker_take_overdue(lanes->worker);
}

static void test_the_host_is_told_of_the_soft_limit_once(void **state)
{
    (void)state;
    struct bb_settings settings = limited(0);
    struct lanes lanes;
    settings.request_timeout_soft = 50;
    lanes_start(&lanes, 2, &settings);
    struct bb_lane *lane[] = {lanes.threads[0].lane, lanes.threads[1].lane};
    assert_false(bb_lane_take_late(lane[0]));
    int fd = blocked_with(&lanes, "POST /block HTTP/1.1\r\nHost: x\r\n\r\n");
    assert_true(is_alarmed_for_soft(&lanes));
    bool first = bb_lane_take_late(lane[0]), second = bb_lane_take_late(lane[1]);
    assert_true(first != second);
    assert_false(bb_lane_take_late(lane[0]) || bb_lane_take_late(lane[1]));
    sem_post(&lanes.leave);
    assert_true(lanes_read(fd, "/block 0"));
    assert_false(is_alarmed(lanes.worker, 0));
    close(fd);
    finish(&lanes, 1);
}

/* Starts one lane with a request that has passed the soft limit and is still running. */
static int past_the_soft_limit(struct lanes *lanes)
{
    struct bb_settings settings = limited(0);
    settings.request_timeout_soft = 50;
    lanes_start(lanes, 1, &settings);
    int fd = blocked_with(lanes, "POST /block HTTP/1.1\r\nHost: x\r\n\r\n");
    assert_true(is_alarmed_for_soft(lanes));
    return fd;
}

/* The lane already has the next request when the host calls bb_lane_take_late(). */
static void test_the_soft_limit_of_a_request_that_has_ended_is_not_told(void **state)
{
    (void)state;
    struct lanes lanes;
    int fd = past_the_soft_limit(&lanes);
    sem_post(&lanes.leave);
    assert_true(lanes_read(fd, "/block 0"));
    pthread_mutex_lock(&bb__io_of(lanes.worker)->link.lock); /* stops the I/O thread */
    assert_true(is_served_at_once(&lanes, fd, "/next"));
    assert_false(bb_lane_take_late(lanes.threads[0].lane));
    pthread_mutex_unlock(&bb__io_of(lanes.worker)->link.lock);
    close(fd);
    finish(&lanes, 2);
}

/* The I/O thread begins a step 300 ms before the request comes. The soft limit must count from the request,
 * not from the begin of the step. */
static void test_no_limit_is_over_too_soon_if_a_look_takes_long(void **state)
{
    (void)state;
    struct bb_settings settings = limited(0);
    struct lanes lanes;
    settings.request_timeout_soft = 200;
    lanes_start(&lanes, 1, &settings);
    struct bb__io_thread *io = bb__io_of(lanes.worker);
    pthread_mutex_lock(&io->link.lock);
    bb__wakeup_raise(&io->link.kick);
    assert_false(is_alarmed(lanes.worker, 300));
    uint64_t began = real_ms();
    int fd = blocked_with(&lanes, "POST /block HTTP/1.1\r\nHost: x\r\n\r\n");
    pthread_mutex_unlock(&io->link.lock);
    assert_true(is_alarmed_for_soft(&lanes));
    assert_true(real_ms() - began >= 200);
    sem_post(&lanes.leave);
    assert_true(lanes_read(fd, "/block 0"));
    close(fd);
    finish(&lanes, 1);
}

/* bb_lane_extend_time() moves both limits of one request. At the new soft limit the core reports the request
 * again. */
static void test_extended_time_moves_both_limits_of_a_request(void **state)
{
    (void)state;
    struct bb_settings settings = limited(1500);
    struct lanes lanes;
    settings.request_timeout_soft = 100;
    lanes_start(&lanes, 1, &settings);
    uint64_t began = real_ms();
    int fd = blocked_with(&lanes, "POST /block HTTP/1.1\r\nHost: x\r\n\r\n");
    struct bb_lane *lane = lanes.threads[0].lane;
    assert_true(is_alarmed_for_soft(&lanes));
    assert_true(bb_lane_take_late(lane));
    bb_lane_extend_time(lane, 400);
    assert_true(is_alarmed_for_soft(&lanes));
    assert_true(real_ms() - began >= 500);
    assert_true(bb_lane_take_late(lane));
    assert_memory_equal(read_to_end(fd), "HTTP/1.1 504 ", 13);
    assert_true(real_ms() - began >= 1900);
    sem_post(&lanes.leave);
    close(fd);
    hold_clocks();
    say(fd = lanes_connect(&lanes), "POST /block HTTP/1.1\r\nHost: x\r\n\r\n");
    assert_int_equal(sem_wait(&lanes.entered), 0);
    bb_lane_extend_time(lane, 10 * WAIT_LIMIT * 1000);
    let_clocks_go_on();
    sem_post(&lanes.leave);
    assert_true(lanes_read(fd, "/block 0"));
    say(fd, "POST /block HTTP/1.1\r\nHost: x\r\n\r\n");
    assert_int_equal(sem_wait(&lanes.entered), 0);
    assert_memory_equal(read_to_end(fd), "HTTP/1.1 504 ", 13);
    sem_post(&lanes.leave);
    close(fd);
    finish(&lanes, 3);
}

/* The request has waited for its body for longer than the limit, and waits no more. */
static void test_time_in_which_a_body_is_received_does_not_count(void **state)
{
    (void)state;
    struct bb_settings settings = limited(0);
    struct lanes lanes;
    settings.request_timeout_soft = 50;
    lanes_start(&lanes, 1, &settings);
    hold_clocks();
    int fd = lanes_connect(&lanes);
    say(fd, "POST /block HTTP/1.1\r\nHost: x\r\n\r\n");
    assert_int_equal(sem_wait(&lanes.entered), 0);
    atomic_store(&lanes.threads[0].lane->reply.received_for, 10 * WAIT_LIMIT * 1000);
    let_clocks_go_on();
    assert_false(is_alarmed(lanes.worker, 200));
    sem_post(&lanes.leave);
    assert_true(lanes_read(fd, "/block 0"));
    close(fd);
    finish(&lanes, 1);
}

/* After the soft limit the I/O thread has no further timer for the request. bb_lane_extend_time() must make
 * the I/O thread check the request again. */
static void test_extended_time_counts_after_the_host_was_told(void **state)
{
    (void)state;
    struct lanes lanes;
    int fd = past_the_soft_limit(&lanes);
    assert_true(bb_lane_take_late(lanes.threads[0].lane));
    assert_false(is_alarmed(lanes.worker, 200));
    bb_lane_extend_time(lanes.threads[0].lane, 200);
    assert_true(is_alarmed_for_soft(&lanes));
    assert_true(bb_lane_take_late(lanes.threads[0].lane));
    sem_post(&lanes.leave);
    assert_true(lanes_read(fd, "/block 0"));
    close(fd);
    finish(&lanes, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_request_without_a_response_is_answered_with_504),
        cmocka_unit_test(test_a_response_that_has_begun_is_cut),
        cmocka_unit_test(test_a_client_that_has_its_whole_response_keeps_its_connection),
        cmocka_unit_test(test_quick_requests_raise_no_alarm),
        cmocka_unit_test(test_the_host_is_told_of_the_soft_limit_once),
        cmocka_unit_test(test_the_soft_limit_of_a_request_that_has_ended_is_not_told),
        cmocka_unit_test(test_no_limit_is_over_too_soon_if_a_look_takes_long),
        cmocka_unit_test(test_extended_time_moves_both_limits_of_a_request),
        cmocka_unit_test(test_time_in_which_a_body_is_received_does_not_count),
        cmocka_unit_test(test_extended_time_counts_after_the_host_was_told),
    };
    return cmocka_run_group_tests_name("io_limit", tests, NULL, NULL);
}
