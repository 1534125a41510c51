/* io_readers_test.c: lanes that wait for slow clients, and what happens when other requests need these lanes.
 * The test moves the core's clock ahead, but the kernel waits in real time. `make timing` runs this test,
 * also under ThreadSanitizer. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "io_thread/io_work.h"
#include "support/lanes.h"
#include "support/later_clock.h"

#define LARGE "GET /large HTTP/1.1\r\nHost: x\r\n\r\n"
#define SMALL "GET /small HTTP/1.1\r\nHost: x\r\n\r\n"

static struct lanes lanes;

static struct bb_settings settings_for(uint64_t spool_max)
{
    struct bb_settings settings = lanes_settings();
    settings.response_buffer = 64 * 1024;
    settings.write_timeout = 0;
    settings.spool_max = spool_max;
    return settings;
}

static int connect_and_say(const char *text)
{
    int fd = lanes_connect(&lanes);
    say(fd, text);
    return fd;
}

static unsigned waiting(void)
{
    unsigned count = 0;
    for (int i = 0; i < lanes.count; i++) count += atomic_load(&lanes.threads[i].lane->reply.waits);
    return count;
}

static void await_waiting(unsigned count)
{
    uint64_t end = __real_bb__clock_ms() + WAIT_LIMIT * 1000;
    while (waiting() != count) {
        assert_true(__real_bb__clock_ms() < end);
        sched_yield();
    }
}

/* Returns true if the whole response has come, false if the connection was reset. */
static bool reads_all(int fd)
{
    static char bytes[1 << 20];
    size_t len = 0;
    ssize_t got;
    while (len < LANES_LARGE && (got = recv(fd, bytes, sizeof bytes, 0)) > 0) len += (size_t)got;
    if (len < LANES_LARGE) assert_int_equal(errno, ECONNRESET);
    return len >= LANES_LARGE;
}

static void finish(unsigned served)
{
    bb_worker_drain(lanes.worker, BB_QUEUE_TAKE);
    assert_int_equal(lanes_finish(&lanes), served);
}

static void test_the_only_lane_waits_for_a_slow_client_for_a_second(void **state)
{
    (void)state;
    struct bb_settings settings = settings_for(1);
    settings.worker_timeout = 60000; /* so the lane's owner state is ALONE during the request, not IDLE */
    lanes_start(&lanes, 1, &settings);
    int slow = connect_and_say(LARGE);
    await_waiting(1);
    uint64_t since = __real_bb__clock_ms();
    int other = connect_and_say(SMALL);
    assert_true(lanes_read(other, "/small 0"));
    assert_true(__real_bb__clock_ms() - since >= 1000);
    assert_false(reads_all(slow));
    close(slow);
    close(other);
    finish(2);
}

/* The test moves the clock by 1.4 s in steps. Together with the real time of the waits, the request takes
 * longer than request_timeout. The request must not become overdue, because the lane waits for the client. */
static void test_a_lane_waits_for_a_slow_client_while_no_request_waits(void **state)
{
    (void)state;
    struct bb_settings settings = settings_for(1);
    settings.request_timeout = 2000; /* ms; the time that the lane waits for the client does not count */
    settings.min_body_rate = 0;
    lanes_start(&lanes, 1, &settings);
    int slow = connect_and_say(LARGE);
    for (int fifth = 0; fifth < 7; fifth++) { /* fifths of a second */
        await_waiting(1);
        uint64_t waited = atomic_load(&lanes.threads[0].lane->reply.waited);
        atomic_fetch_add(&later, 200);
        while (atomic_load(&lanes.threads[0].lane->reply.waited) < waited + 200) usleep(1000);
        assert_false(bb_worker_take_overdue(lanes.worker));
    }
    assert_true(reads_all(slow));
    close(slow);
    finish(1);
}

/* One of four lanes is busy, and three lanes wait for clients. Two of these three lanes continue to wait. */
static void test_half_of_the_lanes_go_on_waiting_for_slow_clients(void **state)
{
    (void)state;
    struct bb_settings settings = settings_for(1);
    assert_int_equal(bb_scoreboard_new(&lanes_scoreboard, 8), BB_OK);
    lanes_start(&lanes, 4, &settings);
    int slow[3], others[2];
    for (int i = 0; i < 3; i++) slow[i] = connect_and_say(LARGE);
    int busy = connect_and_say("GET /block HTTP/1.1\r\nHost: x\r\n\r\n");
    assert_int_equal(sem_wait(&lanes.entered), 0);
    await_waiting(3);
    assert_int_equal(bb_scoreboard_slow(lanes_scoreboard).readers, 0);
    for (int i = 0; i < 2; i++) {
        others[i] = connect_and_say(SMALL);
        assert_true(lanes_read(others[i], "/small 0"));
    }
    assert_int_equal(bb_scoreboard_slow(lanes_scoreboard).readers, 1);
    int whole = 0;
    for (int i = 0; i < 3; i++) whole += reads_all(slow[i]);
    assert_int_equal(whole, 2);
    sem_post(&lanes.leave);
    for (int i = 0; i < 3; i++) close(slow[i]);
    for (int i = 0; i < 2; i++) close(others[i]);
    close(busy);
    finish(6);
    bb_scoreboard_free(lanes_scoreboard);
    lanes_scoreboard = NULL;
}

/* The lane waits for `honest`. The core resets `hog`, because the response of `hog` fills the spool and `hog`
 * reads more slowly. */
static void test_a_client_whose_response_takes_the_room_is_reset_first(void **state)
{
    (void)state;
    struct bb_settings settings = settings_for(LANES_LARGE + LANES_LARGE / 3); /* room for one response */
    lanes_start(&lanes, 1, &settings);
    int hog = connect_and_say(LARGE), first = connect_and_say(SMALL);
    assert_true(lanes_read(first, "/small 0"));
    for (int half = 0; half < 20; half++) { /* steps of 500 ms; a step of over 1 s would look like a freeze */
        atomic_fetch_add(&later, 500);
        assert_true(lanes_ask(first, "/small", "", ""));
    }
    int honest = connect_and_say(LARGE);
    await_waiting(1);
    int other = connect_and_say(SMALL);
    assert_true(lanes_read(other, "/small 0"));
    assert_true(reads_all(honest));
    assert_false(reads_all(hog));
    close(hog);
    close(first);
    close(honest);
    close(other);
    finish(24);
}

/* The response of `fresh` is only 50 ms old, so the client's rate is not known yet. */
static void test_a_client_that_has_just_begun_is_not_the_slowest(void **state)
{
    (void)state;
    const uint64_t now = 1000 * 1000;
    const struct bb__conn old = {
        .fd = -1, .response_spool.fd = -1, .unsent.since = now - 60000, .unsent.owed = 60 * 1000};
    const struct bb__conn fresh = {.fd = -1, .response_spool.fd = -1, .unsent.since = now - 50};
    assert_true(bb__conn_taking_rate(&old, now) < bb__conn_taking_rate(&fresh, now));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_only_lane_waits_for_a_slow_client_for_a_second),
        cmocka_unit_test(test_a_lane_waits_for_a_slow_client_while_no_request_waits),
        cmocka_unit_test(test_half_of_the_lanes_go_on_waiting_for_slow_clients),
        cmocka_unit_test(test_a_client_whose_response_takes_the_room_is_reset_first),
        cmocka_unit_test(test_a_client_that_has_just_begun_is_not_the_slowest),
    };
    return cmocka_run_group_tests_name("io_readers", tests, NULL, NULL);
}
