/* io_stopped_test.c: the time during which the process is frozen (SIGSTOP) does not count towards request
 * timeouts. `make tsan` runs this test under ThreadSanitizer. */
#include <dirent.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "io_thread/io_work.h"
#include "support/lanes.h"
#include "support/later_clock.h"
#include "support/sleeping.h"

#define LIMIT   10000 /* ms */
#define REQUEST "GET /block HTTP/1.1\r\nHost: x\r\n\r\n"

static bool all_others_sleep(void)
{
    DIR *tasks = opendir("/proc/self/task");
    bool all = true;
    for (struct dirent *task; (task = readdir(tasks));) {
        int id = atoi(task->d_name);
        all = all && (id == 0 || id == gettid() || sleeps(id)); /* 0: "." and "..", no threads */
    }
    closedir(tasks);
    return all;
}

/* Waits until the I/O thread has no more work, and all other threads sleep. */
static void await_rest(struct bb__io_thread *io)
{
    uint64_t end = __real_bb__clock_ms() + WAIT_LIMIT * 1000;
    while (!atomic_load(&io->link.asleep) || !all_others_sleep()) {
        assert_true(__real_bb__clock_ms() < end);
        sched_yield();
    }
}

/* Moves the clock ahead by `time` ms, and lets the I/O thread do its next step. */
static void pass(struct bb__io_thread *io, uint64_t time)
{
    await_rest(io);
    atomic_fetch_add(&later, time);
    atomic_store(&io->link.asleep, false);
    bb__wakeup_raise(&io->link.kick);
    await_rest(io);
}

/* The clock jumps 9 s ahead, as after a freeze. The freeze ends before the limit of 10 s and does not count.
 * So the request is not overdue in the next 4 s. */
static void test_a_request_gets_the_time_of_a_stop_on_top(void **state)
{
    (void)state;
    struct bb_settings settings = lanes_settings();
    settings.request_timeout = LIMIT;
    struct lanes lanes;
    lanes_start(&lanes, 1, &settings);
    struct bb__io_thread *io = bb__io_of(lanes.worker);
    int fd = lanes_connect(&lanes);
    assert_true(lanes_say(fd, REQUEST, strlen(REQUEST)));
    assert_int_equal(sem_wait(&lanes.entered), 0);
    while (bb__owner_state_of(bb__owner_look(&lanes.threads[0].lane->owner)) != BB_OWNER_PARKED)
        sched_yield();

    pass(io, LIMIT - 1000);
    for (int i = 0; i < 8; i++) {
        pass(io, 500);
        assert_false(bb_worker_take_overdue(lanes.worker));
    }
    uint64_t end = __real_bb__clock_ms() + WAIT_LIMIT * 1000;
    while (!bb_worker_take_overdue(lanes.worker)) {
        assert_true(__real_bb__clock_ms() < end);
        pass(io, 500);
    }
    sem_post(&lanes.leave);
    close(fd);
    bb_worker_drain(lanes.worker, BB_QUEUE_TAKE);
    assert_int_equal(lanes_finish(&lanes), 1);
}

/* The lane is busy, so the I/O thread checks the timeouts of the upload. */
static void test_a_stop_does_not_count_for_an_upload_of_the_io_thread(void **state)
{
    (void)state;
    struct bb_settings settings = lanes_settings();
    struct lanes lanes;
    lanes_start(&lanes, 1, &settings);
    struct bb__io_thread *io = bb__io_of(lanes.worker);
    int upload = lanes_connect(&lanes), fd = lanes_connect(&lanes);
    char text[512];
    say(upload, "POST /upload HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 5\r\n\r\n");
    read_until(upload, "100 Continue", text, sizeof text);
    say(fd, REQUEST);
    assert_int_equal(sem_wait(&lanes.entered), 0);
    while (bb__owner_state_of(bb__owner_look(&lanes.threads[0].lane->owner)) != BB_OWNER_PARKED)
        sched_yield();

    pass(io, 100 * 1000);
    say(upload, "12345");
    sem_post(&lanes.leave);
    assert_true(lanes_read(upload, "/upload 5"));
    close(upload);
    close(fd);
    bb_worker_drain(lanes.worker, BB_QUEUE_TAKE);
    assert_int_equal(lanes_finish(&lanes), 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_stop_does_not_count_for_an_upload_of_the_io_thread),
        cmocka_unit_test(test_a_request_gets_the_time_of_a_stop_on_top),
    };
    return cmocka_run_group_tests_name("io_stopped", tests, NULL, NULL);
}
