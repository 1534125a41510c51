/* fail_alloc.h: lets a chosen allocation of the code under test fail. A test that includes it is linked with
 * --wrap (see the Makefile), so it counts what the core and the test itself allocate, not what libraries do.
 * Not for tests with threads.
 *
 * Every failure of an operation, one after the other:
 *
 *   for (unsigned n = 1; fail_alloc_at(n), code = operation(), fail_alloc_off(); ++n)
 *       assert_int_equal(code, BB_ENOMEM);
 *   assert_int_equal(code, BB_OK);
 */
#ifndef BB_TEST_FAIL_ALLOC_H
#define BB_TEST_FAIL_ALLOC_H

#include <stdbool.h>
#include <stddef.h>

void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *old, size_t size);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *old, size_t size);

static struct {
    unsigned until_failure; /* allocations up to and with the one that fails; 0: none is to fail */
    bool failed;
    unsigned count; /* of all allocations so far */
} fail_alloc;

/* The nth allocation from now on fails, that one alone; 1 is the next. */
static inline void fail_alloc_at(unsigned n)
{
    fail_alloc.until_failure = n;
    fail_alloc.failed = false;
}

/* No more failures. Returns whether there was one. */
static inline bool fail_alloc_off(void)
{
    fail_alloc.until_failure = 0;
    return fail_alloc.failed;
}

static inline bool fail_alloc_is_due(void)
{
    ++fail_alloc.count;
    if (fail_alloc.until_failure == 0 || --fail_alloc.until_failure > 0) return false;
    fail_alloc.failed = true;
    return true;
}

void *__wrap_malloc(size_t size)
{
    return fail_alloc_is_due() ? NULL : __real_malloc(size);
}

void *__wrap_calloc(size_t count, size_t size)
{
    return fail_alloc_is_due() ? NULL : __real_calloc(count, size);
}

void *__wrap_realloc(void *old, size_t size)
{
    return fail_alloc_is_due() ? NULL : __real_realloc(old, size);
}

#endif
