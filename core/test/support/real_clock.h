/* real_clock.h: the kernel's clock, for tests that wrap the core's clock. */
#ifndef BB_TEST_REAL_CLOCK_H
#define BB_TEST_REAL_CLOCK_H

#include <stdint.h>
#include <time.h>

static inline uint64_t real_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

#endif
