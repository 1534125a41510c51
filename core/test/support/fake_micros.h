/* fake_micros.h: the clock that tells how long requests have waited goes with fake_clock.h's, which the test
 * includes before it. See there. */
#ifndef BB_TEST_FAKE_MICROS_H
#define BB_TEST_FAKE_MICROS_H

#include "fake_clock.h"

uint64_t __wrap_bb__clock_us(void);

static uint64_t fake_micros; /* since the last millisecond */

uint64_t __wrap_bb__clock_us(void)
{
    return fake_clock * 1000 + fake_micros;
}

#endif
