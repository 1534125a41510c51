/* metrics_test.c: totals in memory: the places of times, the blocks of lanes, names, notes, and memory that
 * is damaged. metrics_file_test.c is for the file. `make tsan` runs this test under ThreadSanitizer. */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "metrics/metrics.h"
#include "metrics/totals.h"

enum { LANES = 3 };

static int open_metrics(void **state)
{
    (void)state;
    return bb_metrics_new(&metrics, LANES) == BB_OK ? 0 : -1;
}

static int close_metrics(void **state)
{
    (void)state;
    bb_metrics_free(metrics);
    return 0;
}

/* ---- the places of times ---- */

/* The place as bontebok_metrics.h describes it. */
static unsigned plain_place(uint64_t time)
{
    unsigned place = 10;
    if (time < 10) return (unsigned)time;
    for (uint64_t decade = 10; decade < 1000000000; decade *= 10)
        for (unsigned i = 0; i < 90; i++, place++)
            if (time < decade + (i + 1) * (decade / 10)) return place;
    return place;
}

/* Adds 1 to the time until the result differs, beginning at the first time of a place. */
static void check_bound(uint64_t bound)
{
    const unsigned place = plain_place(bound);
    assert_int_equal(bb__metrics_place(bound), place);
    if (bound == 0) return;
    assert_int_equal(plain_place(bound - 1), place - 1);
    assert_int_equal(bb__metrics_place(bound - 1), place - 1);
}

static void test_each_time_has_its_place(void **state)
{
    (void)state;
    for (uint64_t time = 0; time <= 20000; time++)
        assert_int_equal(bb__metrics_place(time), plain_place(time));
    for (uint64_t decade = 10; decade < 1000000000; decade *= 10)
        for (uint64_t i = 10; i <= 100; i++) check_bound(decade / 10 * i);
    static const uint64_t late[] = {1000000000, 1000000001,        4294967295,     4294967296,
                                    4294967301, UINT64_C(1) << 63, UINT64_MAX - 1, UINT64_MAX};
    for (size_t i = 0; i < sizeof late / sizeof *late; i++)
        assert_int_equal(bb__metrics_place(late[i]), BB_METRICS_TIMES - 1);
}

static void test_each_power_of_2_has_its_place(void **state)
{
    (void)state;
    for (int bit = 0; bit < 64; bit++)
        for (int near = -1; near <= 1; near++) {
            uint64_t time = (UINT64_C(1) << bit) + (uint64_t)near;
            assert_int_equal(bb__metrics_place(time), plain_place(time));
        }
}

/* The bounds that monitoring programs use. */
static void test_round_times_begin_a_place(void **state)
{
    (void)state;
    static const uint64_t bounds[] = {
        10,    25,     50,     100,    250,     500,     1000,    2500,     5000,     10000,    25000,
        50000, 100000, 250000, 500000, 1000000, 2500000, 5000000, 10000000, 25000000, 50000000, 1000000000};
    for (size_t i = 0; i < sizeof bounds / sizeof *bounds; i++)
        assert_int_equal(bb__metrics_place(bounds[i] - 1) + 1, bb__metrics_place(bounds[i]));
}

/* ---- lanes ---- */

static uint64_t sum_of(enum bb_counter counter)
{
    static struct bb_metrics_sum sum;
    bb_metrics_sum(metrics, &sum);
    return sum.counters[counter];
}

static struct bb_metrics_lane look(unsigned number)
{
    struct bb_metrics_lane lane;
    assert_int_equal(bb_metrics_look(metrics, number, &lane), BB_OK);
    return lane;
}

static void test_the_next_lane_of_a_slot_begins_at_0_and_sums_go_on(void **state)
{
    (void)state;
    struct bb_metrics_lane lane;
    assert_int_equal(bb_metrics_look(metrics, 0, &lane), BB_EOF);
    const struct bb__counts first = {metrics, bb__metrics_begin(metrics, 1, 7, 2)};
    bb__count(&first, BB_COUNT_RESPONSES_2XX, 5);
    bb__count(&first, BB_COUNT_BYTES_OUT, 1000);
    atomic_store(&first.own->gauges[BB_CONNECTION_WRITE], 4);
    lane = look(1);
    assert_int_equal(lane.pid, getpid());
    assert_int_equal(lane.thread, 0);
    assert_int_equal(lane.worker, 7);
    assert_int_equal(lane.generation, 2);
    assert_true(lane.began > 1600000000000);
    assert_int_equal(lane.counters[BB_COUNT_RESPONSES_2XX], 5);
    assert_int_equal(lane.connections[BB_CONNECTION_WRITE], 4);
    assert_int_equal(look(0).pid, 0);
    assert_int_equal(bb_metrics_look(metrics, 2, &lane), BB_EOF);

    bb__metrics_show_thread(first.own);
    assert_int_equal(look(1).thread != 0, THREADS_HAVE_NUMBERS);
    const struct bb__counts second = {metrics, bb__metrics_begin(metrics, 1, 8, 3)};
    assert_ptr_equal(second.own, first.own);
    lane = look(1);
    assert_int_equal(lane.worker, 8);
    assert_int_equal(lane.thread, 0);
    for (int i = 0; i < BB_COUNTERS_END; i++) assert_int_equal(lane.counters[i], 0);
    assert_int_equal(lane.connections[BB_CONNECTION_WRITE], 0);
    bb__count(&second, BB_COUNT_RESPONSES_2XX, 2);
    assert_int_equal(look(1).counters[BB_COUNT_RESPONSES_2XX], 2);
    assert_int_equal(sum_of(BB_COUNT_RESPONSES_2XX), 7);
    assert_int_equal(sum_of(BB_COUNT_BYTES_OUT), 1000);

    atomic_store(&second.own->gauges[BB_CONNECTION_SERVED], 1);
    bb__metrics_end(second.own);
    assert_int_equal(look(1).connections[BB_CONNECTION_SERVED], 0);
    assert_int_equal(look(1).counters[BB_COUNT_RESPONSES_2XX], 2);
}

static void test_without_a_block_the_common_block_counts(void **state)
{
    (void)state;
    assert_null(bb__metrics_begin(metrics, LANES, 1, 1));
    bb__metrics_end(NULL);
    bb__metrics_show_thread(NULL);
    const struct bb__counts common = {metrics, NULL}, none = {NULL, NULL};
    bb__count(&common, BB_COUNT_ABORTED, 3);
    bb__count(&none, BB_COUNT_ABORTED, 1);
    bb__count_times(&none, 1, 1);
    bb__count_rejection(&none, "x");
    bb__count_probe(&none, BB_PROBE_LIVE, false);
    bb__count_times(&common, 3, 5000);
    assert_int_equal(sum_of(BB_COUNT_ABORTED), 3);
    static struct bb_metrics_sum sum;
    bb_metrics_sum(metrics, &sum);
    assert_int_equal(sum.queue_time[3], 1);
    assert_int_equal(sum.service_time[plain_place(5000)], 1);
}

static void test_a_status_has_its_counter(void **state)
{
    (void)state;
    static const unsigned statuses[][2] = {
        {100, BB_COUNT_RESPONSES_1XX}, {199, BB_COUNT_RESPONSES_1XX}, {200, BB_COUNT_RESPONSES_2XX},
        {304, BB_COUNT_RESPONSES_3XX}, {499, BB_COUNT_RESPONSES_4XX}, {500, BB_COUNT_RESPONSES_5XX},
        {599, BB_COUNT_RESPONSES_5XX}, {600, BB_COUNT_RESPONSES_5XX}, {999, BB_COUNT_RESPONSES_5XX}};
    for (size_t i = 0; i < sizeof statuses / sizeof *statuses; i++)
        assert_int_equal(bb__counter_of_status(statuses[i][0]), statuses[i][1]);
}

/* ---- names ---- */

static struct bb_metrics_name name_at(unsigned place)
{
    struct bb_metrics_name name;
    assert_int_equal(bb_metrics_name(metrics, place, &name), BB_OK);
    return name;
}

static void assert_free_from(unsigned place)
{
    struct bb_metrics_name name;
    for (; place < BB_METRICS_NAMES; place++)
        assert_int_equal(bb_metrics_name(metrics, place, &name), BB_AGAIN);
    assert_int_equal(bb_metrics_name(metrics, place, &name), BB_EOF);
    assert_int_equal(bb_metrics_name(metrics, UINT32_MAX, &name), BB_EOF);
}

static void test_a_name_counts_together(void **state)
{
    (void)state;
    assert_free_from(0);
    bb_metrics_count(metrics, "one", 2);
    bb_metrics_count(metrics, "other", 1);
    bb_metrics_count(metrics, "one", 3);
    bb_metrics_count(metrics, "", 4);
    assert_string_equal(name_at(0).name, "one");
    assert_int_equal(name_at(0).count, 5);
    assert_string_equal(name_at(1).name, "other");
    assert_string_equal(name_at(2).name, "");
    assert_int_equal(name_at(2).count, 4);
    assert_free_from(3);
}

enum { THREADS = 8, TIMES = 200, FRESH_NAMES = 20 };

static pthread_barrier_t barrier;

/* All threads begin each name at the same time. */
static void *count_names(void *unused)
{
    for (int i = 0; i < FRESH_NAMES; i++) {
        char name[16];
        (void)snprintf(name, sizeof name, "name %d", i);
        (void)pthread_barrier_wait(&barrier);
        for (int j = 0; j < TIMES; j++) bb_metrics_count(metrics, name, 1);
    }
    return unused;
}

static void test_many_threads_count_a_new_name_together(void **state)
{
    (void)state;
    pthread_t threads[THREADS];
    struct bb_metrics_name found;
    assert_int_equal(pthread_barrier_init(&barrier, NULL, THREADS), 0);
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, count_names, NULL), 0);
    for (unsigned place = 0; bb_metrics_name(metrics, FRESH_NAMES - 1, &found) != BB_OK; place++)
        if (bb_metrics_name(metrics, place % FRESH_NAMES, &found) == BB_OK)
            assert_memory_equal(found.name, "name ", 5);
    for (int i = 0; i < THREADS; i++) pthread_join(threads[i], NULL);
    pthread_barrier_destroy(&barrier);
    for (unsigned i = 0; i < FRESH_NAMES; i++) {
        char name[16];
        (void)snprintf(name, sizeof name, "name %u", i);
        assert_string_equal(name_at(i).name, name);
        assert_int_equal(name_at(i).count, THREADS * TIMES);
    }
    assert_free_from(FRESH_NAMES);
}

static void test_a_name_that_finds_no_place_is_not_counted(void **state)
{
    (void)state;
    char name[BB_METRICS_NAME_MAX + 1];
    memset(name, 'x', sizeof name);
    name[BB_METRICS_NAME_MAX] = '\0';
    bb_metrics_count(metrics, name, 1); /* one byte too long */
    assert_free_from(0);
    name[BB_METRICS_NAME_MAX - 1] = '\0';
    bb_metrics_count(metrics, name, 1);
    assert_string_equal(name_at(0).name, name);
    for (int i = 1; i < BB_METRICS_NAMES + 5; i++) {
        (void)snprintf(name, sizeof name, "%d", i);
        bb_metrics_count(metrics, name, 1);
    }
    bb_metrics_count(metrics, "127", 1);
    assert_string_equal(name_at(BB_METRICS_NAMES - 1).name, "127");
    assert_int_equal(name_at(BB_METRICS_NAMES - 1).count, 2);
    assert_free_from(BB_METRICS_NAMES);
}

/* A process was killed between the claim and the name. */
static void test_a_place_without_a_name_is_skipped_until_its_name_comes(void **state)
{
    (void)state;
    struct bb_metrics_name found;
    bb_metrics_count(metrics, "killed", 1);
    atomic_store(&metrics->memory->names[0].named, 0);
    memset((void *)metrics->memory->names[0].name, 0, BB_METRICS_NAME_MAX);
    bb_metrics_count(metrics, "other", 1);
    assert_int_equal(bb_metrics_name(metrics, 0, &found), BB_AGAIN);
    assert_string_equal(name_at(1).name, "other");
    bb_metrics_count(metrics, "killed", 1);
    assert_string_equal(name_at(0).name, "killed");
    assert_int_equal(name_at(0).count, 2);
    assert_free_from(2);
}

static void test_rejections_and_probes_have_names(void **state)
{
    (void)state;
    const struct bb__counts counts = {metrics, NULL};
    bb__count_rejection(&counts, "queue_full");
    bb__count_rejection(&counts, "a_reason_that_is_longer_than_any_other_reason_of_the_core");
    assert_string_equal(name_at(0).name, "rejected queue_full");
    assert_int_equal(strlen(name_at(1).name), BB_METRICS_NAME_MAX - 1);
    assert_int_equal(bb_metrics_probe(metrics, BB_PROBE_READY).last, 0);
    for (int i = 0; i < 3; i++) bb__count_probe(&counts, BB_PROBE_READY, false);
    bb__count_probe(&counts, BB_PROBE_LIVE, true);
    assert_string_equal(name_at(2).name, "probe ready_path 503");
    assert_int_equal(name_at(2).count, 3);
    assert_string_equal(name_at(3).name, "probe live_path 200");
    assert_int_equal(bb_metrics_probe(metrics, BB_PROBE_READY).in_a_row, 3);
    assert_true(bb_metrics_probe(metrics, BB_PROBE_READY).last > 1600000000000);
    assert_int_equal(bb_metrics_probe(metrics, BB_PROBE_LIVE).in_a_row, 0);
    bb__count_probe(&counts, BB_PROBE_READY, true);
    assert_int_equal(bb_metrics_probe(metrics, BB_PROBE_READY).in_a_row, 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, open_metrics, close_metrics)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_each_time_has_its_place),
        TEST(test_each_power_of_2_has_its_place),
        TEST(test_round_times_begin_a_place),
        TEST(test_the_next_lane_of_a_slot_begins_at_0_and_sums_go_on),
        TEST(test_without_a_block_the_common_block_counts),
        TEST(test_a_status_has_its_counter),
        TEST(test_a_name_counts_together),
        TEST(test_many_threads_count_a_new_name_together),
        TEST(test_a_name_that_finds_no_place_is_not_counted),
        TEST(test_a_place_without_a_name_is_skipped_until_its_name_comes),
        TEST(test_rejections_and_probes_have_names),
    };
    return cmocka_run_group_tests_name("metrics", tests, NULL, NULL);
}
