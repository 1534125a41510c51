/* histogram_test.c: tests that percentiles are within 0.4 % of the recorded latencies. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "report/histogram.h"

#include <stdlib.h>
#include <string.h>

static struct histogram histogram;

static int start_empty(void **state)
{
    (void)state;
    memset(&histogram, 0, sizeof histogram);
    return 0;
}

static void assert_near(uint64_t found, uint64_t expected)
{
    uint64_t error = found > expected ? found - expected : expected - found;
    if (error * 250 > expected) {
        fail_msg("%llu is not %llu within 0.4 %%", (unsigned long long)found, (unsigned long long)expected);
    }
}

static void is_precise_at_any_size(void **state)
{
    /* The lowest and the highest value of each width, and their neighbours. */
    for (int bit = 0; bit <= HISTOGRAM_MAX_BIT; bit++) {
        for (int beside = -1; beside <= 1; beside++) {
            start_empty(state);
            uint64_t value = (1ULL << bit) + (uint64_t)beside;
            histogram_record(&histogram, value);
            histogram_record(&histogram, 1ULL << HISTOGRAM_MAX_BIT); /* so that max does not cap the result */
            assert_near(histogram_percentile(&histogram, 0.5), value);
        }
    }
}

static void finds_percentiles_by_rank(void **state)
{
    (void)state;
    for (uint64_t value = 1000; value >= 1; value--) histogram_record(&histogram, value * 1000);
    assert_int_equal(histogram.count, 1000);
    assert_near(histogram_percentile(&histogram, 0.5), 500000);
    assert_near(histogram_percentile(&histogram, 0.9), 900000);
    assert_near(histogram_percentile(&histogram, 0.99), 990000);
    assert_near(histogram_percentile(&histogram, 0.999), 999000);
    assert_int_equal(histogram_percentile(&histogram, 1.0), 1000000);
    assert_true(histogram_mean(&histogram) == 500500);
}

static void a_percentile_never_exceeds_the_maximum(void **state)
{
    (void)state;
    for (int i = 0; i < 2; i++) histogram_record(&histogram, 1000001); /* below the middle of its bucket */
    assert_int_equal(histogram_percentile(&histogram, 0.5), 1000001);
    assert_int_equal(histogram_percentile(&histogram, 1.0), 1000001);
}

static void one_slow_among_many_shows_at_its_rank(void **state)
{
    (void)state;
    for (int i = 0; i < 999; i++) histogram_record(&histogram, 100);
    histogram_record(&histogram, 5000000);
    assert_int_equal(histogram_percentile(&histogram, 0.99), 100);
    assert_int_equal(histogram_percentile(&histogram, 0.999), 100);
    assert_int_equal(histogram_percentile(&histogram, 1.0), 5000000);
}

static void merges(void **state)
{
    (void)state;
    struct histogram *other = calloc(1, sizeof *other);
    histogram_record(&histogram, 10);
    histogram_record(other, 20);
    histogram_record(other, 30);
    histogram_merge(&histogram, other);
    free(other);
    assert_int_equal(histogram.count, 3);
    assert_int_equal(histogram.max, 30);
    assert_int_equal(histogram_percentile(&histogram, 0.5), 20);
    assert_true(histogram_mean(&histogram) == 20);
}

static void takes_what_is_longer_than_it_can_tell(void **state)
{
    (void)state;
    histogram_record(&histogram, UINT64_MAX);
    assert_int_equal(histogram.buckets[HISTOGRAM_BUCKETS - 1], 1);
    assert_int_equal(histogram.max, UINT64_MAX);
}

static void is_zero_when_empty(void **state)
{
    (void)state;
    assert_int_equal(histogram_percentile(&histogram, 0.5), 0);
    assert_true(histogram_mean(&histogram) == 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(is_precise_at_any_size, start_empty),
        cmocka_unit_test_setup(finds_percentiles_by_rank, start_empty),
        cmocka_unit_test_setup(a_percentile_never_exceeds_the_maximum, start_empty),
        cmocka_unit_test_setup(one_slow_among_many_shows_at_its_rank, start_empty),
        cmocka_unit_test_setup(merges, start_empty),
        cmocka_unit_test_setup(takes_what_is_longer_than_it_can_tell, start_empty),
        cmocka_unit_test_setup(is_zero_when_empty, start_empty),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
