/* fail_alloc.h: makes a chosen allocation of the code under test fail. A test that includes this header is
 * linked with --wrap (see the Makefile). Allocations of the core and of the test count, allocations of
 * libraries do not. If several threads allocate, any of them may get the failure.
 *
 * In this loop each allocation of operation() fails once:
 *
 *   for (unsigned n = 1; fail_alloc_at(n), code = operation(), fail_alloc_off(); ++n)
 *       assert_int_equal(code, BB_ENOMEM);
 *   assert_int_equal(code, BB_OK); */
#ifndef BB_TEST_FAIL_ALLOC_H
#define BB_TEST_FAIL_ALLOC_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *old, size_t size);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *old, size_t size);

/* Atomic, because a thread of the core may allocate. A test that counts has no such thread. */
static struct {
    atomic_uint until_failure; /* 1: the next allocation fails; 0: no allocation fails */
    atomic_bool failed;
    atomic_uint count; /* allocations so far */
} fail_alloc;

/* Makes only the nth allocation from now on fail; 1: the next allocation. */
static inline void fail_alloc_at(unsigned n)
{
    fail_alloc.until_failure = n;
    fail_alloc.failed = false;
}

/* After this call no allocation fails. Returns true if one has failed since fail_alloc_at(). */
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
