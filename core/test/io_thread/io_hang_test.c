/* io_hang_test.c: a process can end although its I/O thread hangs. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "io_thread/io_work.h"
#include "support/lanes.h"

/* The I/O thread needs link.lock for each step. So the thread hangs while the test has this lock. */
static void test_a_worker_ends_although_its_io_thread_hangs(void **state)
{
    (void)state;
    struct bb_settings settings;
    struct lanes lanes;
    bb_settings_init(&settings);
    lanes_start(&lanes, 1, &settings);
    struct bb__io_thread *io = bb__io_of(lanes.worker);
    bb_worker_drain(lanes.worker, BB_QUEUE_TAKE);
    lanes_join(&lanes.threads[0]);
    pthread_mutex_lock(&io->link.lock);
    bb_lane_free(lanes.threads[0].lane);
    assert_int_equal(bb_worker_free(lanes.worker), BB_AGAIN);
    assert_true(io->link.hangs);
    assert_ptr_equal(bb__first_lane(lanes.worker), lanes.threads[0].lane);
    pthread_mutex_unlock(&io->link.lock);
    io->link.hangs = false;
    assert_int_equal(lanes_finish(&lanes), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_worker_ends_although_its_io_thread_hangs),
    };
    return cmocka_run_group_tests_name("io_hang", tests, NULL, NULL);
}
