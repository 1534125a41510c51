/* sample_test.c: which requests a lane measures, and how near the histograms are to the exact times. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "metrics/sample.h"
#include "support/fake_clock.h"
#include "support/fake_micros.h"

#define TICK 4 /* ms */

static struct bb_metrics *metrics;
static struct bb__sample sample;
static uint64_t now_us;
static struct bb_metrics_sum sum;

/* The coarse clock shows the time of its last tick. */
static void move_to(uint64_t us)
{
    now_us = us;
    fake_clock = us / 1000 / TICK * TICK;
    fake_micros = us - fake_clock * 1000;
}

static void advance(uint64_t us)
{
    move_to(now_us + us);
}

static void begin(bool has_block)
{
    assert_int_equal(bb_metrics_new(&metrics, 1), BB_OK);
    const struct bb__counts counts = {metrics, has_block ? bb__metrics_begin(metrics, 0, 1, 1) : NULL};
    bb__sample_init(&sample, &counts);
    assert_true(sample.two_ticks >= 2);
    sample.two_ticks = 2 * TICK;
    move_to(1000000000);
    fake_micros_reads = 0;
}

static void end(void)
{
    bb_metrics_free(metrics);
}

/* A request as a lane handles it. queued: us, before now; 0: the request has not waited. */
static void serve(uint64_t queued, uint64_t us)
{
    uint64_t handed_out = fake_clock, ready_at = queued > 0 ? now_us - queued : 0;
    bool has_waited = ready_at > 0 && ready_at < handed_out * 1000;
    bb__sample_begin(&sample, handed_out, ready_at, has_waited ? bb__elapsed(bb__clock_us(), ready_at) : 0);
    advance(us);
    bb__sample_end(&sample, fake_clock, handed_out);
}

static uint64_t total(const uint64_t *times)
{
    uint64_t count = 0;
    bb_metrics_sum(metrics, &sum);
    for (int i = 0; i < BB_METRICS_TIMES; i++) count += times[i];
    return count;
}

static uint64_t served_in(uint64_t us)
{
    bb_metrics_sum(metrics, &sum);
    return sum.service_time[bb__metrics_place(us)];
}

/* ---- which requests ---- */

static void test_three_requests_show_three(void **state)
{
    (void)state;
    for (int has_block = 0; has_block < 2; has_block++) {
        begin(has_block);
        serve(0, 15);
        serve(0, 1200);
        serve(7, 25000);
        assert_int_equal(served_in(15), 1);
        assert_int_equal(served_in(1200), 1);
        assert_int_equal(served_in(25000), 1);
        assert_int_equal(sum.queue_time[0], 2);
        assert_int_equal(sum.queue_time[7], 1);
        assert_int_equal(total(sum.service_time), 3);
        const struct bb__metrics_block *common = &metrics->memory->common;
        assert_int_equal(common->service_time[15] + common->queue_time[7], has_block ? 0 : 2);
        end();
    }
}

/* Requests 0 to 15, 16, 20, 24 of the tick are measured. */
static void test_after_16_requests_of_a_tick_one_in_4_is_measured(void **state)
{
    (void)state;
    static const uint64_t counts[] = {16, 17, 17, 17, 17, 21, 21, 21, 21, 25};
    for (int has_block = 0; has_block < 2; has_block++) {
        begin(has_block);
        for (int i = 0; i < 15; i++) serve(3, 10);
        for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
            serve(3, 10);
            assert_int_equal(served_in(10), counts[i]);
            assert_int_equal(sum.queue_time[3], counts[i]);
        }
        serve(3, 10);
        advance(TICK * 1000); /* the last measured request of the tick before counts for those after it */
        serve(3, 12);
        assert_int_equal(served_in(12), 1);
        assert_int_equal(served_in(10), 26);
        assert_int_equal(sum.queue_time[3], 27);
        for (int i = 1; i < 16; i++) serve(3, 12);
        assert_int_equal(served_in(12), 16);
        end();
    }
}

/* (16 + 384 / 4) * 2 / 400 = 0.56 */
static void test_the_reads_of_the_exact_clock_at_full_load(void **state)
{
    (void)state;
    begin(true);
    for (int tick = 0; tick < 250; tick++) {
        for (int i = 0; i < 400; i++) serve(0, 10);
        assert_int_equal(fake_micros_reads, (tick + 1) * 224);
        assert_int_equal(now_us % (TICK * 1000), 0);
    }
    assert_in_range(total(sum.service_time), 250 * 400 - 3, 250 * 400);
    assert_in_range(total(sum.queue_time), 250 * 400 - 3, 250 * 400);
    end();
}

/* A request that spans two ticks counts for itself, whether it is measured or not. */
static void test_a_long_request_counts_only_for_itself(void **state)
{
    (void)state;
    for (unsigned before = 0; before < 40; before++) {
        begin(true);
        for (unsigned i = 0; i < before; i++) serve(0, 10);
        serve(0, 30000);
        uint64_t shown = served_in(30000) + sum.service_time[bb__metrics_place(30000) - 1];
        assert_int_equal(shown, 1);
        for (int i = 0; i < 20; i++) serve(0, 10);
        assert_in_range(served_in(10), before + 16, before + 20);
        end();
    }
}

/* A request of at least 8 ms spans two ticks. An unmeasured request of 7 ms is represented by another one. */
static void test_a_time_is_long_from_two_ticks_on(void **state)
{
    (void)state;
    begin(true);
    for (int i = 0; i < 17; i++) serve(0, 10);
    serve(0, 8000 - 170);
    assert_int_equal(served_in(8000 - 170), 1);
    end();
    begin(true);
    for (int i = 0; i < 17; i++) serve(0, 10);
    serve(0, 7000);
    assert_int_equal(served_in(7000), 0);
    assert_int_equal(total(sum.service_time), 17);
    serve(0, 20);
    assert_int_equal(served_in(20), 1);
    assert_int_equal(served_in(10), 18);
    end();
}

/* The lane knows the queue time of a request that has waited for a tick. */
static void test_a_known_queue_time_counts_for_one_request(void **state)
{
    (void)state;
    begin(true);
    for (int i = 0; i < 17; i++) serve(2, 10);
    serve(2, 10);
    serve(6000, 10); /* neither is measured */
    bb_metrics_sum(metrics, &sum);
    assert_int_equal(sum.queue_time[bb__metrics_place(6000)], 1);
    assert_int_equal(sum.queue_time[2], 17);
    assert_int_equal(served_in(10), 17);
    serve(2, 10);
    serve(2, 10);
    bb_metrics_sum(metrics, &sum);
    assert_int_equal(sum.queue_time[2], 20);
    assert_int_equal(served_in(10), 21);
    advance(1500);
    serve(7000, 20000); /* is not measured, but the clock was read when it began */
    assert_int_equal(served_in(20000), 1);
    end();
}

/* ---- against exact times ---- */

#define REQUESTS 200000

static uint64_t random_state;

static uint64_t below(uint64_t limit)
{
    random_state = random_state * 6364136223846793005ULL + 1442695040888963407ULL;
    return (random_state >> 33) % limit;
}

static uint64_t hello(void)
{
    return 10 + below(31);
}

static uint64_t a_millisecond(void)
{
    return 900 + below(200);
}

static uint64_t mixed(void)
{
    uint64_t kind = below(100);
    if (kind < 5) return 29000 + below(2000);
    return kind < 25 ? a_millisecond() : hello();
}

static uint64_t mostly_short(void)
{
    return below(1000) < 52 ? 30900 + below(100) : hello();
}

static uint64_t of_any_size(void)
{
    return 10 + below(UINT64_C(1) << (4 + below(13)));
}

static int compare(const void *one, const void *other)
{
    uint64_t a = *(const uint64_t *)one, b = *(const uint64_t *)other;
    return a < b ? -1 : a > b;
}

static uint64_t middle_of(unsigned place)
{
    uint64_t width = 1, first = place;
    if (place >= 10) {
        for (unsigned i = 0; i < (place - 10) / 90; i++) width *= 10;
        first = (10 + (place - 10) % 90) * width;
    }
    return first + width / 2;
}

static uint64_t shown(const uint64_t *times, double part)
{
    uint64_t rank = (uint64_t)(part * (double)total(times)), seen = 0;
    for (unsigned i = 0; i < BB_METRICS_TIMES; i++)
        if ((seen += times[i]) > rank) return middle_of(i);
    return 0;
}

static void assert_near(const char *load, const uint64_t *times, const uint64_t *exact)
{
    static const double parts[] = {0.5, 0.95, 0.99};
    for (int i = 0; i < 3; i++) {
        double right = (double)exact[(size_t)(parts[i] * REQUESTS)], found = (double)shown(times, parts[i]);
        double error = found > right ? found - right : right - found;
        if (error > 1 && error > right * 0.05)
            fail_msg("%s: %.0f us of %.2f are shown as %.0f us", load, right, parts[i], found);
    }
}

/* gap: us, the longest pause between two requests. */
static void check_load(const char *name, uint64_t (*time)(void), uint64_t gap)
{
    static uint64_t served[REQUESTS], queued[REQUESTS];
    random_state = 42;
    begin(true);
    for (int i = 0; i < REQUESTS; i++) {
        served[i] = time();
        queued[i] = below(4) > 0 ? 1 + below(60) : below(500) == 0 ? 5000 + below(9000) : 0;
        advance(below(gap));
        serve(queued[i], served[i]);
    }
    assert_in_range(total(sum.service_time), REQUESTS - 3, REQUESTS);
    assert_in_range(total(sum.queue_time), REQUESTS - 3, REQUESTS);
    qsort(served, REQUESTS, sizeof *served, compare);
    qsort(queued, REQUESTS, sizeof *queued, compare);
    assert_near(name, sum.service_time, served);
    assert_near(name, sum.queue_time, queued);
    end();
}

/* The host has not ended the requests before it. */
static void test_a_long_request_begins_at_the_last_measurement(void **state)
{
    (void)state;
    begin(true);
    for (int i = 0; i <= BB_SAMPLE_FIRST; i++) bb__sample_begin(&sample, fake_clock, 0, 0);
    serve(0, 3 * TICK * 1000);
    assert_int_equal(served_in(3 * TICK * 1000), 1);
    assert_int_equal(total(sum.service_time), 1);
    end();
}

static void test_percentiles_are_near_the_exact_times(void **state)
{
    (void)state;
    check_load("hello", hello, 5);
    check_load("a millisecond", a_millisecond, 5);
    check_load("mixed", mixed, 5);
    check_load("mostly short", mostly_short, 5);
    check_load("of any size", of_any_size, 5);
    check_load("hello with pauses", hello, 2000);
    check_load("mixed with pauses", mixed, 2000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_three_requests_show_three),
        cmocka_unit_test(test_after_16_requests_of_a_tick_one_in_4_is_measured),
        cmocka_unit_test(test_the_reads_of_the_exact_clock_at_full_load),
        cmocka_unit_test(test_a_long_request_counts_only_for_itself),
        cmocka_unit_test(test_a_time_is_long_from_two_ticks_on),
        cmocka_unit_test(test_a_known_queue_time_counts_for_one_request),
        cmocka_unit_test(test_a_long_request_begins_at_the_last_measurement),
        cmocka_unit_test(test_percentiles_are_near_the_exact_times),
    };
    return cmocka_run_group_tests_name("sample", tests, NULL, NULL);
}
