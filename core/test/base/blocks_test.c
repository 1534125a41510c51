/* blocks_test.c: read buffers are lent, come back, and do not pile up. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/blocks.h"
#include "bontebok.h"
#include "support/fail_alloc.h"

static void test_the_last_one_back_is_the_next_one_out(void **state)
{
    (void)state;
    struct bb__blocks blocks = {0};
    struct bb__buf first = {0}, second = {0};
    assert_int_equal(bb__blocks_lend(&blocks, &first), BB_OK);
    assert_int_equal(bb__blocks_lend(&blocks, &second), BB_OK);
    assert_int_equal(bb__buf_room(&first), BB_BLOCK_SIZE);
    memset(first.data, 'x', BB_BLOCK_SIZE);
    first.start = 5, first.end = BB_BLOCK_SIZE;

    char *kept = first.data;
    bb__blocks_take_back(&blocks, &second);
    bb__blocks_take_back(&blocks, &first);
    assert_null(first.data);
    assert_int_equal(bb__blocks_lend(&blocks, &second), BB_OK);
    assert_ptr_equal(second.data, kept);
    assert_int_equal(bb__buf_len(&second), 0);
    assert_int_equal(bb__buf_room(&second), BB_BLOCK_SIZE);
    bb__blocks_take_back(&blocks, &second);
    bb__blocks_free(&blocks);
}

static void test_a_grown_one_is_not_kept(void **state)
{
    (void)state;
    struct bb__blocks blocks = {0};
    struct bb__buf buf = {0};
    assert_int_equal(bb__blocks_lend(&blocks, &buf), BB_OK);
    buf.end = buf.cap;
    assert_int_equal(bb__buf_reserve(&buf, 1), BB_OK);
    bb__blocks_take_back(&blocks, &buf);
    assert_int_equal(blocks.count, 0);
    bb__blocks_take_back(&blocks, &buf); /* one without memory */
    assert_int_equal(blocks.count, 0);
}

static void test_keeps_no_more_than_it_says(void **state)
{
    (void)state;
    struct bb__blocks blocks = {0};
    struct bb__buf bufs[BB_BLOCKS_KEPT + 3] = {0};
    for (int i = 0; i < BB_BLOCKS_KEPT + 3; i++) assert_int_equal(bb__blocks_lend(&blocks, &bufs[i]), BB_OK);
    for (int i = 0; i < BB_BLOCKS_KEPT + 3; i++) bb__blocks_take_back(&blocks, &bufs[i]);
    assert_int_equal(blocks.count, BB_BLOCKS_KEPT);
    bb__blocks_free(&blocks);
    assert_int_equal(blocks.count, 0);
}

static void test_without_memory(void **state)
{
    (void)state;
    struct bb__blocks blocks = {0};
    struct bb__buf buf = {0};
    fail_alloc_at(1);
    assert_int_equal(bb__blocks_lend(&blocks, &buf), BB_ENOMEM);
    assert_true(fail_alloc_off());
    assert_null(buf.data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_last_one_back_is_the_next_one_out),
        cmocka_unit_test(test_a_grown_one_is_not_kept),
        cmocka_unit_test(test_keeps_no_more_than_it_says),
        cmocka_unit_test(test_without_memory),
    };
    return cmocka_run_group_tests_name("blocks", tests, NULL, NULL);
}
