/* http_date_test.c: the three forms of an HTTP-date (RFC 9110 5.6.7). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/clock.h"
#include "representation/http_date.h"
#include "support/guard.h"

#include <stdio.h>

#define NOW  INT64_C(1800000000) /* Fri, 15 Jan 2027 08:00:00 GMT */
#define NONE INT64_MIN

/* Returns the time of the text, or NONE. */
static int64_t parse_at(const char *text, int64_t now)
{
    int64_t seconds = NONE;
    bool valid = bb__http_date_parse((struct bb_slice){text, strlen(text)}, now, &seconds);
    assert_true(valid == (seconds != NONE));
    return seconds;
}

static void assert_time(const char *text, int64_t expected)
{
    int64_t seconds = parse_at(text, NOW);
    if (seconds != expected)
        fail_msg("%s: %lld instead of %lld", text, (long long)seconds, (long long)expected);
}

static void test_three_forms_are_read(void **state)
{
    (void)state;
    assert_time("Sun, 06 Nov 1994 08:49:37 GMT", 784111777);
    assert_time("Sunday, 06-Nov-94 08:49:37 GMT", 784111777);
    assert_time("Sun Nov  6 08:49:37 1994", 784111777);
    assert_time("Wed Nov 16 08:49:37 1994", 784975777);
    assert_time("Sun Nov 06 08:49:37 1994", 784111777);
    assert_time("Thu, 01 Jan 1970 00:00:00 GMT", 0);
    assert_time("Wed, 31 Dec 1969 23:59:59 GMT", -1);
    assert_time("Fri, 31 Dec 9999 23:59:59 GMT", 253402300799);
    assert_time("Sat, 01 Jan 0000 00:00:00 GMT", -62167219200);
}

/* bb__date_render() has other code for the calendar. */
static void test_each_day_of_400_years_is_read(void **state)
{
    (void)state;
    char text[BB_DATE_LEN + 1] = "";
    for (int64_t day = 0; day < 146097 + 366; day++) {
        int64_t second = day * 86400 + day % 86400;
        bb__date_render(second, text);
        assert_time(text, second);
    }
}

static void test_names_of_days_are_not_compared_with_the_date(void **state)
{
    (void)state;
    assert_time("Mon, 06 Nov 1994 08:49:37 GMT", 784111777);
    assert_time("Saturday, 06-Nov-94 08:49:37 GMT", 784111777);
    assert_time("Wed Nov  6 08:49:37 1994", 784111777);
}

static void test_days_and_times_must_exist(void **state)
{
    (void)state;
    assert_time("Thu, 29 Feb 2024 00:00:00 GMT", 1709164800);
    assert_time("Tue, 29 Feb 2000 00:00:00 GMT", 951782400);
    static const char *const bad[] = {
        "Thu, 29 Feb 2023 00:00:00 GMT", "Thu, 29 Feb 1900 00:00:00 GMT", "Thu, 30 Feb 2024 00:00:00 GMT",
        "Thu, 31 Apr 2024 00:00:00 GMT", "Thu, 31 Jun 2024 00:00:00 GMT", "Thu, 31 Sep 2024 00:00:00 GMT",
        "Thu, 31 Nov 2024 00:00:00 GMT", "Thu, 32 Jan 2024 00:00:00 GMT", "Thu, 00 Jan 2024 00:00:00 GMT",
        "Thu, 01 Jan 2024 24:00:00 GMT", "Thu, 01 Jan 2024 00:60:00 GMT", "Thu, 01 Jan 2024 00:00:61 GMT",
        "Thu, 01 Jan 2024 00:00:60 GMT", "Thu, 01 Jan 2024 23:00:60 GMT", "Thu, 01 Jan 2024 00:59:60 GMT",
        "Thu Feb 30 00:00:00 2024",      "Thu Feb  0 00:00:00 2024",      "Sunday, 31-Feb-94 08:49:37 GMT",
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) assert_time(bad[i], NONE);
}

static void test_a_leap_second_is_read(void **state)
{
    (void)state;
    assert_time("Sat, 31 Dec 2016 23:59:60 GMT", 1483228800);
    assert_time("Sun, 01 Jan 2017 00:00:00 GMT", 1483228800);
    assert_time("Saturday, 31-Dec-16 23:59:60 GMT", 1483228800);
    assert_time("Sat Dec 31 23:59:60 2016", 1483228800);
}

/* A year of two digits is at most 50 years ahead. */
static void test_the_century_of_rfc_850_depends_on_the_present(void **state)
{
    (void)state;
    static const struct {
        int64_t now;
        const char *text, *same;
    } examples[] = {
        {NOW, "Friday, 15-Jan-27 08:00:00 GMT", "Fri, 15 Jan 2027 08:00:00 GMT"},
        {NOW, "Friday, 31-Dec-76 00:00:00 GMT", "Fri, 31 Dec 2076 00:00:00 GMT"},
        {NOW, "Friday, 13-Jan-77 00:00:00 GMT", "Fri, 13 Jan 2077 00:00:00 GMT"},
        {NOW, "Friday, 17-Jan-77 00:00:00 GMT", "Fri, 17 Jan 1977 00:00:00 GMT"},
        {NOW, "Friday, 31-Dec-77 00:00:00 GMT", "Fri, 31 Dec 1977 00:00:00 GMT"},
        {NOW, "Friday, 01-Jan-00 00:00:00 GMT", "Fri, 01 Jan 2000 00:00:00 GMT"},
        {NOW, "Friday, 29-Feb-00 00:00:00 GMT", "Fri, 29 Feb 2000 00:00:00 GMT"},
        {0, "Friday, 01-Jan-20 00:00:00 GMT", "Fri, 01 Jan 2020 00:00:00 GMT"},
        {0, "Friday, 02-Jan-20 00:00:00 GMT", "Fri, 02 Jan 1920 00:00:00 GMT"},
        {0, "Friday, 01-Jan-69 00:00:00 GMT", "Fri, 01 Jan 1969 00:00:00 GMT"},
        /* In 2080, the year 10 is 2110. */
        {INT64_C(3471292800), "Friday, 01-Jan-10 00:00:00 GMT", "Fri, 01 Jan 2110 00:00:00 GMT"},
        {INT64_C(3471292800), "Friday, 01-Jan-40 00:00:00 GMT", "Fri, 01 Jan 2040 00:00:00 GMT"},
        {INT64_C(3471292800), "Friday, 29-Feb-00 00:00:00 GMT", NULL}, /* 2100 has no such day */
        /* Times that no clock has. */
        {INT64_MAX, "Friday, 01-Jan-99 00:00:00 GMT", "Fri, 01 Jan 9999 00:00:00 GMT"},
        {INT64_MIN, "Friday, 01-Jan-70 00:00:00 GMT", "Fri, 01 Jan 1970 00:00:00 GMT"},
    };
    for (size_t i = 0; i < sizeof examples / sizeof *examples; i++) {
        int64_t expected = examples[i].same ? parse_at(examples[i].same, 0) : NONE;
        int64_t seconds = parse_at(examples[i].text, examples[i].now);
        if (seconds != expected) fail_msg("%s: %lld", examples[i].text, (long long)seconds);
    }
}

static void test_other_texts_are_no_dates(void **state)
{
    (void)state;
    static const char *const bad[] = {
        "",
        "now",
        "784111777",
        "Sun, 06 Nov 1994 08:49:37",
        "Sun, 06 Nov 1994 08:49:37 UTC",
        "Sun, 06 Nov 1994 08:49:37 gmt",
        "Sun, 06 Nov 1994 08:49:37 GMT ",
        " Sun, 06 Nov 1994 08:49:37 GMT",
        "Sun, 06 Nov 1994 08:49:37 GMTx",
        "Sun, 06 Nov 1994 08:49:37 +0000",
        "sun, 06 Nov 1994 08:49:37 GMT",
        "SUN, 06 Nov 1994 08:49:37 GMT",
        "Sun, 06 nov 1994 08:49:37 GMT",
        "Son, 06 Nov 1994 08:49:37 GMT",
        "Sun, 06 Mai 1994 08:49:37 GMT",
        "Sun 06 Nov 1994 08:49:37 GMT",
        "Sun,06 Nov 1994 08:49:37 GMT",
        "Sun,  06 Nov 1994 08:49:37 GMT",
        "Sun, 6 Nov 1994 08:49:37 GMT",
        "Sun,  6 Nov 1994 08:49:37 GMT",
        "Sun, 006 Nov 1994 08:49:37 GMT",
        "Sun, 06 Nov 94 08:49:37 GMT",
        "Sun, 06 Nov 19941 08:49:37 GMT",
        "Sun, 06-Nov-1994 08:49:37 GMT",
        "Sun, 06 Nov 1994 8:49:37 GMT",
        "Sun, 06 Nov 1994 08:49 GMT",
        "Sun, 06 Nov 1994 08.49.37 GMT",
        "Sun, 06 Nov 1994 08:49:3/ GMT",
        "Sun, 06 Nov 1994 08:49:3: GMT",
        "Sun, 06 Nov 1994\t08:49:37 GMT",
        "Sun, 06 Nov 1994 08:49:37 GMT; length=1",
        "Sunday, 06 Nov 1994 08:49:37 GMT",
        "Sunday, 06-Nov-1994 08:49:37 GMT",
        "Sunday, 06-Nov-94 08:49:37",
        "Sunday, 06 Nov 94 08:49:37 GMT",
        "Sun, 06-Nov-94 08:49:37 GMT",
        "Sundays, 06-Nov-94 08:49:37 GMT",
        "sunday, 06-Nov-94 08:49:37 GMT",
        "Sun, Nov  6 08:49:37 1994",
        "Sun Nov 6 08:49:37 1994",
        "Sun Nov   6 08:49:37 1994",
        "Sun Nov  6 08:49:37 1994 GMT",
        "Sun Nov  6 08:49:37 94",
        "Sunday Nov  6 08:49:37 1994",
        "Sun Nov  16 08:49:37 1994",
        "Sun Nov \t6 08:49:37 1994",
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) assert_time(bad[i], NONE);
    int64_t seconds;
    assert_false(bb__http_date_parse((struct bb_slice){0}, NOW, &seconds));
}

/* Each text ends right before an inaccessible page. */
static void test_no_byte_behind_the_text_is_read(void **state)
{
    (void)state;
    static const char *const texts[] = {"Sun, 06 Nov 1994 08:49:37 GMT", "Wednesday, 06-Nov-94 08:49:37 GMT",
                                        "Sun Nov  6 08:49:37 1994"};
    struct guard guard = guard_new(100);
    for (size_t i = 0; i < 3; i++)
        for (size_t len = 0; len <= strlen(texts[i]); len++) {
            int64_t seconds;
            struct bb_slice text = {guard_put(&guard, texts[i], len), len};
            assert_true(bb__http_date_parse(text, NOW, &seconds) == (len == strlen(texts[i])));
        }
    guard_free(&guard);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_three_forms_are_read),
        cmocka_unit_test(test_each_day_of_400_years_is_read),
        cmocka_unit_test(test_names_of_days_are_not_compared_with_the_date),
        cmocka_unit_test(test_days_and_times_must_exist),
        cmocka_unit_test(test_a_leap_second_is_read),
        cmocka_unit_test(test_the_century_of_rfc_850_depends_on_the_present),
        cmocka_unit_test(test_other_texts_are_no_dates),
        cmocka_unit_test(test_no_byte_behind_the_text_is_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
