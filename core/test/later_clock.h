/* later_clock.h: the core's clocks, which the test may put ahead: for whoever waits meanwhile it is as if the
 * process had been stopped. A test that includes it is linked with --wrap (see the Makefile); it may have
 * threads. */
#ifndef BB_TEST_LATER_CLOCK_H
#define BB_TEST_LATER_CLOCK_H

#include <stdatomic.h>
#include <stdint.h>

uint64_t __real_bb__clock_ms(void);
uint64_t __real_bb__clock_us(void);
uint64_t __wrap_bb__clock_ms(void);
uint64_t __wrap_bb__clock_us(void);

static atomic_uint_fast64_t later; /* ms */

uint64_t __wrap_bb__clock_ms(void)
{
    return __real_bb__clock_ms() + atomic_load(&later);
}

uint64_t __wrap_bb__clock_us(void)
{
    return __real_bb__clock_us() + atomic_load(&later) * 1000;
}

#endif
