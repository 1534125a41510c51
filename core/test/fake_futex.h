/* fake_futex.h: a wait on a futex that ends in the test, which says when it is over. A test that includes it
 * is linked with --wrap (see the Makefile). For tests without threads.
 *
 *     if (setjmp(fake_futex.waits) == 0)
 *         operation();     it did not wait
 *     else
 *         ...              it would wait now
 */
#ifndef BB_TEST_FAKE_FUTEX_H
#define BB_TEST_FAKE_FUTEX_H

#include <linux/futex.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <sys/syscall.h>

long __wrap_syscall(long number, ...);

static struct {
    jmp_buf waits;
    bool woke; /* one who waits was told to go on */
} fake_futex;

long __wrap_syscall(long number, ...)
{
    va_list rest;
    va_start(rest, number);
    atomic_uint *word = va_arg(rest, atomic_uint *);
    int operation = va_arg(rest, int);
    unsigned expected = va_arg(rest, unsigned);
    va_end(rest);
    assert_int_equal(number, SYS_futex);
    if (operation == FUTEX_WAKE_PRIVATE) {
        fake_futex.woke = true;
        return 1;
    }
    assert_int_equal(operation, FUTEX_WAIT_PRIVATE);
    if (atomic_load(word) == expected) longjmp(fake_futex.waits, 1);
    return -1;
}

#endif
