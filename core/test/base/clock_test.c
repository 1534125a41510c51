/* clock_test.c: the value of the Date field for known dates, for the current second, and for each day
 * (compared with the C library). Also tests the clock of milliseconds and differences of times. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "base/clock.h"

static void assert_date(int64_t second, const char *expected)
{
    char text[BB_DATE_LEN + 1];
    memset(text, '#', sizeof text);
    bb__date_render(second, text);
    assert_int_equal(text[BB_DATE_LEN], '#');
    text[BB_DATE_LEN] = '\0';
    assert_string_equal(text, expected);
}

static void test_no_time_has_passed_since_a_later_time(void **state)
{
    (void)state;
    assert_int_equal(bb__elapsed(7, 5), 2);
    assert_int_equal(bb__elapsed(5, 5), 0);
    assert_int_equal(bb__elapsed(5, 7), 0);
}

/* The server was absent from 10 to 30. */
static void test_only_the_absence_after_a_time_is_excused(void **state)
{
    (void)state;
    assert_int_equal(bb__excused(4, 10, 30), 24);
    assert_int_equal(bb__excused(10, 10, 30), 30);
    assert_int_equal(bb__excused(25, 10, 30), 30);
    assert_int_equal(bb__excused(31, 10, 30), 31);
}

static void test_known_dates_are_rendered(void **state)
{
    (void)state;
    assert_date(0, "Thu, 01 Jan 1970 00:00:00 GMT");
    assert_date(784111777, "Sun, 06 Nov 1994 08:49:37 GMT"); /* the example of RFC 9110 5.6.7 */
    assert_date(951782400, "Tue, 29 Feb 2000 00:00:00 GMT"); /* a leap year that is divisible by 400 */
    assert_date(951868799, "Tue, 29 Feb 2000 23:59:59 GMT");
    assert_date(951868800, "Wed, 01 Mar 2000 00:00:00 GMT");
    assert_date(1709251199, "Thu, 29 Feb 2024 23:59:59 GMT");
    assert_date(1735689599, "Tue, 31 Dec 2024 23:59:59 GMT");
    assert_date(1735689600, "Wed, 01 Jan 2025 00:00:00 GMT");
    assert_date(2147483648, "Tue, 19 Jan 2038 03:14:08 GMT"); /* past 32 bits */
    assert_date(4107542399, "Sun, 28 Feb 2100 23:59:59 GMT"); /* not a leap year, divisible by 100 */
    assert_date(4107542400, "Mon, 01 Mar 2100 00:00:00 GMT");
    assert_date(253402300799, "Fri, 31 Dec 9999 23:59:59 GMT");
}

/* If the system clock is wrong, the field still has its fixed length. */
static void test_dates_outside_1970_to_9999_are_clamped(void **state)
{
    (void)state;
    assert_date(-1, "Thu, 01 Jan 1970 00:00:00 GMT");
    assert_date(INT64_MIN, "Thu, 01 Jan 1970 00:00:00 GMT");
    assert_date(253402300800, "Fri, 31 Dec 9999 23:59:59 GMT");
    assert_date(INT64_MAX, "Fri, 31 Dec 9999 23:59:59 GMT");
}

static void test_every_day_agrees_with_the_c_library(void **state)
{
    (void)state;
    static const char days[7][4] = {"Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"};
    static const char months[12][4] = {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                       "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
    const time_t day =
        86399; /* s; coprime with the length of a day, so that each hour, minute and second occurs */
    const time_t calendar_repeats = 12622780800; /* s; 400 years */
    for (time_t second = 0; second <= 253402300799; second += second < calendar_repeats ? day : 97 * day) {
        struct tm tm;
        char expected[80];
        gmtime_r(&second, &tm);
        snprintf(expected, sizeof expected, "%s, %02d %s %04d %02d:%02d:%02d GMT", days[tm.tm_wday],
                 tm.tm_mday, months[tm.tm_mon], tm.tm_year + 1900, tm.tm_hour, tm.tm_min, tm.tm_sec);
        char text[BB_DATE_LEN];
        bb__date_render(second, text);
        if (memcmp(text, expected, BB_DATE_LEN) != 0) assert_date(second, expected);
    }
}

static void test_date_now_renders_the_current_second(void **state)
{
    (void)state;
    struct bb__date date = {0};
    struct timespec before, after;
    clock_gettime(CLOCK_REALTIME_COARSE, &before);
    const char *text = bb__date_now(&date);
    clock_gettime(CLOCK_REALTIME_COARSE, &after);
    assert_ptr_equal(text, date.text);
    assert_in_range(date.second, before.tv_sec, after.tv_sec);

    char expected[BB_DATE_LEN];
    bb__date_render(date.second, expected);
    assert_memory_equal(text, expected, BB_DATE_LEN);
}

static void test_date_now_renders_once_per_second(void **state)
{
    (void)state;
    struct bb__date date = {0};
    int64_t second;
    do { /* until both calls are in the same second */
        bb__date_now(&date);
        second = date.second;
        date.text[0] = '#';
        bb__date_now(&date);
    } while (date.second != second);
    assert_int_equal(date.text[0], '#');

    date.second -= 1;
    assert_int_not_equal(bb__date_now(&date)[0], '#');
}

static void test_clock_ms_agrees_with_the_kernels_clock(void **state)
{
    LINUX_ONLY;
    struct timespec now;
    uint64_t first = bb__clock_ms();
    clock_gettime(CLOCK_MONOTONIC, &now);
    uint64_t precise = (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
    clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
    uint64_t later = (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
    assert_true(first <= precise);
    assert_true(first <= later);
    assert_true(later <= bb__clock_ms());
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_no_time_has_passed_since_a_later_time),
        cmocka_unit_test(test_only_the_absence_after_a_time_is_excused),
        cmocka_unit_test(test_known_dates_are_rendered),
        cmocka_unit_test(test_dates_outside_1970_to_9999_are_clamped),
        cmocka_unit_test(test_every_day_agrees_with_the_c_library),
        cmocka_unit_test(test_date_now_renders_the_current_second),
        cmocka_unit_test(test_date_now_renders_once_per_second),
        cmocka_unit_test(test_clock_ms_agrees_with_the_kernels_clock),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
