/* io_limit_test.c: time limits of requests (request_timeout and request_timeout_soft). `make tsan` runs this
 * test under ThreadSanitizer. */
#include <poll.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "io_thread/io_work.h"
#include "support/lanes.h"
#include "support/later_clock.h"
#include "support/real_clock.h"

static struct bb_settings limited(uint64_t request_timeout)
{
    struct bb_settings settings = lanes_settings();
    settings.request_timeout = request_timeout;
    return settings;
}

/* Sends a request and waits until the application has it. The clocks stand still until then, because the time
 * of a request begins when the application gets it. */
static int blocked_with(struct lanes *lanes, const char *request)
{
    hold_clocks();
    int fd = lanes_connect(lanes);
    say(fd, request);
    assert_int_equal(sem_wait(&lanes->entered), 0);
    let_clocks_go_on();
    return fd;
}

/* Sends a request and waits until it is served. The worker must have only one lane (a thread that serves
 * requests). The clocks stand still, so the request reaches no limit. */
static bool is_served_at_once(const struct lanes *lanes, int fd, const char *target)
{
    hold_clocks();
    bool answered = lanes_ask(fd, target, "", "");
    while (bb__owner_state_of(bb__owner_look(&lanes->threads[0].lane->owner)) != BB_OWNER_IDLE) sched_yield();
    let_clocks_go_on();
    return answered;
}

/* Reads until the server closes the connection. */
static const char *read_to_end(int fd)
{
    static char text[1024];
    size_t len = 0;
    for (ssize_t got; (got = recv(fd, text + len, sizeof text - 1 - len, 0)) > 0;) len += (size_t)got;
    text[len] = '\0';
    return text;
}

static bool is_alarmed(const struct bb_worker *worker, int wait)
{
    struct pollfd watched = {.fd = bb_worker_alarm(worker), .events = POLLIN};
    return poll(&watched, 1, wait) == 1;
}

/* The event about the request may raise the alarm earlier. */
static bool is_alarmed_for_hard(const struct lanes *lanes)
{
    uint64_t times;
    while (is_alarmed(lanes->worker, WAIT_LIMIT * 1000) &&
           read(bb_worker_alarm(lanes->worker), &times, sizeof times) == sizeof times)
        if (bb_worker_take_overdue(lanes->worker)) return true;
    return false;
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
    uint64_t times;
    if (!is_alarmed(lanes->worker, WAIT_LIMIT * 1000)) return false;
    return read(bb_worker_alarm(lanes->worker), &times, sizeof times) == sizeof times &&
           !bb_worker_take_overdue(lanes->worker);
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

static void start_with_parent(struct lanes *lanes, int count, int parent[2])
{
    struct bb_settings settings = limited(50);
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, parent), 0);
    lanes_tell_fd = parent[1];
    lanes_start(lanes, count, &settings);
    lanes_tell_fd = -1;
}

static char next_word(int fd)
{
    char word = '\0';
    assert_int_equal(recv(fd, &word, 1, 0), 1);
    return word;
}

static bool is_silent(int fd, int wait)
{
    struct pollfd watched = {.fd = fd, .events = POLLIN};
    return poll(&watched, 1, wait) == 0;
}

static void test_the_parent_is_told_of_overdue_requests(void **state)
{
    (void)state;
    struct lanes lanes;
    int parent[2];
    start_with_parent(&lanes, 2, parent);
    int fd = blocked_with(&lanes, "POST /block HTTP/1.1\r\nHost: x\r\n\r\n");
    assert_int_equal(next_word(parent[0]), 'h');
    (void)read_to_end(fd);
    assert_true(is_silent(parent[0], 100)); /* the other lane is idle */
    int second = blocked_with(&lanes, "POST /block HTTP/1.1\r\nHost: x\r\n\r\n");
    assert_int_equal(next_word(parent[0]), 'u');
    (void)read_to_end(second);
    sem_post(&lanes.leave);
    sem_post(&lanes.leave);
    close(second);
    close(fd);
    assert_int_equal(lanes_finish(&lanes), 2); /* the worker drains by itself */
    close(parent[0]);
    close(parent[1]);
}

/* The parent gets 'x' (the parent may kill the host) only if other processes have received all requests that
 * they can serve, and if the host has logged the overdue request. */
static void test_the_parent_is_told_when_only_stuck_requests_are_left(void **state)
{
    (void)state;
    struct lanes lanes;
    int parent[2];
    start_with_parent(&lanes, 1, parent);
    int idle = lanes_connect(&lanes), half = lanes_connect(&lanes);
    assert_true(is_served_at_once(&lanes, idle, "/quick"));
    say(half, "POST /other HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\n1");
    int fd = blocked_with(&lanes, "POST /block HTTP/1.1\r\nHost: x\r\n\r\n");
    assert_int_equal(next_word(parent[0]), 'u');
    assert_true(bb_worker_take_overdue(lanes.worker));
    uint64_t ms;
    assert_true(bb_lane_take_overdue(lanes.threads[0].lane, &ms));
    assert_true(ms >= 50);
    assert_false(bb_lane_take_overdue(lanes.threads[0].lane, &ms));
    bb_worker_overdue_is_logged(lanes.worker);
    assert_true(is_silent(parent[0], 100));
    say(half, "2");
    assert_int_equal(next_word(parent[0]), 'x');
    (void)read_to_end(fd);
    sem_post(&lanes.leave);
    close(idle);
    close(half);
    close(fd);
    assert_in_range(lanes_finish(&lanes), 2, 3); /* this worker's lane can get the request of `half` */
    close(parent[0]);
    close(parent[1]);
}

static void test_the_parent_is_not_told_before_the_host_has_logged(void **state)
{
    (void)state;
    struct lanes lanes;
    int parent[2];
    start_with_parent(&lanes, 1, parent);
    int fd = blocked_with(&lanes, "POST /block HTTP/1.1\r\nHost: x\r\n\r\n");
    assert_int_equal(next_word(parent[0]), 'u');
    assert_true(is_silent(parent[0], 100));
    assert_true(bb_worker_take_overdue(lanes.worker));
    assert_true(is_silent(parent[0], 100));
    bb_worker_overdue_is_logged(lanes.worker);
    assert_int_equal(next_word(parent[0]), 'x');
    (void)read_to_end(fd);
    sem_post(&lanes.leave);
    close(fd);
    assert_int_equal(lanes_finish(&lanes), 1);
    close(parent[0]);
    close(parent[1]);
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
        cmocka_unit_test(test_extended_time_counts_after_the_host_was_told),
        cmocka_unit_test(test_the_parent_is_told_of_overdue_requests),
        cmocka_unit_test(test_the_parent_is_told_when_only_stuck_requests_are_left),
        cmocka_unit_test(test_the_parent_is_not_told_before_the_host_has_logged),
    };
    return cmocka_run_group_tests_name("io_limit", tests, NULL, NULL);
}
