/* lane_woken_test.c: a lane has been woken, but still waits for the host's lock (Ruby's global lock), which
 * another thread has. Idle lanes serve the requests that have come to this lane. `make tsan` runs this test
 * under ThreadSanitizer. */
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "io_thread/io_case.h"
#include "lane/lane.h"

static enum bb__owner_state state_of(struct bb_lane *lane)
{
    return bb__owner_state_of(bb__owner_look(&lane->owner));
}

/* Makes the lane's thread wait for the host's lock until unlock(). Returns when the thread waits. */
static void lock(struct lanes *lanes, int number)
{
    atomic_store(&lanes->threads[number].locked, true);
    bb_lane_wake(lanes->threads[number].lane);
    assert_int_equal(sem_wait(&lanes->entered), 0);
}

static void unlock(struct lanes *lanes, int number)
{
    atomic_store(&lanes->threads[number].locked, false);
    sem_post(&lanes->threads[number].unlock);
}

static void ask_all(struct lanes *lanes, const int fds[CONNECTIONS])
{
    for (int i = 0; i < CONNECTIONS; i++) {
        int new = lanes_connect(lanes);
        assert_true(lanes_ask(fds[i], "/kept", "", ""));
        assert_true(lanes_ask(new, "/new", "", ""));
        close(new);
    }
}

static void test_no_request_waits_for_a_lane_that_waits_for_its_lock(void **state)
{
    (void)state;
    struct bb_settings settings = lanes_settings();
    struct lanes lanes;
    int fds[CONNECTIONS];
    lanes_start(&lanes, 2, &settings);
    connect_all(&lanes, fds);
    for (int number = 0; number < 2; number++) {
        lock(&lanes, number);
        ask_all(&lanes, fds);
        ask_all(&lanes, fds);
        unlock(&lanes, number);
    }
    ask_all(&lanes, fds);
    close_all(fds);
    assert_int_equal(finish(&lanes), CONNECTIONS + 5 * 2 * CONNECTIONS);
}

static void test_requests_wait_while_all_lanes_wait_for_the_lock(void **state)
{
    (void)state;
    struct bb_settings settings = lanes_settings();
    struct lanes lanes;
    int fds[CONNECTIONS];
    lanes_start(&lanes, 2, &settings);
    connect_all(&lanes, fds);
    lock(&lanes, 0);
    lock(&lanes, 1);
    for (int i = 0; i < CONNECTIONS; i++)
        say(fds[i], "POST /later HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n\r\nabc");
    unlock(&lanes, 0);
    for (int i = 0; i < CONNECTIONS; i++) assert_true(lanes_read(fds[i], "/later 3"));
    unlock(&lanes, 1);
    close_all(fds);
    assert_int_equal(finish(&lanes), 2 * CONNECTIONS);
}

static void test_a_drain_serves_requests_while_a_lane_waits_for_the_lock(void **state)
{
    (void)state;
    struct bb_settings settings = lanes_settings();
    struct lanes lanes;
    int fds[CONNECTIONS];
    lanes_start(&lanes, 2, &settings);
    connect_all(&lanes, fds);
    lock(&lanes, 0);
    for (int i = 0; i < CONNECTIONS; i++) say(fds[i], "POST /last HTTP/1.1\r\nHost: x\r\n\r\n");
    bb_worker_drain(lanes.worker, BB_QUEUE_TAKE);
    unlock(&lanes, 0);
    for (int i = 0; i < CONNECTIONS; i++) assert_true(lanes_read(fds[i], "/last 0"));
    close_all(fds);
    assert_int_equal(lanes_finish(&lanes), 2 * CONNECTIONS);
}

/* The lane's thread may end before it gets the lock, for example because of an exception. */
static void test_a_lane_is_freed_while_its_host_waits_for_the_lock(void **state)
{
    (void)state;
    struct bb_settings settings = lanes_settings();
    struct lanes lanes;
    struct bb_lane *lane;
    lanes_start(&lanes, 1, &settings);
    for (int round = 0; round < 2; round++) {
        assert_int_equal(bb_lane_new(&lane, lanes.worker), BB_OK);
        bb_lane_wake(lane);
        assert_int_equal(bb_lane_wait(lane), BB_OK);
        while (state_of(lane) != BB_OWNER_PARKED) sched_yield();
        if (round == 0) { /* in this round the lane waits again before it is freed */
            bb_lane_wake(lane);
            assert_int_equal(bb_lane_wait(lane), BB_OK);
        }
        bb_lane_free(lane);
    }
    assert_int_equal(finish(&lanes), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_no_request_waits_for_a_lane_that_waits_for_its_lock),
        cmocka_unit_test(test_requests_wait_while_all_lanes_wait_for_the_lock),
        cmocka_unit_test(test_a_drain_serves_requests_while_a_lane_waits_for_the_lock),
        cmocka_unit_test(test_a_lane_is_freed_while_its_host_waits_for_the_lock),
    };
    return cmocka_run_group_tests_name("lane_woken", tests, NULL, NULL);
}
