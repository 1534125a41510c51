/* buf_pool_test.c: the pool lends read buffers, gets them back, and keeps a few of them for the next use. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/buf_pool.h"
#include "bontebok.h"
#include "support/fail_alloc.h"

static void test_the_buffer_that_came_back_last_is_lent_next(void **state)
{
    (void)state;
    struct bb__buf_pool buf_pool = {0};
    struct bb__buf first = {0}, second = {0};
    assert_int_equal(bb__buf_pool_get(&buf_pool, &first), BB_OK);
    assert_int_equal(bb__buf_pool_get(&buf_pool, &second), BB_OK);
    assert_int_equal(bb__buf_room(&first), BB_BUF_POOL_SIZE);
    memset(first.data, 'x', BB_BUF_POOL_SIZE);
    first.start = 5, first.end = BB_BUF_POOL_SIZE;

    char *kept = first.data;
    bb__buf_pool_put(&buf_pool, &second);
    bb__buf_pool_put(&buf_pool, &first);
    assert_null(first.data);
    assert_int_equal(bb__buf_pool_get(&buf_pool, &second), BB_OK);
    assert_ptr_equal(second.data, kept);
    assert_int_equal(bb__buf_len(&second), 0);
    assert_int_equal(bb__buf_room(&second), BB_BUF_POOL_SIZE);
    bb__buf_pool_put(&buf_pool, &second);
    bb__buf_pool_free(&buf_pool);
}

static void test_the_pool_frees_a_buffer_that_has_grown(void **state)
{
    (void)state;
    struct bb__buf_pool buf_pool = {0};
    struct bb__buf buf = {0};
    assert_int_equal(bb__buf_pool_get(&buf_pool, &buf), BB_OK);
    buf.end = buf.cap;
    assert_int_equal(bb__buf_reserve(&buf, 1), BB_OK);
    bb__buf_pool_put(&buf_pool, &buf);
    assert_int_equal(buf_pool.count, 0);
    bb__buf_pool_put(&buf_pool, &buf); /* a buffer without memory */
    assert_int_equal(buf_pool.count, 0);
}

static void test_the_pool_keeps_no_more_buffers_than_its_limit(void **state)
{
    (void)state;
    struct bb__buf_pool buf_pool = {0};
    struct bb__buf bufs[BB_BUF_POOL_KEPT + 3] = {0};
    for (int i = 0; i < BB_BUF_POOL_KEPT + 3; i++)
        assert_int_equal(bb__buf_pool_get(&buf_pool, &bufs[i]), BB_OK);
    for (int i = 0; i < BB_BUF_POOL_KEPT + 3; i++) bb__buf_pool_put(&buf_pool, &bufs[i]);
    assert_int_equal(buf_pool.count, BB_BUF_POOL_KEPT);
    bb__buf_pool_free(&buf_pool);
    assert_int_equal(buf_pool.count, 0);
}

static void test_get_fails_if_there_is_no_memory(void **state)
{
    (void)state;
    struct bb__buf_pool buf_pool = {0};
    struct bb__buf buf = {0};
    fail_alloc_at(1);
    assert_int_equal(bb__buf_pool_get(&buf_pool, &buf), BB_ENOMEM);
    assert_true(fail_alloc_off());
    assert_null(buf.data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_buffer_that_came_back_last_is_lent_next),
        cmocka_unit_test(test_the_pool_frees_a_buffer_that_has_grown),
        cmocka_unit_test(test_the_pool_keeps_no_more_buffers_than_its_limit),
        cmocka_unit_test(test_get_fails_if_there_is_no_memory),
    };
    return cmocka_run_group_tests_name("buf_pool", tests, NULL, NULL);
}
