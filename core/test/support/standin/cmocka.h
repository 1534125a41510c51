/* cmocka.h: the few functions of cmocka that the tests of core/src/http and core/src/representation use.
 * `make test-arm64` builds the tests with a cross compiler, statically, and runs them under qemu. The first
 * failure ends the program. All other builds use the real cmocka. */
#ifndef BB_STANDIN_CMOCKA_H
#define BB_STANDIN_CMOCKA_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct CMUnitTest {
    const char *name;
    void (*test)(void **state);
    int (*setup)(void **state);
};

#define fail_msg(...) (printf("%s:%d: ", __FILE__, __LINE__), printf(__VA_ARGS__), printf("\n"), exit(1))
#define assert_true(condition)                                                                               \
    do {                                                                                                     \
        if (!(condition)) fail_msg("%s", #condition);                                                        \
    } while (0)
#define standin_number(value) ((unsigned long long)(value))

#define assert_false(condition)           assert_true(!(condition))
#define assert_null(pointer)              assert_true((pointer) == NULL)
#define assert_non_null(pointer)          assert_true((pointer) != NULL)
#define assert_ptr_equal(left, right)     assert_true((left) == (right))
#define assert_int_equal(left, right)     assert_true(standin_number(left) == standin_number(right))
#define assert_int_not_equal(left, right) assert_true(standin_number(left) != standin_number(right))
#define assert_in_range(value, least, most)                                                                  \
    assert_true(standin_number(value) - standin_number(least) <= standin_number(most) - standin_number(least))
#define assert_string_equal(left, right)      assert_true(strcmp(left, right) == 0)
#define assert_memory_equal(left, right, len) assert_true(memcmp(left, right, len) == 0)

#define cmocka_unit_test(function)                                                                           \
    {                                                                                                        \
#function, function, NULL                                                                            \
    }
#define cmocka_unit_test_setup(function, prepare)                                                            \
    {                                                                                                        \
#function, function, prepare                                                                         \
    }
#define cmocka_run_group_tests(tests, begin, end)                                                            \
    standin_run(tests, sizeof(tests) / sizeof *(tests), begin, end)

static int standin_run(const struct CMUnitTest *tests, size_t count, int (*begin)(void **),
                       int (*end)(void **))
{
    void *state = NULL;
    if (begin) assert_int_equal(begin(&state), 0);
    for (size_t i = 0; i < count; i++) {
        printf("%s\n", tests[i].name);
        if (tests[i].setup) assert_int_equal(tests[i].setup(&state), 0);
        tests[i].test(&state);
    }
    if (end) assert_int_equal(end(&state), 0);
    printf("%zu tests passed\n", count);
    return 0;
}

#endif
