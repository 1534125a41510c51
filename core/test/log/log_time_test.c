/* log_time_test.c: the times in log lines: offsets with minutes, daylight saving time, and a clock that is
 * set back. No country uses the time zones of this test. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "log/log_time.h"

/* 1994-03-27T00:59:59Z and 1994-09-25T00:59:59Z */
#define SPRING INT64_C(764729999)
#define AUTUMN INT64_C(780454799)

static struct bb__log_time shown;

static void live_in(const char *zone)
{
    setenv("TZ", zone, 1);
    tzset();
    shown = (struct bb__log_time){0};
}

static void assert_local(int64_t second, const char *text)
{
    bb__log_time_set(&shown, second);
    assert_int_equal(shown.local_len, strlen(text));
    assert_memory_equal(shown.local_text, text, shown.local_len);
}

static void test_daylight_saving_time_begins_and_ends(void **state)
{
    (void)state;
    live_in("XXX-1YYY,M3.5.0,M9.5.0/3");
    assert_local(SPRING, "[27/Mar/1994:01:59:59 +0100]");
    assert_local(SPRING + 1, "[27/Mar/1994:03:00:00 +0200]");
    assert_local(AUTUMN, "[25/Sep/1994:02:59:59 +0200]");
    assert_local(AUTUMN + 1, "[25/Sep/1994:02:00:00 +0100]");
}

static void test_offsets_east_and_west_have_minutes(void **state)
{
    (void)state;
    live_in("XXX3:30");
    assert_local(SPRING, "[26/Mar/1994:21:29:59 -0330]");
    live_in("XXX-5:45");
    assert_local(SPRING + 1, "[27/Mar/1994:06:45:00 +0545]");
    live_in("XXX0:30");
    assert_local(SPRING, "[27/Mar/1994:00:29:59 -0030]");
}

static void test_a_clock_may_be_set_back(void **state)
{
    (void)state;
    live_in("UTC0");
    assert_local(SPRING, "[27/Mar/1994:00:59:59 +0000]");
    assert_local(0, "[01/Jan/1970:00:00:00 +0000]");
    assert_memory_equal(shown.utc_text, "1970-01-01T00:00:00", shown.utc_len);
    assert_local(SPRING, "[27/Mar/1994:00:59:59 +0000]");
    assert_memory_equal(shown.utc_text, "1994-03-27T00:59:59", shown.utc_len);
}

/* RFC 3164 4.1.2: a day with one digit has a space before it. */
static void test_syslog_time_has_its_own_form(void **state)
{
    (void)state;
    char text[BB_LOG_TIME_MAX];
    live_in("XXX-1");
    assert_int_equal(bb__log_time_syslog(text, INT64_C(784111777)), strlen("Nov  6 09:49:37"));
    assert_string_equal(text, "Nov  6 09:49:37");
    assert_int_equal(bb__log_time_syslog(text, SPRING), strlen("Mar 27 01:59:59"));
    assert_string_equal(text, "Mar 27 01:59:59");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_daylight_saving_time_begins_and_ends),
        cmocka_unit_test(test_offsets_east_and_west_have_minutes),
        cmocka_unit_test(test_a_clock_may_be_set_back),
        cmocka_unit_test(test_syslog_time_has_its_own_form),
    };
    return cmocka_run_group_tests_name("log_time", tests, NULL, NULL);
}
