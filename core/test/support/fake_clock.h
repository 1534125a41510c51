/* fake_clock.h: the clock that deadlines go by stands still until the test moves it, so that an hour takes no
 * time and nothing happens early. A test that includes it is linked with --wrap (see the Makefile). Only for
 * what reads bb__clock_ms(): the kernel waits in its own time. */
#ifndef BB_TEST_FAKE_CLOCK_H
#define BB_TEST_FAKE_CLOCK_H

#include <stdint.h>

uint64_t __wrap_bb__clock_ms(void);

static uint64_t fake_clock = 1000000;

uint64_t __wrap_bb__clock_ms(void)
{
    return fake_clock;
}

static inline void fake_clock_advance(uint64_t milliseconds)
{
    fake_clock += milliseconds;
}

#endif
