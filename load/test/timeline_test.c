/* timeline_test.c: tests that each line of --timeline counts only the time since the last line. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "clock.h"
#include "report/timeline.h"

#include <stdlib.h>

#define START_NS (7 * NS_PER_SECOND + 5)

static struct timeline timeline;
static char *printed;
static size_t printed_size;

static void start(bool is_json)
{
    timeline_start(&timeline, open_memstream(&printed, &printed_size), is_json, START_NS);
}

static void print(uint64_t after_ms, uint64_t ok, uint64_t refused, uint64_t reset, uint64_t slowest_us)
{
    uint64_t fates[FATE_COUNT] = {[FATE_OK] = ok, [FATE_REFUSED] = refused, [FATE_RESET] = reset};
    timeline_print(&timeline, START_NS + after_ms * NS_PER_MS, fates, slowest_us * NS_PER_US);
}

/* Reads `printed` before the stream is closed, so a line that is not flushed is missing. */
static void assert_printed(const char *expected)
{
    assert_string_equal(printed, expected);
    fclose(timeline.out);
    free(printed);
}

static void prints_each_second_as_text(void **state)
{
    (void)state;
    start(false);
    print(1000, 100, 0, 0, 1234);
    print(2000, 100, 1, 0, 0);
    print(3000, 150, 3, 1, 2600900);
    print(3500, 200, 3, 1, 40);
    assert_printed("  second   requests      req/s     max ms     failed\n"
                   "     1.0        100      100.0        1.2          0\n"
                   "     2.0          1        0.0          -          1  refused 1\n"
                   "     3.0         53       50.0     2600.9          3  refused 2, reset 1\n"
                   "     3.5         50      100.0        0.0          0\n");
}

static void prints_each_second_as_json(void **state)
{
    (void)state;
    start(true);
    print(1000, 0, 2, 0, 0);
    print(3000, 100, 2, 0, 1234);
    assert_printed(
        "{\"second\":1.0,\"requests\":2,\"ok\":0,\"errors\":{\"refused\":2,\"reset\":0,\"short\":0,"
        "\"timeout\":0,\"status\":0,\"local\":0},\"requests_per_second\":0.0,"
        "\"latency_us\":{\"max\":null}}\n"
        "{\"second\":3.0,\"requests\":100,\"ok\":100,\"errors\":{\"refused\":0,\"reset\":0,\"short\":0,"
        "\"timeout\":0,\"status\":0,\"local\":0},\"requests_per_second\":50.0,"
        "\"latency_us\":{\"max\":1234.0}}\n");
}

static void is_due_at_whole_seconds(void **state)
{
    (void)state;
    start(true);
    assert_int_equal(timeline_due_ns(&timeline), START_NS + NS_PER_SECOND);
    print(1000, 0, 0, 0, 0);
    assert_int_equal(timeline_due_ns(&timeline), START_NS + 2 * NS_PER_SECOND);
    print(2040, 0, 0, 0, 0); /* late */
    assert_int_equal(timeline_due_ns(&timeline), START_NS + 3 * NS_PER_SECOND);
    print(6500, 0, 0, 0, 0); /* several seconds late: one line for all of them */
    assert_int_equal(timeline_due_ns(&timeline), START_NS + 7 * NS_PER_SECOND);
    fclose(timeline.out);
    free(printed);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(prints_each_second_as_text),
        cmocka_unit_test(prints_each_second_as_json),
        cmocka_unit_test(is_due_at_whole_seconds),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
