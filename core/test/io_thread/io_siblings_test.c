/* io_siblings_test.c: a worker with a busy lane, and other processes. Tests when the worker pauses accepting,
 * and which connections it puts into the shared queue when it drains. `make tsan` runs this test under
 * ThreadSanitizer. */
#include <poll.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "io_case.h"
#include "lane/lane.h"
#include "support/later_clock.h"
#include "system/scoreboard.h"
#include "worker/worker.h"

static bool is_silent(int fd)
{
    struct pollfd watched = {.fd = fd, .events = POLLIN};
    return poll(&watched, 1, 20) == 0;
}

/* Waits until one of the two lanes waits. The other lane is busy. */
static struct lane_thread *waiting_one(struct lanes *lanes)
{
    for (int i = 0;; i = !i, sched_yield())
        if (atomic_load(&lanes->threads[i].lane->intake.waiting)) return &lanes->threads[i];
}

/* Returns when the sources are no longer in the lanes' sets. The I/O thread sets the flag first. */
static void await_pause(struct bb_worker *worker)
{
    bool paused;
    do {
        sched_yield();
        pthread_mutex_lock(&worker->lock);
        paused = atomic_load(&worker->accept_paused);
        pthread_mutex_unlock(&worker->lock);
    } while (!paused);
}

/* Only a lane that begins to wait notices that accepting is paused. A lane that seems to wait may have been
 * woken before the pause. It may then accept a connection, and serve two clients before it waits again. */
static void wait_anew(struct lanes *lanes, struct lane_thread *thread)
{
    atomic_store(&thread->locked, true);
    bb_lane_wake(thread->lane);
    assert_int_equal(sem_wait(&lanes->entered), 0);
    atomic_store(&thread->locked, false);
    bb__wakeup_clear(&thread->lane->intake.wakeup);
    atomic_store(&thread->lane->intake.waiting, false);
    sem_post(&thread->unlock);
    while (!atomic_load(&thread->lane->intake.waiting)) sched_yield();
}

/* The other process is only a slot on the scoreboard and accepts nothing. The I/O thread would notice this
 * after some time. So the clocks stand still. */
static void test_lanes_pause_accepting_for_an_idle_process(void **state)
{
    (void)state;
    struct bb_settings settings = lanes_settings();
    struct lanes lanes;
    assert_int_equal(bb_scoreboard_new(&lanes_scoreboard, 8), BB_OK);
    struct bb__slot *other = bb__scoreboard_claim(lanes_scoreboard);
    atomic_store(&other->pid, 1);
    lanes_start(&lanes, 2, &settings);
    for (int round = 0; round < 3; round++) {
        int blocked = lanes_connect(&lanes);
        block(&lanes, blocked);
        int before = lanes_connect(&lanes);
        assert_true(lanes_ask(before, "/other-is-busy", "", ""));
        struct lane_thread *waiting = waiting_one(&lanes);

        bb__scoreboard_set_idle(other, true);
        await_pause(lanes.worker);
        wait_anew(&lanes, waiting);
        hold_clocks();
        int fd = lanes_connect(&lanes);
        say(fd, "POST /waits HTTP/1.1\r\nHost: x\r\n\r\n");
        say(before, "POST /waits HTTP/1.1\r\nHost: x\r\n\r\n");
        assert_true(is_silent(fd));
        assert_true(is_silent(before));
        if (round % 2)
            bb__scoreboard_set_idle(other, false);
        else
            unblock(&lanes, blocked);
        assert_true(lanes_read(fd, "/waits 0"));
        assert_true(lanes_read(before, "/waits 0"));
        let_clocks_go_on();
        if (round % 2) unblock(&lanes, blocked);
        bb__scoreboard_set_idle(other, false);
        close(fd);
        close(before);
        close(blocked);
    }
    assert_int_equal(finish(&lanes), 3 * 4);
    bb_scoreboard_free(lanes_scoreboard);
    lanes_scoreboard = NULL;
}

/* The idle process may be frozen or dead, and the scoreboard does not show this yet. */
static void test_lanes_accept_again_if_an_idle_process_takes_nothing(void **state)
{
    (void)state;
    struct bb_settings settings = lanes_settings();
    struct lanes lanes;
    assert_int_equal(bb_scoreboard_new(&lanes_scoreboard, 8), BB_OK);
    struct bb__slot *other = bb__scoreboard_claim(lanes_scoreboard);
    atomic_store(&other->pid, 1);
    bb__scoreboard_set_idle(other, true);
    lanes_start(&lanes, 2, &settings);
    int blocked = lanes_connect(&lanes);
    block(&lanes, blocked);
    while (!atomic_load(&lanes.worker->accept_paused)) sched_yield();
    for (int i = 0; i < 2; i++) {
        int fd = lanes_connect(&lanes);
        assert_true(lanes_ask(fd, "/served", "", ""));
        close(fd);
    }
    unblock(&lanes, blocked);
    close(blocked);
    assert_int_equal(finish(&lanes), 3);
    bb_scoreboard_free(lanes_scoreboard);
    lanes_scoreboard = NULL;
}

/* Requests have waited in the shared queue, and the idle process has not received them. So the process must
 * not count as idle any more. */
static void test_a_process_that_lets_requests_wait_does_not_count_as_idle(void **state)
{
    (void)state;
    struct bb_settings settings = lanes_settings();
    struct lanes lanes;
    int fds[3];
    assert_int_equal(bb_scoreboard_new(&lanes_scoreboard, 8), BB_OK);
    struct bb__slot *other = bb__scoreboard_claim(lanes_scoreboard);
    atomic_store(&other->pid, 1);
    bb__scoreboard_set_idle(other, true);
    lanes_start(&lanes, 1, &settings);
    for (int i = 0; i < 3; i++) {
        fds[i] = lanes_connect(&lanes);
        assert_true(lanes_ask(fds[i], "/served", "", ""));
    }
    block(&lanes, fds[0]);
    say(fds[1], "GET /late HTTP/1.1\r\nHost: x\r\n\r\n");
    say(fds[2], "GET /late HTTP/1.1\r\nHost: x\r\n\r\n");
    while (atomic_load(&lanes.worker->room.connections) > 1)
        sched_yield(); /* until the other connections are in the shared queue */
    uint64_t since = bb__clock_ms();
    while (bb__clock_ms() < since + 60) assert_true(is_silent(fds[1]));
    assert_int_equal(bb__scoreboard_idle_elsewhere(lanes_scoreboard, lanes.worker->pid, 8), 1);
    unblock(&lanes, fds[0]);
    assert_true(lanes_read(fds[1], "/late 0"));
    assert_true(lanes_read(fds[2], "/late 0"));
    assert_int_equal(bb__scoreboard_idle_elsewhere(lanes_scoreboard, lanes.worker->pid, 8), 0);
    for (int i = 0; i < 3; i++) close(fds[i]);
    assert_int_equal(finish(&lanes), 6);
    bb_scoreboard_free(lanes_scoreboard);
    lanes_scoreboard = NULL;
}

/* Receives a message from the shared queue. Returns true if the message has a connection. */
static bool take_shared(struct lanes *lanes)
{
    char bytes[BB_SHARED_QUEUE_BYTES];
    struct bb__shared_message message;
    if (bb__shared_queue_take(&lanes->worker->shared.queue, bytes, &message) != BB_OK) return false;
    bool is_conn = message.fd_count > 0;
    while (message.fd_count > 0) close(message.fds[--message.fd_count]);
    return is_conn;
}

/* The worker drains, and the shared queue is full. The worker's connections must wait for room. */
static void test_connections_wait_for_room_in_the_shared_queue(void **state)
{
    (void)state;
    static const struct iovec word = {(char *)"", 1};
    struct bb_settings settings = lanes_settings();
    settings.keepalive_drain = WAIT_LIMIT * 1000;
    struct lanes lanes;
    int fds[CONNECTIONS];
    assert_int_equal(bb_scoreboard_new(&lanes_scoreboard, 8), BB_OK);
    atomic_store(&bb__scoreboard_claim(lanes_scoreboard)->pid, 1);
    lanes_start(&lanes, 1, &settings);
    connect_all(&lanes, fds);
    block(&lanes, fds[0]);
    while (bb__shared_queue_send(&lanes.worker->shared.queue, 0, &word, 1, NULL, 0) == BB_OK) continue;
    bb_worker_drain(lanes.worker, BB_QUEUE_LEAVE);
    assert_true(is_silent(fds[1]));
    uint64_t end = bb__clock_ms() + WAIT_LIMIT * 500;
    for (int arrived = 0; arrived < CONNECTIONS - 1 && bb__clock_ms() < end;) arrived += take_shared(&lanes);
    /* The I/O thread changes the count a moment after it has sent the last connection. */
    while (atomic_load(&lanes.worker->room.connections) > 1 && bb__clock_ms() < end) sched_yield();
    assert_int_equal(atomic_load(&lanes.worker->room.connections), 1);
    unblock(&lanes, fds[0]);
    close_all(fds);
    assert_int_equal(lanes_finish(&lanes), CONNECTIONS + 1);
    bb_scoreboard_free(lanes_scoreboard);
    lanes_scoreboard = NULL;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_lanes_pause_accepting_for_an_idle_process),
        cmocka_unit_test(test_lanes_accept_again_if_an_idle_process_takes_nothing),
        cmocka_unit_test(test_a_process_that_lets_requests_wait_does_not_count_as_idle),
        cmocka_unit_test(test_connections_wait_for_room_in_the_shared_queue),
    };
    return cmocka_run_group_tests_name("io_siblings", tests, NULL, NULL);
}
