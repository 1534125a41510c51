/* buf_test.c: the growable buffer of bytes, with and without enough memory. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/buf.h"
#include "bontebok.h"
#include "support/fail_alloc.h"

static void assert_holds(const struct bb__buf *buf, const char *bytes, size_t len)
{
    assert_int_equal(bb__buf_len(buf), len);
    if (len > 0) assert_memory_equal(bb__buf_bytes(buf), bytes, len);
}

static void test_an_empty_buffer_has_no_memory(void **state)
{
    (void)state;
    struct bb__buf buf = {0};
    assert_int_equal(bb__buf_reserve(&buf, 0), BB_OK);
    assert_int_equal(bb__buf_append(&buf, NULL, 0), BB_OK);
    assert_null(buf.data);
    bb__buf_clear(&buf);
    bb__buf_free(&buf);
    assert_null(buf.data);
}

static void test_a_buffer_keeps_its_bytes_in_order(void **state)
{
    (void)state;
    struct bb__buf buf = {0};
    assert_int_equal(bb__buf_append(&buf, "abcdef", 6), BB_OK);
    bb__buf_consume(&buf, 2);
    assert_int_equal(bb__buf_append(&buf, "gh", 2), BB_OK);
    assert_holds(&buf, "cdefgh", 6);
    bb__buf_free(&buf);
    assert_int_equal(bb__buf_len(&buf), 0);
    assert_int_equal(buf.cap, 0);
}

static void test_an_emptied_buffer_uses_its_memory_from_the_start(void **state)
{
    (void)state;
    struct bb__buf buf = {0};
    assert_int_equal(bb__buf_append(&buf, "abc", 3), BB_OK);
    size_t cap = buf.cap;
    bb__buf_consume(&buf, 3);
    assert_int_equal(buf.start, 0);
    assert_int_equal(bb__buf_room(&buf), cap);
    bb__buf_free(&buf);
}

static void test_reserve_moves_bytes_before_it_allocates(void **state)
{
    (void)state;
    struct bb__buf buf = {0};
    assert_int_equal(bb__buf_reserve(&buf, 1000), BB_OK);
    size_t cap = buf.cap;
    memset(buf.data, 'x', cap);
    buf.end = cap;
    memcpy(buf.data + cap - 4, "last", 4);
    bb__buf_consume(&buf, cap - 4);
    assert_int_equal(bb__buf_reserve(&buf, cap - 4), BB_OK);
    assert_int_equal(buf.cap, cap);
    assert_holds(&buf, "last", 4);

    bb__buf_consume(&buf, 3);
    assert_int_equal(bb__buf_reserve(&buf, cap), BB_OK); /* one byte more than fits */
    assert_true(bb__buf_room(&buf) >= cap);
    assert_holds(&buf, "t", 1);
    bb__buf_free(&buf);
}

/* Appends a million bytes one by one. Then consumes one byte and appends one byte, a million times. The
 * buffer is nearly full all the time. Each loop must take linear time. */
static void test_append_and_consume_take_linear_time(void **state)
{
    (void)state;
    struct bb__buf buf = {0};
    unsigned before = fail_alloc.count;
    for (unsigned i = 0; i < 1000000; ++i) assert_int_equal(bb__buf_append(&buf, "x", 1), BB_OK);
    assert_in_range(fail_alloc.count - before, 1, 20);

    unsigned long moved = 0;
    for (unsigned i = 0; i < 1000000; ++i) {
        size_t start = buf.start, len = bb__buf_len(&buf);
        bb__buf_consume(&buf, 1);
        assert_int_equal(bb__buf_append(&buf, "y", 1), BB_OK);
        if (buf.start < start) moved += len;
    }
    assert_in_range(moved, 0, 3000000);
    assert_in_range(buf.cap, 1000000, 4000000);
    bb__buf_free(&buf);
}

static void test_a_buffer_agrees_with_a_plain_array(void **state)
{
    (void)state;
    static char model[1 << 20];
    size_t first = 0, last = 0;
    struct bb__buf buf = {0};
    uint32_t random = 1;
    while (last + 400 < sizeof model) {
        random = random * 1664525 + 1013904223;
        size_t len = random >> 8 & 255;
        if (random >> 31) {
            for (size_t i = 0; i < len; ++i) model[last + i] = (char)(random + i);
            assert_int_equal(bb__buf_append(&buf, model + last, len), BB_OK);
            last += len;
        } else {
            size_t held = last - first;
            bb__buf_consume(&buf, len < held ? len : held);
            first += len < held ? len : held;
        }
        assert_holds(&buf, model + first, last - first);
    }
    bb__buf_free(&buf);
}

static void test_a_failed_append_leaves_the_buffer_unchanged(void **state)
{
    (void)state;
    struct bb__buf buf = {0};
    int code;
    for (unsigned n = 1; fail_alloc_at(n), code = bb__buf_append(&buf, "abc", 3), fail_alloc_off(); ++n) {
        assert_int_equal(code, BB_ENOMEM);
        assert_int_equal(bb__buf_len(&buf), 0);
    }
    assert_int_equal(code, BB_OK);
    bb__buf_consume(&buf, 1);

    struct bb__buf before = buf;
    char *large = calloc(1, 100000);
    fail_alloc_at(1);
    assert_int_equal(bb__buf_append(&buf, large, 100000), BB_ENOMEM);
    assert_true(fail_alloc_off());
    assert_memory_equal(&buf, &before, sizeof buf);
    assert_holds(&buf, "bc", 2);
    free(large);
    bb__buf_free(&buf);
}

static void test_reserve_rejects_sizes_that_overflow(void **state)
{
    (void)state;
    struct bb__buf buf = {0};
    assert_int_equal(bb__buf_append(&buf, "abc", 3), BB_OK);
    assert_int_equal(bb__buf_reserve(&buf, SIZE_MAX), BB_ENOMEM);
    assert_int_equal(bb__buf_reserve(&buf, SIZE_MAX - 2), BB_ENOMEM);
    assert_holds(&buf, "abc", 3);
    bb__buf_free(&buf);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_an_empty_buffer_has_no_memory),
        cmocka_unit_test(test_a_buffer_keeps_its_bytes_in_order),
        cmocka_unit_test(test_an_emptied_buffer_uses_its_memory_from_the_start),
        cmocka_unit_test(test_reserve_moves_bytes_before_it_allocates),
        cmocka_unit_test(test_append_and_consume_take_linear_time),
        cmocka_unit_test(test_a_buffer_agrees_with_a_plain_array),
        cmocka_unit_test(test_a_failed_append_leaves_the_buffer_unchanged),
        cmocka_unit_test(test_reserve_rejects_sizes_that_overflow),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
