/* fail_alloc.h: makes a chosen allocation of the code under test fail. The Makefile links a test that
 * includes this header with --wrap. Allocations of the core and of the test itself count, those of libraries
 * do not. Not for tests with threads.
 *
 * Each allocation of an operation fails, one after the other:
 *
 *   for (unsigned n = 1; fail_alloc_at(n), code = operation(), fail_alloc_off(); ++n)
 *       assert_int_equal(code, BB_ENOMEM);
 *   assert_int_equal(code, BB_OK); */
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
    unsigned until_failure; /* allocations until one fails, that one included; 0: none fails */
    bool failed;
    unsigned count; /* allocations so far */
} fail_alloc;

/* The nth allocation from now on fails, and only that one. 1 is the next one. */
static inline void fail_alloc_at(unsigned n)
{
    fail_alloc.until_failure = n;
    fail_alloc.failed = false;
}

/* No allocation fails any more. True: one has failed since fail_alloc_at(). */
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
