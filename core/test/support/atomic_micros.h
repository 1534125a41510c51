/* atomic_micros.h: bb__clock_us() stands still until the test moves it. Several threads may read it. A test
 * that includes this header is linked with --wrap (see the Makefile). */
#ifndef BB_TEST_ATOMIC_MICROS_H
#define BB_TEST_ATOMIC_MICROS_H

#include <stdatomic.h>
#include <stdint.h>

uint64_t __wrap_bb__clock_us(void);

static atomic_uint_fast64_t atomic_micros = 1000000000;

uint64_t __wrap_bb__clock_us(void)
{
    return atomic_load(&atomic_micros);
}

#endif
