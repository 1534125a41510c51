/* schedule_test.c: how many requests are due, and when, whatever the threads do in between. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "clock.h"
#include "schedule.h"

#define START 5000000000ULL

static struct plan plan;
static struct schedule schedules[3];

static void start(struct plan wanted)
{
    plan.start_ns = START;
    plan.end_ns = wanted.end_ns ? wanted.end_ns : UINT64_MAX;
    plan.requests = wanted.requests ? wanted.requests : UINT64_MAX;
    plan.rate = wanted.rate;
    plan.threads = wanted.threads;
    atomic_store(&plan.drawn, 0);
    for (unsigned i = 0; i < plan.threads; i++) schedule_init(&schedules[i], &plan, i);
}

static void a_closed_loop_draws_from_one_count(void **state)
{
    (void)state;
    uint64_t due;
    start((struct plan){.threads = 2, .requests = 3});
    assert_int_equal(schedule_draw(&schedules[0], START + 7, &due), SCHEDULE_DUE);
    assert_int_equal(due, START + 7);
    assert_int_equal(schedule_draw(&schedules[0], START, &due), SCHEDULE_DUE);
    assert_int_equal(schedule_draw(&schedules[1], START, &due), SCHEDULE_DUE);
    assert_int_equal(schedule_draw(&schedules[1], START, &due), SCHEDULE_OVER);
    assert_int_equal(schedule_draw(&schedules[0], START, &due), SCHEDULE_OVER);
    assert_true(schedules[0].is_over && schedules[1].is_over);
}

static void a_closed_loop_ends_in_time(void **state)
{
    (void)state;
    uint64_t due;
    start((struct plan){.threads = 1, .end_ns = START + 100});
    assert_int_equal(schedule_draw(&schedules[0], START + 99, &due), SCHEDULE_DUE);
    assert_int_equal(schedule_draw(&schedules[0], START + 100, &due), SCHEDULE_OVER);
}

static void an_open_loop_is_evenly_spaced_over_all_threads(void **state)
{
    (void)state;
    start((struct plan){.threads = 3, .requests = 10, .rate = 1000});
    for (unsigned number = 0; number < 10; number++) {
        struct schedule *schedule = &schedules[number % 3];
        uint64_t due, expected = START + number * NS_PER_MS;
        if (number > 0) {
            assert_int_equal(schedule_draw(schedule, expected - 1, &due), SCHEDULE_LATER);
            assert_int_equal(due, expected);
        }
        assert_int_equal(schedule_draw(schedule, expected, &due), SCHEDULE_DUE);
        assert_int_equal(due, expected);
    }
    for (unsigned i = 0; i < 3; i++) {
        uint64_t due;
        assert_int_equal(schedule_draw(&schedules[i], UINT64_MAX, &due), SCHEDULE_OVER);
    }
}

/* What makes a stall of the server show: nobody was there to draw, and the requests are due since then all
 * the same. */
static void an_open_loop_does_not_wait(void **state)
{
    (void)state;
    start((struct plan){.threads = 1, .end_ns = START + 5 * NS_PER_MS, .rate = 1000});
    for (unsigned number = 0; number < 5; number++) {
        uint64_t due;
        assert_int_equal(schedule_draw(&schedules[0], START + NS_PER_SECOND, &due), SCHEDULE_DUE);
        assert_int_equal(due, START + number * NS_PER_MS);
    }
    uint64_t due;
    assert_int_equal(schedule_draw(&schedules[0], START + NS_PER_SECOND, &due), SCHEDULE_OVER);
}

static void does_not_drift(void **state)
{
    (void)state;
    uint64_t due = 0;
    start((struct plan){.threads = 1, .rate = 300000});
    for (unsigned number = 0; number <= 300000; number++) schedule_draw(&schedules[0], UINT64_MAX, &due);
    assert_int_equal(due, START + NS_PER_SECOND);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_closed_loop_draws_from_one_count),
        cmocka_unit_test(a_closed_loop_ends_in_time),
        cmocka_unit_test(an_open_loop_is_evenly_spaced_over_all_threads),
        cmocka_unit_test(an_open_loop_does_not_wait),
        cmocka_unit_test(does_not_drift),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
