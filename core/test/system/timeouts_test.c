/* timeouts_test.c: when timeouts are due. The last test compares the code with a simple table of due
 * times. The table is slow, because each search reads all entries. */
#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "system/timeouts.h"

static const uint64_t durations[BB_TIMEOUT_KINDS] = {
    [BB_TIMEOUT_FRESH] = 100, [BB_TIMEOUT_HEADER] = 100,   [BB_TIMEOUT_BODY] = 7,
    [BB_TIMEOUT_WRITE] = 30,  [BB_TIMEOUT_KEEPALIVE] = 50, /* LINGER: 0, never due */
};

static struct bb__timeouts with_durations(void)
{
    struct bb__timeouts timeouts = {0};
    for (int kind = 0; kind < BB_TIMEOUT_KINDS; kind++) timeouts.kinds[kind].duration = durations[kind];
    return timeouts;
}

static void test_no_timeout_is_due_if_none_is_set(void **state)
{
    (void)state;
    struct bb__timeouts timeouts = with_durations();
    struct bb__timeout timeout = {0};
    assert_null(bb__timeout_take_due(&timeouts, UINT64_MAX));
    assert_int_equal(bb__timeout_wait(&timeouts, 0), -1);
    assert_null(bb__timeout_oldest(&timeouts, BB_TIMEOUT_WRITE));
    bb__timeout_clear(&timeouts, &timeout);
}

static void test_a_timeout_is_due_at_its_time_and_once(void **state)
{
    (void)state;
    struct bb__timeouts timeouts = with_durations();
    struct bb__timeout timeout = {0};
    bb__timeout_set(&timeouts, &timeout, BB_TIMEOUT_WRITE, 1000);
    assert_int_equal(bb__timeout_wait(&timeouts, 1000), 30);
    assert_null(bb__timeout_take_due(&timeouts, 1029));
    assert_int_equal(bb__timeout_wait(&timeouts, 1030), 0);
    assert_int_equal(bb__timeout_wait(&timeouts, 2000), 0);
    assert_ptr_equal(bb__timeout_take_due(&timeouts, 1030), &timeout);
    assert_int_equal(timeout.kind, BB_TIMEOUT_NONE);
    assert_null(bb__timeout_take_due(&timeouts, 1030));
    assert_int_equal(bb__timeout_wait(&timeouts, 1030), -1);
}

static void test_a_timeout_that_is_set_again_moves_to_the_end(void **state)
{
    (void)state;
    struct bb__timeouts timeouts = with_durations();
    struct bb__timeout first = {0}, second = {0};
    bb__timeout_set(&timeouts, &first, BB_TIMEOUT_WRITE, 0);
    bb__timeout_set(&timeouts, &second, BB_TIMEOUT_WRITE, 10);
    assert_ptr_equal(bb__timeout_oldest(&timeouts, BB_TIMEOUT_WRITE), &first);
    bb__timeout_set(&timeouts, &first, BB_TIMEOUT_WRITE, 20);
    assert_ptr_equal(bb__timeout_oldest(&timeouts, BB_TIMEOUT_WRITE), &second);
    assert_int_equal(first.since, 20);
    assert_ptr_equal(bb__timeout_take_due(&timeouts, 49), &second);
    assert_null(bb__timeout_take_due(&timeouts, 49));
    assert_ptr_equal(bb__timeout_take_due(&timeouts, 50), &first);
}

static void test_a_timeout_changes_its_kind(void **state)
{
    (void)state;
    struct bb__timeouts timeouts = with_durations();
    struct bb__timeout timeout = {0};
    bb__timeout_set(&timeouts, &timeout, BB_TIMEOUT_BODY, 0);
    bb__timeout_set(&timeouts, &timeout, BB_TIMEOUT_KEEPALIVE, 0);
    assert_null(bb__timeout_oldest(&timeouts, BB_TIMEOUT_BODY));
    assert_null(bb__timeout_take_due(&timeouts, 49));
    assert_ptr_equal(bb__timeout_take_due(&timeouts, 50), &timeout);
}

static void test_a_timeout_without_a_duration_is_never_due(void **state)
{
    (void)state;
    struct bb__timeouts timeouts = with_durations();
    struct bb__timeout timeout = {0};
    bb__timeout_set(&timeouts, &timeout, BB_TIMEOUT_LINGER, 5);
    assert_int_equal(bb__timeout_wait(&timeouts, 1000000), -1);
    assert_null(bb__timeout_take_due(&timeouts, UINT64_MAX - 1));
    assert_ptr_equal(bb__timeout_oldest(&timeouts, BB_TIMEOUT_LINGER), &timeout);
}

static void test_a_long_wait_fits_the_system_call(void **state)
{
    (void)state;
    struct bb__timeouts timeouts = {0};
    struct bb__timeout timeout = {0};
    timeouts.kinds[BB_TIMEOUT_KEEPALIVE].duration = (uint64_t)INT_MAX + 5;
    bb__timeout_set(&timeouts, &timeout, BB_TIMEOUT_KEEPALIVE, 0);
    assert_int_equal(bb__timeout_wait(&timeouts, 0), INT_MAX);
    assert_int_equal(bb__timeout_wait(&timeouts, 10), INT_MAX - 5);
}

static void test_timeouts_that_are_put_off_keep_their_order(void **state)
{
    (void)state;
    struct bb__timeouts timeouts = with_durations();
    struct bb__timeout first = {0}, second = {0}, third = {0}, never = {0};
    bb__timeout_set(&timeouts, &first, BB_TIMEOUT_BODY, 0);
    bb__timeout_set(&timeouts, &never, BB_TIMEOUT_LINGER, 0);
    bb__timeout_set(&timeouts, &second, BB_TIMEOUT_BODY, 98);
    bb__timeout_put_off(&timeouts, 1, 101);
    assert_int_equal(first.since, 100);
    assert_int_equal(second.since, 101);
    bb__timeout_set(&timeouts, &third, BB_TIMEOUT_BODY, 101);
    bb__timeout_put_off(&timeouts, 50, 100); /* all times are later */
    assert_null(bb__timeout_take_due(&timeouts, 106));
    assert_ptr_equal(bb__timeout_take_due(&timeouts, 107), &first);
    assert_null(bb__timeout_take_due(&timeouts, 107));
    assert_ptr_equal(bb__timeout_take_due(&timeouts, 108), &second);
    assert_ptr_equal(bb__timeout_take_due(&timeouts, 108), &third);
    assert_null(bb__timeout_take_due(&timeouts, UINT64_MAX - 1));
}

static void test_shorten_applies_to_present_and_later_timeouts(void **state)
{
    (void)state;
    struct bb__timeouts timeouts = with_durations();
    struct bb__timeout due_soon = {0}, due_late = {0}, set_after = {0};
    bb__timeout_set(&timeouts, &due_soon, BB_TIMEOUT_KEEPALIVE, 0);
    bb__timeout_set(&timeouts, &due_late, BB_TIMEOUT_KEEPALIVE, 40);
    bb__timeout_shorten(&timeouts, BB_TIMEOUT_KEEPALIVE, 20, 40);
    bb__timeout_set(&timeouts, &set_after, BB_TIMEOUT_KEEPALIVE, 41);
    assert_ptr_equal(bb__timeout_take_due(&timeouts, 50), &due_soon);
    assert_null(bb__timeout_take_due(&timeouts, 59));
    assert_ptr_equal(bb__timeout_take_due(&timeouts, 60), &due_late);
    assert_null(bb__timeout_take_due(&timeouts, 60));
    assert_ptr_equal(bb__timeout_take_due(&timeouts, 61), &set_after);
}

static void test_shorten_ends_timeouts_without_a_duration(void **state)
{
    (void)state;
    struct bb__timeouts timeouts = with_durations();
    struct bb__timeout timeout = {0};
    bb__timeout_set(&timeouts, &timeout, BB_TIMEOUT_LINGER, 0);
    bb__timeout_shorten(&timeouts, BB_TIMEOUT_LINGER, 20, 100);
    assert_ptr_equal(bb__timeout_take_due(&timeouts, 120), &timeout);
}

static void test_shorten_never_lengthens_a_timeout(void **state)
{
    (void)state;
    struct bb__timeouts timeouts = with_durations();
    struct bb__timeout before = {0}, after = {0};
    bb__timeout_set(&timeouts, &before, BB_TIMEOUT_BODY, 0);
    bb__timeout_shorten(&timeouts, BB_TIMEOUT_BODY, 1000, 1);
    bb__timeout_set(&timeouts, &after, BB_TIMEOUT_BODY, 1);
    assert_ptr_equal(bb__timeout_take_due(&timeouts, 7), &before);
    assert_ptr_equal(bb__timeout_take_due(&timeouts, 8), &after);
}

#define DEADLINES 40

/* The slow table: each timeout has its own due time. */
struct table {
    struct bb__timeout timeouts[DEADLINES];
    uint64_t due[DEADLINES]; /* UINT64_MAX: not set, or never */
};

static uint64_t next_in(const struct table *table)
{
    uint64_t next = UINT64_MAX;
    for (int i = 0; i < DEADLINES; i++)
        if (table->due[i] < next) next = table->due[i];
    return next;
}

static void take_all_due(struct bb__timeouts *timeouts, struct table *table, uint64_t now)
{
    struct bb__timeout *due;
    while ((due = bb__timeout_take_due(timeouts, now))) {
        ptrdiff_t which = due - table->timeouts;
        assert_true(table->due[which] <= now);
        table->due[which] = UINT64_MAX;
    }
    assert_true(next_in(table) > now);
}

static void test_any_order_of_calls_agrees_with_the_table(void **state)
{
    (void)state;
    struct bb__timeouts timeouts = with_durations();
    struct table table = {0};
    uint64_t now = 0;
    for (int i = 0; i < DEADLINES; i++) table.due[i] = UINT64_MAX;
    srandom(42);
    for (int step = 0; step < 20000; step++) {
        int which = (int)(random() % DEADLINES), kind = 1 + (int)(random() % (BB_TIMEOUT_KINDS - 1));
        if (random() % 4 == 0) {
            bb__timeout_clear(&timeouts, &table.timeouts[which]);
            table.due[which] = UINT64_MAX;
        } else {
            bb__timeout_set(&timeouts, &table.timeouts[which], (enum bb__timeout_kind)kind, now);
            table.due[which] = durations[kind] > 0 ? now + durations[kind] : UINT64_MAX;
        }
        uint64_t next = next_in(&table);
        assert_int_equal(bb__timeout_wait(&timeouts, now), next == UINT64_MAX ? -1 : (int)(next - now));
        now += (uint64_t)(random() % 5);
        take_all_due(&timeouts, &table, now);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_no_timeout_is_due_if_none_is_set),
        cmocka_unit_test(test_a_timeout_is_due_at_its_time_and_once),
        cmocka_unit_test(test_a_timeout_that_is_set_again_moves_to_the_end),
        cmocka_unit_test(test_a_timeout_changes_its_kind),
        cmocka_unit_test(test_a_timeout_without_a_duration_is_never_due),
        cmocka_unit_test(test_a_long_wait_fits_the_system_call),
        cmocka_unit_test(test_timeouts_that_are_put_off_keep_their_order),
        cmocka_unit_test(test_shorten_applies_to_present_and_later_timeouts),
        cmocka_unit_test(test_shorten_ends_timeouts_without_a_duration),
        cmocka_unit_test(test_shorten_never_lengthens_a_timeout),
        cmocka_unit_test(test_any_order_of_calls_agrees_with_the_table),
    };
    return cmocka_run_group_tests_name("timeouts", tests, NULL, NULL);
}
