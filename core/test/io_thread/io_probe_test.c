/* io_probe_test.c: requests for ready_path and live_path while the host works in all lanes. `make tsan` runs
 * this test under ThreadSanitizer. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "rush.h"
#include "support/later_clock.h"

#define LIMIT 1 /* ms: worker_timeout; every busy lane has soon had its request for longer */

static struct bb_settings probed(uint64_t worker_timeout)
{
    struct bb_settings settings = lanes_settings();
    settings.worker_timeout = worker_timeout;
    strcpy(settings.ready_path, "/-/ready");
    strcpy(settings.live_path, "/-/live");
    return settings;
}

/* Returns the status of the whole response, whose connection stays open. */
static int probe(int fd, const char *path)
{
    char request[128], response[512];
    snprintf(request, sizeof request, "GET %s HTTP/1.1\r\nHost: x\r\n\r\n", path);
    say(fd, request);
    read_until(fd, "\n\r\n", response, sizeof response);
    while (response[strlen(response) - 2] == '\r') {
        size_t len = strlen(response);
        ssize_t got = recv(fd, response + len, sizeof response - 1 - len, 0);
        assert_true(got > 0);
        response[len + (size_t)got] = '\0';
    }
    assert_null(strstr(response, "\r\nConnection:"));
    return atoi(response + 9);
}

static void test_probes_are_answered_while_all_lanes_are_busy(void **state)
{
    (void)state;
    struct bb_settings settings = probed(0);
    struct rush rush;
    begin(&rush, &settings);
    int early = connect_early(&rush);
    block_all(&rush);
    int fresh = lanes_connect(&rush.lanes), fds[] = {early, fresh};
    for (int i = 0; i < 2; i++) {
        assert_int_equal(probe(fds[i], "/-/ready"), 200);
        assert_int_equal(probe(fds[i], "/-/live"), 200);
    }
    say(fresh, "GET /waits HTTP/1.1\r\nHost: x\r\n\r\n");
    await_waiting(&rush, 1);
    assert_int_equal(probe(early, "/-/ready"), 200);
    unblock_all(&rush);
    assert_true(lanes_read(fresh, "/waits 0"));
    close(early);
    close(fresh);
    end(&rush, 2);
}

/* Without a path for probes, the I/O thread does not watch the connections of such a lane. */
static void test_a_probe_is_answered_while_the_only_lane_has_one_connection(void **state)
{
    (void)state;
    struct bb_settings settings = probed(0);
    struct rush rush;
    begin_with(&rush, &settings, 1);
    block_all(&rush);
    int fd = lanes_connect(&rush.lanes);
    assert_int_equal(probe(fd, "/-/ready"), 200);
    close(fd);
    unblock_all(&rush);
    end(&rush, 0);
}

/* A process frozen by SIGSTOP still looks idle on the scoreboard, but never accepts the connection. */
static void test_a_probe_is_not_left_to_a_stopped_process(void **state)
{
    (void)state;
    struct bb_settings settings = probed(0);
    struct rush rush;
    begin(&rush, &settings);
    block_all(&rush);
    struct bb__slot *stopped = bb__scoreboard_claim(lanes_scoreboard);
    atomic_store(&stopped->pid, 1);
    bb__scoreboard_set_idle(stopped, true);
    int fd = lanes_connect(&rush.lanes);
    assert_int_equal(probe(fd, "/-/ready"), 200);
    close(fd);
    unblock_all(&rush);
    end(&rush, 0);
}

/* The host's lock is held for ever: no beat comes. */
static void test_a_server_whose_workers_do_not_beat_is_not_alive(void **state)
{
    (void)state;
    struct bb_settings settings = probed(LIMIT);
    struct rush rush;
    begin(&rush, &settings);
    bb_worker_beat(rush.lanes.worker);
    block_all(&rush);
    int fd = lanes_connect(&rush.lanes);
    uint64_t end_of_wait = bb__clock_ms() + WAIT_LIMIT * 1000;
    while (probe(fd, "/-/live") == 200) assert_true(bb__clock_ms() < end_of_wait);
    assert_int_equal(probe(fd, "/-/live"), 503);
    assert_int_equal(probe(fd, "/-/ready"), 200);
    close(fd);
    unblock_all(&rush);
    end(&rush, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_probes_are_answered_while_all_lanes_are_busy),
        cmocka_unit_test(test_a_probe_is_answered_while_the_only_lane_has_one_connection),
        cmocka_unit_test(test_a_probe_is_not_left_to_a_stopped_process),
        cmocka_unit_test(test_a_server_whose_workers_do_not_beat_is_not_alive),
    };
    return cmocka_run_group_tests_name("io_probe", tests, NULL, NULL);
}
