/* log_start_test.c: since when a request waits, in the notations that proxies have for it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "guard.h"
#include "log_start.h"

static uint64_t start_of(const char *value)
{
    struct guard guard = guard_new(100);
    size_t len = strlen(value);
    struct bb_field field = {.name = "x-request-START", .name_len = 15, .value_len = (uint32_t)len};
    field.value = guard_put(&guard, value, len);
    struct bb_head head = {.fields = &field, .field_count = 1};
    uint64_t start = bb__log_request_start(&head);
    guard_free(&guard);
    return start;
}

static void test_knows_the_notations(void **state)
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
        {"1700000000 ", 0},
        {"1700000000123.5", 0},
        {"9999999999999999999", UINT64_C(9999999999999999)},
        {"10000000000000000000", 0},
        {"18446744073709551617", 0},
        {"99999999999999999999999999", 0},
    };
    for (size_t i = 0; i < sizeof examples / sizeof *examples; i++)
        assert_int_equal(start_of(examples[i].value), examples[i].start);
}

static void test_most_requests_have_none(void **state)
{
    (void)state;
    static const struct bb_field field = {
        .name = "X-Request-Stare", .name_len = 15, .value = "1", .value_len = 1};
    static const struct bb_head head = {.fields = &field, .field_count = 1}, none;
    assert_int_equal(bb__log_request_start(&head), 0);
    assert_int_equal(bb__log_request_start(&none), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_knows_the_notations),
        cmocka_unit_test(test_most_requests_have_none),
    };
    return cmocka_run_group_tests_name("log_start", tests, NULL, NULL);
}
