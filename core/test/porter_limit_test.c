/* porter_limit_test.c: requests that the host has for too long. Also run under ThreadSanitizer (make tsan).
 */
#include <errno.h>
#include <poll.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "lanes.h"

static struct bb_settings limited(uint64_t request_timeout)
{
    struct bb_settings settings;
    bb_settings_init(&settings);
    settings.keepalive_drain = 50;
    settings.request_timeout = request_timeout;
    return settings;
}

static void say(int fd, const char *text)
{
    assert_true(lanes_say(fd, text, strlen(text)));
}

static int blocked_with(struct lanes *lanes, const char *request)
{
    int fd = lanes_connect(lanes);
    say(fd, request);
    assert_int_equal(sem_wait(&lanes->entered), 0);
    return fd;
}

/* All that comes until the end of the connection. */
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

static void finish(struct lanes *lanes, unsigned served)
{
    bb_worker_drain(lanes->worker, BB_QUEUE_TAKE);
    assert_int_equal(lanes_finish(lanes), served);
}

static void test_one_that_is_not_answered(void **state)
{
    (void)state;
    struct bb_settings settings = limited(100);
    struct lanes lanes;
    lanes_start(&lanes, 1, &settings);
    int fd = blocked_with(&lanes, "POST /block HTTP/1.1\r\nHost: x\r\n\r\n");
    const char *answer = read_to_end(fd);
    assert_memory_equal(answer, "HTTP/1.1 504 Gateway Timeout\r\n", 30);
    assert_true(is_alarmed(lanes.worker, PATIENCE * 1000));
    sem_post(&lanes.leave); /* what it says now nobody hears */
    int next = lanes_connect(&lanes);
    assert_true(lanes_ask(next, "/next", "", ""));
    close(next);
    close(fd);
    finish(&lanes, 2);
}

static void test_one_that_is_not_finished(void **state)
{
    (void)state;
    struct bb_settings settings = limited(100);
    struct lanes lanes;
    lanes_start(&lanes, 1, &settings);
    int fd = blocked_with(&lanes, "POST /half HTTP/1.1\r\nHost: x\r\n\r\n");
    const char *answer = read_to_end(fd);
    assert_memory_equal(answer, "HTTP/1.1 200 OK\r\n", 17);
    assert_string_equal(strstr(answer, "\r\n\r\n") + 4, "half");
    assert_true(is_alarmed(lanes.worker, PATIENCE * 1000));
    sem_post(&lanes.leave);
    close(fd);
    finish(&lanes, 1);
}

/* The host is overdue, as its client is not: that has all of its answer, and its connection. */
static void test_one_that_is_answered_already(void **state)
{
    (void)state;
    struct bb_settings settings = limited(100);
    struct lanes lanes;
    lanes_start(&lanes, 1, &settings);
    int fd = blocked_with(&lanes, "POST /stay HTTP/1.1\r\nHost: x\r\n\r\n");
    assert_true(lanes_read(fd, "all"));
    assert_true(is_alarmed(lanes.worker, PATIENCE * 1000));
    sem_post(&lanes.leave);
    assert_true(lanes_ask(fd, "/next", "", ""));
    close(fd);
    finish(&lanes, 2);
}

static void test_one_that_is_quick_enough(void **state)
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

static void test_another_process_is_told(void **state)
{
    (void)state;
    struct bb_settings settings = limited(50);
    struct lanes lanes;
    int told[2];
    char word = '\0';
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, told), 0);
    lanes_tell_fd = told[1];
    lanes_start(&lanes, 1, &settings);
    lanes_tell_fd = -1;
    int fd = blocked_with(&lanes, "POST /block HTTP/1.1\r\nHost: x\r\n\r\n");
    assert_int_equal(recv(told[0], &word, 1, 0), 1);
    assert_int_equal(word, 'e');
    (void)read_to_end(fd);
    sem_post(&lanes.leave);
    close(fd);
    finish(&lanes, 1);
    close(told[0]);
    close(told[1]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_one_that_is_not_answered),     cmocka_unit_test(test_one_that_is_not_finished),
        cmocka_unit_test(test_one_that_is_answered_already), cmocka_unit_test(test_one_that_is_quick_enough),
        cmocka_unit_test(test_another_process_is_told),
    };
    return cmocka_run_group_tests_name("porter_limit", tests, NULL, NULL);
}
