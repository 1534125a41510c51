/* fake_clock.h: the clock of bb__clock_ms() stands still until the test moves it. So an hour takes no real
 * time, and no timeout ends too early. A test that includes this header is linked with --wrap (see the
 * Makefile). Waits in the kernel still take real time. */
#ifndef BB_TEST_FAKE_CLOCK_H
#define BB_TEST_FAKE_CLOCK_H

#include <stdatomic.h>
#include <stdint.h>

uint64_t __wrap_bb__clock_ms(void);

static atomic_uint_fast64_t fake_clock = 1000000; /* the core's threads read it */

uint64_t __wrap_bb__clock_ms(void)
{
    return fake_clock;
}

static inline void fake_clock_advance(uint64_t milliseconds)
{
    fake_clock += milliseconds;
}

#endif
