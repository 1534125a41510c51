/* deadline_test.c: what is to happen when, against a plain table that does the same the slow way. */
#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "system/deadline.h"

static const uint64_t durations[BB_DEADLINE_KINDS] = {
    [BB_DEADLINE_FRESH] = 100, [BB_DEADLINE_HEADER] = 100,   [BB_DEADLINE_BODY] = 7,
    [BB_DEADLINE_WRITE] = 30,  [BB_DEADLINE_KEEPALIVE] = 50, /* LINGER: never */
};

static struct bb__deadlines with_durations(void)
{
    struct bb__deadlines deadlines = {0};
    for (int kind = 0; kind < BB_DEADLINE_KINDS; kind++) deadlines.kinds[kind].duration = durations[kind];
    return deadlines;
}

static void test_none_is_due_when_none_is_set(void **state)
{
    (void)state;
    struct bb__deadlines deadlines = with_durations();
    struct bb__deadline deadline = {0};
    assert_null(bb__deadline_take_due(&deadlines, UINT64_MAX));
    assert_int_equal(bb__deadline_wait(&deadlines, 0), -1);
    assert_null(bb__deadline_oldest(&deadlines, BB_DEADLINE_WRITE));
    bb__deadline_clear(&deadlines, &deadline);
}

static void test_comes_at_its_time_and_once(void **state)
{
    (void)state;
    struct bb__deadlines deadlines = with_durations();
    struct bb__deadline deadline = {0};
    bb__deadline_set(&deadlines, &deadline, BB_DEADLINE_WRITE, 1000);
    assert_int_equal(bb__deadline_wait(&deadlines, 1000), 30);
    assert_null(bb__deadline_take_due(&deadlines, 1029));
    assert_int_equal(bb__deadline_wait(&deadlines, 1030), 0);
    assert_int_equal(bb__deadline_wait(&deadlines, 2000), 0);
    assert_ptr_equal(bb__deadline_take_due(&deadlines, 1030), &deadline);
    assert_int_equal(deadline.kind, BB_DEADLINE_NONE);
    assert_null(bb__deadline_take_due(&deadlines, 1030));
    assert_int_equal(bb__deadline_wait(&deadlines, 1030), -1);
}

static void test_set_anew_moves_to_the_end(void **state)
{
    (void)state;
    struct bb__deadlines deadlines = with_durations();
    struct bb__deadline first = {0}, second = {0};
    bb__deadline_set(&deadlines, &first, BB_DEADLINE_WRITE, 0);
    bb__deadline_set(&deadlines, &second, BB_DEADLINE_WRITE, 10);
    assert_ptr_equal(bb__deadline_oldest(&deadlines, BB_DEADLINE_WRITE), &first);
    bb__deadline_set(&deadlines, &first, BB_DEADLINE_WRITE, 20);
    assert_ptr_equal(bb__deadline_oldest(&deadlines, BB_DEADLINE_WRITE), &second);
    assert_int_equal(first.since, 20);
    assert_ptr_equal(bb__deadline_take_due(&deadlines, 49), &second);
    assert_null(bb__deadline_take_due(&deadlines, 49));
    assert_ptr_equal(bb__deadline_take_due(&deadlines, 50), &first);
}

static void test_changes_its_kind(void **state)
{
    (void)state;
    struct bb__deadlines deadlines = with_durations();
    struct bb__deadline deadline = {0};
    bb__deadline_set(&deadlines, &deadline, BB_DEADLINE_BODY, 0);
    bb__deadline_set(&deadlines, &deadline, BB_DEADLINE_KEEPALIVE, 0);
    assert_null(bb__deadline_oldest(&deadlines, BB_DEADLINE_BODY));
    assert_null(bb__deadline_take_due(&deadlines, 49));
    assert_ptr_equal(bb__deadline_take_due(&deadlines, 50), &deadline);
}

static void test_without_a_duration_never_comes(void **state)
{
    (void)state;
    struct bb__deadlines deadlines = with_durations();
    struct bb__deadline deadline = {0};
    bb__deadline_set(&deadlines, &deadline, BB_DEADLINE_LINGER, 5);
    assert_int_equal(bb__deadline_wait(&deadlines, 1000000), -1);
    assert_null(bb__deadline_take_due(&deadlines, UINT64_MAX - 1));
    assert_ptr_equal(bb__deadline_oldest(&deadlines, BB_DEADLINE_LINGER), &deadline);
}

static void test_far_away_fits_the_system_call(void **state)
{
    (void)state;
    struct bb__deadlines deadlines = {0};
    struct bb__deadline deadline = {0};
    deadlines.kinds[BB_DEADLINE_KEEPALIVE].duration = (uint64_t)INT_MAX + 5;
    bb__deadline_set(&deadlines, &deadline, BB_DEADLINE_KEEPALIVE, 0);
    assert_int_equal(bb__deadline_wait(&deadlines, 0), INT_MAX);
    assert_int_equal(bb__deadline_wait(&deadlines, 10), INT_MAX - 5);
}

static void test_what_is_put_off_keeps_its_order(void **state)
{
    (void)state;
    struct bb__deadlines deadlines = with_durations();
    struct bb__deadline first = {0}, second = {0}, never = {0};
    bb__deadline_set(&deadlines, &first, BB_DEADLINE_BODY, 0);
    bb__deadline_set(&deadlines, &never, BB_DEADLINE_LINGER, 0);
    bb__deadline_put_off(&deadlines, 100);
    assert_int_equal(first.since, 100);
    bb__deadline_set(&deadlines, &second, BB_DEADLINE_BODY, 100);
    assert_null(bb__deadline_take_due(&deadlines, 106));
    assert_ptr_equal(bb__deadline_take_due(&deadlines, 107), &first);
    assert_ptr_equal(bb__deadline_take_due(&deadlines, 107), &second);
    assert_null(bb__deadline_take_due(&deadlines, UINT64_MAX - 1));
}

static void test_shortens_those_that_are_set_and_those_to_come(void **state)
{
    (void)state;
    struct bb__deadlines deadlines = with_durations();
    struct bb__deadline due_soon = {0}, due_late = {0}, set_after = {0};
    bb__deadline_set(&deadlines, &due_soon, BB_DEADLINE_KEEPALIVE, 0);
    bb__deadline_set(&deadlines, &due_late, BB_DEADLINE_KEEPALIVE, 40);
    bb__deadline_shorten(&deadlines, BB_DEADLINE_KEEPALIVE, 20, 40);
    bb__deadline_set(&deadlines, &set_after, BB_DEADLINE_KEEPALIVE, 41);
    assert_ptr_equal(bb__deadline_take_due(&deadlines, 50), &due_soon);
    assert_null(bb__deadline_take_due(&deadlines, 59));
    assert_ptr_equal(bb__deadline_take_due(&deadlines, 60), &due_late);
    assert_null(bb__deadline_take_due(&deadlines, 60));
    assert_ptr_equal(bb__deadline_take_due(&deadlines, 61), &set_after);
}

static void test_shortening_gives_an_end_to_those_without(void **state)
{
    (void)state;
    struct bb__deadlines deadlines = with_durations();
    struct bb__deadline deadline = {0};
    bb__deadline_set(&deadlines, &deadline, BB_DEADLINE_LINGER, 0);
    bb__deadline_shorten(&deadlines, BB_DEADLINE_LINGER, 20, 100);
    assert_ptr_equal(bb__deadline_take_due(&deadlines, 120), &deadline);
}

static void test_shortening_never_lengthens(void **state)
{
    (void)state;
    struct bb__deadlines deadlines = with_durations();
    struct bb__deadline before = {0}, after = {0};
    bb__deadline_set(&deadlines, &before, BB_DEADLINE_BODY, 0);
    bb__deadline_shorten(&deadlines, BB_DEADLINE_BODY, 1000, 1);
    bb__deadline_set(&deadlines, &after, BB_DEADLINE_BODY, 1);
    assert_ptr_equal(bb__deadline_take_due(&deadlines, 7), &before);
    assert_ptr_equal(bb__deadline_take_due(&deadlines, 8), &after);
}

#define DEADLINES 40

/* The slow way: when each is due by itself. */
struct table {
    struct bb__deadline deadlines[DEADLINES];
    uint64_t due[DEADLINES]; /* UINT64_MAX: not set, or never */
};

static uint64_t next_in(const struct table *table)
{
    uint64_t next = UINT64_MAX;
    for (int i = 0; i < DEADLINES; i++)
        if (table->due[i] < next) next = table->due[i];
    return next;
}

static void take_all_due(struct bb__deadlines *deadlines, struct table *table, uint64_t now)
{
    struct bb__deadline *due;
    while ((due = bb__deadline_take_due(deadlines, now))) {
        ptrdiff_t which = due - table->deadlines;
        assert_true(table->due[which] <= now);
        table->due[which] = UINT64_MAX;
    }
    assert_true(next_in(table) > now);
}

static void test_any_order_of_calls(void **state)
{
    (void)state;
    struct bb__deadlines deadlines = with_durations();
    struct table table = {0};
    uint64_t now = 0;
    for (int i = 0; i < DEADLINES; i++) table.due[i] = UINT64_MAX;
    srandom(42);
    for (int step = 0; step < 20000; step++) {
        int which = (int)(random() % DEADLINES), kind = 1 + (int)(random() % (BB_DEADLINE_KINDS - 1));
        if (random() % 4 == 0) {
            bb__deadline_clear(&deadlines, &table.deadlines[which]);
            table.due[which] = UINT64_MAX;
        } else {
            bb__deadline_set(&deadlines, &table.deadlines[which], (enum bb__deadline_kind)kind, now);
            table.due[which] = durations[kind] > 0 ? now + durations[kind] : UINT64_MAX;
        }
        uint64_t next = next_in(&table);
        assert_int_equal(bb__deadline_wait(&deadlines, now), next == UINT64_MAX ? -1 : (int)(next - now));
        now += (uint64_t)(random() % 5);
        take_all_due(&deadlines, &table, now);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_none_is_due_when_none_is_set),
        cmocka_unit_test(test_comes_at_its_time_and_once),
        cmocka_unit_test(test_set_anew_moves_to_the_end),
        cmocka_unit_test(test_changes_its_kind),
        cmocka_unit_test(test_without_a_duration_never_comes),
        cmocka_unit_test(test_far_away_fits_the_system_call),
        cmocka_unit_test(test_what_is_put_off_keeps_its_order),
        cmocka_unit_test(test_shortens_those_that_are_set_and_those_to_come),
        cmocka_unit_test(test_shortening_gives_an_end_to_those_without),
        cmocka_unit_test(test_shortening_never_lengthens),
        cmocka_unit_test(test_any_order_of_calls),
    };
    return cmocka_run_group_tests_name("deadline", tests, NULL, NULL);
}
