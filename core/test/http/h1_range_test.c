/* h1_range_test.c: Range and If-Range (RFC 9110 14.1.2, 14.2, 13.1.5). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "http/h1_range.h"
#include "support/guard.h"

#include <stdio.h>

static struct bb__range ranges[BB_RANGES_MAX];
static unsigned count;

static struct bb_slice slice(const char *text)
{
    return text ? (struct bb_slice){text, strlen(text)} : (struct bb_slice){0};
}

static enum bb__range_verdict parse(const char *value, uint64_t size)
{
    return bb__range_parse(slice(value), size, ranges, &count);
}

/* The ranges as text, "first+length" with commas. */
static const char *text_of_ranges(void)
{
    static char text[1024];
    size_t len = 0;
    text[0] = '\0';
    for (unsigned i = 0; i < count; i++)
        len += (size_t)snprintf(text + len, sizeof text - len, "%s%llu+%llu", i > 0 ? "," : "",
                                (unsigned long long)ranges[i].first, (unsigned long long)ranges[i].len);
    return text;
}

static void test_ranges_are_read(void **state)
{
    (void)state;
    static const struct {
        const char *value;
        const char *ranges;
    } examples[] = {
        {"bytes=0-0", "0+1"},
        {"bytes=0-99", "0+100"},
        {"bytes=10-19", "10+10"},
        {"bytes=90-", "90+10"},
        {"bytes=90-99999999999999999999999", "90+10"},
        {"bytes=-1", "99+1"},
        {"bytes=-100", "0+100"},
        {"bytes=-101", "0+100"},
        {"bytes=-99999999999999999999999", "0+100"},
        {"BYTES=5-6", "5+2"},
        {"bytes= 5-6 ", "5+2"},
        {"bytes=0-0,-1", "0+1,99+1"},
        {"bytes=0-0,\t20-29 , 5-5", "0+1,20+10,5+1"},
        {"bytes=,0-0,,5-5,", "0+1,5+1"},
        {"bytes=0-0,100-", "0+1"},
        {"bytes=200-,7-7,-0", "7+1"},
        {"bytes=0-49,50-99", "0+50,50+50"},
        {"bytes=0-9,0-9", "0+10,0+10"},
        {"bytes=000-001", "0+2"},
    };
    for (size_t i = 0; i < sizeof examples / sizeof *examples; i++) {
        assert_int_equal(parse(examples[i].value, 100), BB_RANGE_PARTS);
        assert_string_equal(text_of_ranges(), examples[i].ranges);
    }
}

static void test_ranges_beyond_the_end_are_unsatisfiable(void **state)
{
    (void)state;
    static const char *const values[] = {"bytes=100-",
                                         "bytes=100-100",
                                         "bytes=-0",
                                         "bytes=200-300,100-,-0",
                                         "bytes=18446744073709551615-",
                                         "bytes=18446744073709551616-"};
    for (size_t i = 0; i < sizeof values / sizeof *values; i++)
        assert_int_equal(parse(values[i], 100), BB_RANGE_UNSATISFIABLE);
}

static void test_other_values_are_ignored(void **state)
{
    (void)state;
    static const char *const values[] = {
        "",
        "bytes",
        "bytes=",
        "bytes=,",
        "bytes 0-1",
        "byte=0-1",
        "items=0-1",
        "bytes=1",
        "bytes=-",
        "bytes=--1",
        "bytes=1-0",
        "bytes=0-1x",
        "bytes=x-1",
        "bytes=0-1 2",
        "bytes=0 -1",
        "bytes=0- 1",
        "bytes=+0-1",
        "bytes=0-1;2-3",
        "bytes=0x1-2",
        "bytes=0-1,x",
        "bytes=0-0,5-4",
        "bytes =0-1",
        "bytes=0-1-2",
        "bytes=200-100",
    };
    for (size_t i = 0; i < sizeof values / sizeof *values; i++)
        assert_int_equal(parse(values[i], 100), BB_RANGE_WHOLE);
}

/* Otherwise a small request could cause a response that is much longer than the file. */
static void test_ranges_that_together_exceed_the_file_are_ignored(void **state)
{
    (void)state;
    assert_int_equal(parse("bytes=0-,1-1", 100), BB_RANGE_WHOLE);
    assert_int_equal(parse("bytes=0-,0-,0-", 100), BB_RANGE_WHOLE);
    assert_int_equal(parse("bytes=0-49,49-99", 100), BB_RANGE_WHOLE);
}

static void test_an_empty_file_is_sent_whole(void **state)
{
    (void)state;
    assert_int_equal(parse("bytes=0-", 0), BB_RANGE_WHOLE);
    assert_int_equal(parse("bytes=-5", 0), BB_RANGE_WHOLE);
}

static void test_the_largest_file(void **state)
{
    (void)state;
    assert_int_equal(parse("bytes=18446744073709551614-", UINT64_MAX), BB_RANGE_PARTS);
    assert_string_equal(text_of_ranges(), "18446744073709551614+1");
    assert_int_equal(parse("bytes=0-,0-", UINT64_MAX), BB_RANGE_WHOLE);
}

/* Unsatisfiable ranges count, too. */
static void test_sixteen_ranges_are_the_most(void **state)
{
    (void)state;
    char value[256] = "bytes=0-0";
    for (int i = 1; i < BB_RANGES_MAX; i++) strcat(value, i % 2 ? ",500-" : ",2-2");
    assert_int_equal(parse(value, 100), BB_RANGE_PARTS);
    assert_int_equal(count, BB_RANGES_MAX / 2);
    strcat(value, ",3-3");
    assert_int_equal(parse(value, 100), BB_RANGE_WHOLE);
}

/* Each value ends right before an inaccessible page. */
static void test_no_byte_behind_the_value_is_read(void **state)
{
    (void)state;
    static const char whole[] = "bytes=1-2, -3 ,4-";
    struct guard guard = guard_new(100);
    for (size_t len = 0; len < sizeof whole; len++) {
        struct bb_slice value = {guard_put(&guard, whole, len), len};
        assert_in_range(bb__range_parse(value, 100, ranges, &count), BB_RANGE_WHOLE, BB_RANGE_UNSATISFIABLE);
        (void)bb__range_condition_holds(value, value, value);
    }
    guard_free(&guard);
}

static void test_conditions(void **state)
{
    (void)state;
    static const char date[] = "Tue, 01 Jan 2030 00:00:00 GMT";
    static const struct {
        const char *condition, *etag, *last_modified;
        bool holds;
    } examples[] = {
        {"\"a\"", "\"a\"", NULL, true},
        {"\"a\"", "\"b\"", NULL, false},
        {"\"a\"", NULL, NULL, false},
        {"\"a\"", "W/\"a\"", NULL, false},
        {"W/\"a\"", "W/\"a\"", NULL, false},
        {"\"a\"", NULL, "\"a\"", false},
        {date, NULL, date, true},
        {date, "\"a\"", date, true},
        {date, "\"a\"", NULL, false},
        {date, NULL, "Tue, 01 Jan 2030 00:00:01 GMT", false},
        {"", "", "", false},
    };
    for (size_t i = 0; i < sizeof examples / sizeof *examples; i++)
        assert_int_equal(bb__range_condition_holds(slice(examples[i].condition), slice(examples[i].etag),
                                                   slice(examples[i].last_modified)),
                         examples[i].holds);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_ranges_are_read),
        cmocka_unit_test(test_ranges_beyond_the_end_are_unsatisfiable),
        cmocka_unit_test(test_other_values_are_ignored),
        cmocka_unit_test(test_ranges_that_together_exceed_the_file_are_ignored),
        cmocka_unit_test(test_an_empty_file_is_sent_whole),
        cmocka_unit_test(test_the_largest_file),
        cmocka_unit_test(test_sixteen_ranges_are_the_most),
        cmocka_unit_test(test_no_byte_behind_the_value_is_read),
        cmocka_unit_test(test_conditions),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
