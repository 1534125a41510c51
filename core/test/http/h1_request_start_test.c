/* h1_request_start_test.c: the value of X-Request-Start, in the notations of different proxies. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "head_case.h"
#include "http/h1_request_start.h"

#include <stdio.h>

static const struct bb_head *head_with(const char *lines)
{
    static char bytes[512];
    int len = snprintf(bytes, sizeof bytes, "GET / HTTP/1.1\r\nHost: h\r\n%sAccept: */*\r\n\r\n", lines);
    return accepted(bytes, (size_t)len);
}

static uint64_t start_of(const char *value)
{
    char line[128];
    (void)snprintf(line, sizeof line, "x-request-START: %s\r\n", value);
    const struct bb_head *head = head_with(line);
    assert_true(head->has_start);
    return bb__request_start(head);
}

static void test_the_notations_of_proxies_are_read(void **state)
{
    (void)state;
    static const struct {
        const char *value;
        uint64_t start;
    } examples[] = {
        {"t=1700000000.123", UINT64_C(1700000000123000)},
        {"1700000000.123456", UINT64_C(1700000000123456)},
        {"1700000000.1234567", UINT64_C(1700000000123456)},
        {"1700000000", UINT64_C(1700000000000000)},
        {"t=1700000000123", UINT64_C(1700000000123000)},
        {"1700000000123456", UINT64_C(1700000000123456)},
        {"t=1700000000123456", UINT64_C(1700000000123456)},
        {"1700000000123456789", UINT64_C(1700000000123456)},
        {"t=1700000000123456789", UINT64_C(1700000000123456)},
        {"t=", 0},
        {"", 0},
        {"yesterday", 0},
        {"-1700000000", 0},
        {"1700000000 ", UINT64_C(1700000000000000)}, /* white space at the end is no part of the value */
        {"1700000000 1", 0},
        {"1700000000.", UINT64_C(1700000000000000)},
        {"1700000000.5x", 0},
        {"1700000000.5.5", 0},
        {"1700000000123.5", UINT64_C(1700000000123500)},
        {"t=1700000000123.4567", UINT64_C(1700000000123456)},
        {"1700000000123456.7", UINT64_C(1700000000123456)},
        {"1700000000123456789.1", UINT64_C(1700000000123456)},
        {"t=t=1700000000", 0},
        {"T=1700000000", 0},
        {"9999999999999999999", UINT64_C(9999999999999999)},
        {"10000000000000000000", 0},
        {"18446744073709551617", 0},
        {"99999999999999999999999999", 0},
    };
    for (size_t i = 0; i < sizeof examples / sizeof *examples; i++)
        assert_int_equal(start_of(examples[i].value), examples[i].start);
}

/* The value ends right before an inaccessible page. */
static void test_no_byte_behind_the_value_is_read(void **state)
{
    (void)state;
    static const char *const values[] = {"", "t", "t=", "t=1", "17", "1700000000.", "1700000000.5"};
    struct guard guard = guard_new(100);
    for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
        size_t len = strlen(values[i]);
        struct bb_field field = {.kind = BB_FIELD_REQUEST_START, .value_len = (uint32_t)len};
        field.value = guard_put(&guard, values[i], len);
        struct bb_head head = {.fields = &field, .field_count = 1};
        assert_true(bb__request_start(&head) < UINT64_C(1700000001000000));
    }
    guard_free(&guard);
}

static void test_a_request_without_the_field_has_no_start(void **state)
{
    (void)state;
    static const char *const others[] = {"", "X-Request-Stare: 1\r\n", "X-Request-Start-Not: 1\r\n"};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        const struct bb_head *head = head_with(others[i]);
        assert_false(head->has_start);
        assert_int_equal(bb__request_start(head), 0);
    }
}

static void test_a_request_with_several_fields_has_no_start(void **state)
{
    (void)state;
    const struct bb_head *head = head_with("X-Request-Start: 1700000000\r\nx-request-start: 1700000000\r\n");
    assert_true(head->has_start);
    assert_int_equal(bb__request_start(head), 0);
}

#define TEST(function) cmocka_unit_test_setup(function, reset_limits)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_the_notations_of_proxies_are_read),
        TEST(test_no_byte_behind_the_value_is_read),
        TEST(test_a_request_without_the_field_has_no_start),
        TEST(test_a_request_with_several_fields_has_no_start),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
