/* fake_micros.h: bb__clock_us(), which measures how long requests have waited, follows fake_clock.h's clock.
 * A test that includes this header is linked with --wrap (see the Makefile). Include fake_clock.h before this
 * header. */
#ifndef BB_TEST_FAKE_MICROS_H
#define BB_TEST_FAKE_MICROS_H

#include "fake_clock.h"

uint64_t __wrap_bb__clock_us(void);

static uint64_t fake_micros;       /* us, on top of fake_clock's ms */
static unsigned fake_micros_reads; /* how often the core has read this clock */

uint64_t __wrap_bb__clock_us(void)
{
    fake_micros_reads++;
    return fake_clock * 1000 + fake_micros;
}

#endif
