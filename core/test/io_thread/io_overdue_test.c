/* io_overdue_test.c: a worker tells its parent process that requests are past request_timeout. `make tsan`
 * runs this test under ThreadSanitizer. */
#include <poll.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "io_thread/limited.h"
#include "support/later_clock.h"

static void start_with(struct lanes *lanes, int count, int parent[2], const struct bb_settings *settings)
{
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, parent), 0);
    lanes_tell_fd = parent[1];
    lanes_start(lanes, count, settings);
    lanes_tell_fd = -1;
}

static void start_with_parent(struct lanes *lanes, int count, int parent[2])
{
    struct bb_settings settings = limited(50);
    start_with(lanes, count, parent, &settings);
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

/* The parent logs what the label on the scoreboard says. */
static void assert_told_with_label(uint64_t worker_timeout)
{
    struct lanes lanes;
    struct bb_settings settings = limited(50);
    struct bb_scoreboard_lane shown;
    int parent[2];
    settings.worker_timeout = worker_timeout;
    assert_int_equal(bb_scoreboard_new(&lanes_scoreboard, 1), BB_OK);
    lanes_host_logs = false;
    start_with(&lanes, 1, parent, &settings);
    int fd = blocked_with(&lanes, "POST /block HTTP/1.1\r\nHost: x\r\n\r\n");
    assert_int_equal(next_word(parent[0]), 'u');
    assert_int_equal(bb_scoreboard_look(lanes_scoreboard, 0, &shown), BB_OK);
    assert_string_equal(shown.label, "POST /block");
    assert_int_equal(next_word(parent[0]), 'x');
    (void)read_to_end(fd);
    sem_post(&lanes.leave);
    close(fd);
    assert_int_equal(lanes_finish(&lanes), 1);
    bb_scoreboard_free(lanes_scoreboard);
    lanes_scoreboard = NULL;
    lanes_host_logs = true;
    close(parent[0]);
    close(parent[1]);
}

static void test_a_parent_that_logs_is_told_at_once_and_finds_the_label(void **state)
{
    (void)state;
    assert_told_with_label(0);
    assert_told_with_label(3600 * 1000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_parent_is_told_of_overdue_requests),
        cmocka_unit_test(test_the_parent_is_told_when_only_stuck_requests_are_left),
        cmocka_unit_test(test_the_parent_is_not_told_before_the_host_has_logged),
        cmocka_unit_test(test_a_parent_that_logs_is_told_at_once_and_finds_the_label),
    };
    return cmocka_run_group_tests_name("io_overdue", tests, NULL, NULL);
}
