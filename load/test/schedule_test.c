/* schedule_test.c: tests how many requests are due, and their due times, for any number of threads. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "clock.h"
#include "schedule.h"

#include <math.h>

#define START 5000000000ULL

static struct plan plan;
static struct schedule schedules[3];

static void start(struct plan wanted)
{
    plan.start_ns = START;
    plan.end_ns = wanted.end_ns ? wanted.end_ns : UINT64_MAX;
    plan.requests = wanted.requests ? wanted.requests : UINT64_MAX;
    plan.rate = wanted.rate;
    plan.is_poisson = wanted.is_poisson;
    plan.seed = wanted.seed;
    plan.also = wanted.also;
    plan.also_count = wanted.also_count;
    plan.is_rotating = wanted.is_rotating;
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

/* The server has stalled. No request was drawn for 1 s, but five requests became due in this time. */
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

static void random_times_have_the_rate_and_spread_of_a_poisson_process(void **state)
{
    (void)state;
    enum { GAPS = 100000 };
    start((struct plan){.threads = 1, .rate = 1000, .is_poisson = true, .seed = 1});
    uint64_t before = START, due;
    double sum = 0, squares = 0;
    for (int i = 0; i < GAPS; i++, before = due) {
        schedule_draw(&schedules[0], UINT64_MAX, &due);
        double milliseconds = (double)(due - before) / (double)NS_PER_MS;
        sum += milliseconds;
        squares += milliseconds * milliseconds;
    }
    double mean = sum / GAPS, deviation = sqrt(squares / GAPS - mean * mean);
    assert_true(fabs(mean - 1) < 0.02);
    assert_true(fabs(deviation - 1) < 0.02); /* 0 for evenly spaced times */
}

enum { DRAWN = 1000 };

struct drawn {
    uint64_t due;
    size_t which;
};

static const struct also also[] = {{.share = 0.01, .resource = "/a"}, {.share = 0.2, .resource = "/b"}};

static void draw_all(struct drawn *drawn, uint64_t seed, unsigned threads)
{
    start((struct plan){
        .threads = threads, .rate = 1000, .is_poisson = true, .seed = seed, .also = also, .also_count = 2});
    for (unsigned number = 0; number < DRAWN; number++) {
        struct schedule *schedule = &schedules[number % threads];
        assert_int_equal(schedule_draw(schedule, UINT64_MAX, &drawn[number].due), SCHEDULE_DUE);
        drawn[number].which = schedule->which;
    }
}

static void chance_depends_on_the_seed_alone(void **state)
{
    (void)state;
    static struct drawn first[DRAWN], again[DRAWN], by_threads[DRAWN], other_seed[DRAWN];
    unsigned same_due = 0, same_which = 0;
    draw_all(first, 1, 1);
    draw_all(again, 1, 1);
    draw_all(by_threads, 1, 3);
    draw_all(other_seed, 2, 1);
    for (unsigned number = 0; number < DRAWN; number++) {
        assert_int_equal(first[number].due, again[number].due);
        assert_int_equal(first[number].which, again[number].which);
        assert_int_equal(first[number].due, by_threads[number].due);
        assert_int_equal(first[number].which, by_threads[number].which);
        same_due += first[number].due == other_seed[number].due;
        same_which += first[number].which == other_seed[number].which;
    }
    assert_int_equal(same_due, 0);
    assert_true(same_which < DRAWN * 8 / 10); /* by chance, 0.79^2 + 0.2^2 + 0.01^2 of them are the same */
}

static void each_request_has_its_share(void **state)
{
    (void)state;
    enum { REQUESTS = 100000 };
    unsigned counts[3] = {0};
    uint64_t due;
    start((struct plan){.threads = 1, .seed = 1, .also = also, .also_count = 2});
    for (unsigned number = 0; number < REQUESTS; number++) {
        schedule_draw(&schedules[0], START, &due);
        counts[schedules[0].which]++;
    }
    assert_in_range(counts[1], REQUESTS / 100 - 100, REQUESTS / 100 + 100);
    assert_in_range(counts[2], REQUESTS / 5 - 500, REQUESTS / 5 + 500);
}

/* If one random number decided the due time and the path, requests for a path would always come after a
 * long gap, or always after a short gap. */
static void the_choice_does_not_depend_on_the_time(void **state)
{
    (void)state;
    enum { REQUESTS = 100000 };
    uint64_t before = START, due;
    double sum = 0, chosen = 0;
    start((struct plan){
        .threads = 1, .rate = 1000, .is_poisson = true, .seed = 1, .also = also, .also_count = 2});
    for (unsigned number = 0; number < REQUESTS; number++, before = due) {
        schedule_draw(&schedules[0], UINT64_MAX, &due);
        if (schedules[0].which != 2) continue;
        sum += (double)(due - before) / (double)NS_PER_MS;
        chosen++;
    }
    assert_true(fabs(sum / chosen - 1) < 0.03);
}

static void a_share_of_one_leaves_nothing_to_the_first(void **state)
{
    (void)state;
    static const struct also only = {.share = 1, .resource = "/a"};
    uint64_t due;
    start((struct plan){.threads = 1, .seed = 1, .also = &only, .also_count = 1});
    for (unsigned number = 0; number < 1000; number++) {
        schedule_draw(&schedules[0], START, &due);
        assert_int_equal(schedules[0].which, 1);
    }
}

/* The path of a request depends only on the request's number. */
static void paths_in_rotation_take_turns(void **state)
{
    (void)state;
    static const struct also paths[] = {{.resource = "/a"}, {.resource = "/b"}, {.resource = "/c"}};
    uint64_t due;
    start((struct plan){.threads = 1, .also = paths, .also_count = 3, .is_rotating = true});
    for (unsigned number = 0; number < 7; number++) {
        schedule_draw(&schedules[0], START, &due);
        assert_int_equal(schedules[0].which, 1 + number % 3);
    }
    start((struct plan){.threads = 2, .rate = 1000, .also = paths, .also_count = 3, .is_rotating = true});
    for (unsigned number = 0; number < 7; number++) {
        schedule_draw(&schedules[number % 2], UINT64_MAX, &due);
        assert_int_equal(schedules[number % 2].which, 1 + number % 3);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_closed_loop_draws_from_one_count),
        cmocka_unit_test(a_closed_loop_ends_in_time),
        cmocka_unit_test(an_open_loop_is_evenly_spaced_over_all_threads),
        cmocka_unit_test(an_open_loop_does_not_wait),
        cmocka_unit_test(does_not_drift),
        cmocka_unit_test(random_times_have_the_rate_and_spread_of_a_poisson_process),
        cmocka_unit_test(chance_depends_on_the_seed_alone),
        cmocka_unit_test(each_request_has_its_share),
        cmocka_unit_test(the_choice_does_not_depend_on_the_time),
        cmocka_unit_test(a_share_of_one_leaves_nothing_to_the_first),
        cmocka_unit_test(paths_in_rotation_take_turns),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
