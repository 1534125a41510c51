/* io_watch_test.c: what the scoreboard (memory that all processes share) shows about a worker that may hang
 * (worker_timeout), or whose request may hang (request_timeout). `make tsan` runs this test under
 * ThreadSanitizer. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

#include <cmocka.h>

#include "base/clock.h"
#include "support/lanes.h"

static void start(struct lanes *lanes, uint64_t worker_timeout, uint64_t request_timeout)
{
    struct bb_settings settings;
    bb_settings_init(&settings);
    settings.worker_timeout = worker_timeout;
    settings.request_timeout = request_timeout;
    assert_int_equal(bb_scoreboard_new(&lanes_scoreboard, 1), BB_OK);
    lanes_start(lanes, 1, &settings);
}

static void finish(struct lanes *lanes, unsigned served)
{
    bb_worker_drain(lanes->worker, BB_QUEUE_TAKE);
    assert_int_equal(lanes_finish(lanes), served);
    bb_scoreboard_free(lanes_scoreboard);
    lanes_scoreboard = NULL;
}

static struct bb_scoreboard_lane shown(void)
{
    struct bb_scoreboard_lane lane;
    assert_int_equal(bb_scoreboard_look(lanes_scoreboard, 0, &lane), BB_OK);
    return lane;
}

static int block(struct lanes *lanes, const char *request)
{
    int fd = lanes_connect(lanes);
    say(fd, request);
    assert_int_equal(sem_wait(&lanes->entered), 0);
    return fd;
}

static void leave(struct lanes *lanes, int fd)
{
    sem_post(&lanes->leave);
    assert_true(lanes_read(fd, "/block 0"));
    close(fd);
}

static void pause_for(long ms)
{
    const struct timespec pause = {.tv_nsec = ms * 1000000};
    nanosleep(&pause, NULL);
}

static const char *label(void)
{
    static struct bb_scoreboard_lane lane;
    for (int i = 0; i < WAIT_LIMIT * 100; i++) {
        lane = shown();
        if (lane.label[0]) break;
        pause_for(10);
    }
    return lane.label;
}

/* The lane has no other connection, so the lane does not hand its connection set to the I/O thread during a
 * request. */
static void test_the_request_of_a_lane_that_is_alone_is_shown(void **state)
{
    (void)state;
    struct lanes lanes;
    start(&lanes, 200, 0);
    bb_worker_watch(lanes.worker, true);
    int fd = block(&lanes, "GET /block HTTP/1.1\r\nHost: x\r\n\r\n");
    assert_string_equal(label(), "GET /block");
    assert_true(shown().has_request);
    leave(&lanes, fd);
    fd = block(&lanes, "PUT /block HTTP/1.1\r\nHost: x\r\n\r\n");
    assert_string_equal(label(), "PUT /block");
    leave(&lanes, fd);
    finish(&lanes, 2);
}

/* The label comes after a second. */
static void test_a_request_is_shown_without_a_limit(void **state)
{
    (void)state;
    struct lanes lanes;
    start(&lanes, 0, 0);
    bb_worker_watch(lanes.worker, true);
    int fd = block(&lanes, "GET /block HTTP/1.1\r\nHost: x\r\n\r\n");
    assert_string_equal(label(), "GET /block");
    leave(&lanes, fd);
    finish(&lanes, 1);
}

static void test_the_request_of_a_lane_with_other_connections_is_shown(void **state)
{
    (void)state;
    struct lanes lanes;
    start(&lanes, 200, 0);
    int other = lanes_connect(&lanes);
    assert_true(lanes_ask(other, "/quick", "", ""));
    bb_worker_watch(lanes.worker, true);
    int fd = block(&lanes, "GET /block HTTP/1.1\r\nHost: x\r\n\r\n");
    assert_string_equal(label(), "GET /block");
    leave(&lanes, fd);
    close(other);
    finish(&lanes, 2);
}

/* The parent process can then name a request that hangs. The host has no second thread that would watch. */
static void test_a_request_is_shown_before_it_passes_request_timeout(void **state)
{
    (void)state;
    struct lanes lanes;
    start(&lanes, 0, 2000);
    int fd = block(&lanes, "GET /block HTTP/1.1\r\nHost: x\r\n\r\n");
    assert_string_equal(label(), "GET /block");
    leave(&lanes, fd); /* the response is the application's */
    finish(&lanes, 1);
}

static void test_no_request_is_shown_without_a_timeout(void **state)
{
    (void)state;
    struct lanes lanes;
    start(&lanes, 0, 0);
    bb_worker_watch(lanes.worker, true);
    int fd = block(&lanes, "GET /block HTTP/1.1\r\nHost: x\r\n\r\n");
    pause_for(100);
    assert_string_equal(shown().label, "");
    leave(&lanes, fd);
    finish(&lanes, 1);
}

static void test_the_time_since_the_last_beat_is_shown(void **state)
{
    (void)state;
    struct lanes lanes;
    start(&lanes, 200, 0);
    assert_true(shown().silent == UINT64_MAX);
    uint64_t before = bb__clock_ms();
    bb_worker_beat(lanes.worker);
    uint64_t after = bb__clock_ms();
    while (bb__clock_ms() - after < 20) pause_for(1);
    uint64_t least = bb__clock_ms() - after, silent = shown().silent;
    assert_in_range(silent, least, bb__clock_ms() - before);
    finish(&lanes, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_request_of_a_lane_that_is_alone_is_shown),
        cmocka_unit_test(test_a_request_is_shown_without_a_limit),
        cmocka_unit_test(test_the_request_of_a_lane_with_other_connections_is_shown),
        cmocka_unit_test(test_a_request_is_shown_before_it_passes_request_timeout),
        cmocka_unit_test(test_no_request_is_shown_without_a_timeout),
        cmocka_unit_test(test_the_time_since_the_last_beat_is_shown),
    };
    return cmocka_run_group_tests_name("io_watch", tests, NULL, NULL);
}
