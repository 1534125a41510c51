/* later_clock.h: the test can move the core's clocks ahead by `later`. A thread that waits sees a jump of
 * time, as if the process had been frozen (SIGSTOP). The test can also stop the clocks. Then an action takes
 * no time, even if its thread waits long for a processor. A test that includes this header is linked with
 * --wrap (see the Makefile). Tests may have threads. */
#ifndef BB_TEST_LATER_CLOCK_H
#define BB_TEST_LATER_CLOCK_H

#include <stdatomic.h>
#include <stdint.h>

uint64_t __real_bb__clock_ms(void);
uint64_t __real_bb__clock_us(void);
uint64_t __wrap_bb__clock_ms(void);
uint64_t __wrap_bb__clock_us(void);

#define CLOCK_TICK                                                                                           \
    4000 /* us; the clock of milliseconds is late by this much, like the kernel's coarse clock */

static atomic_uint_fast64_t later; /* ms */

/* Twice a time in us, plus 1 while the clocks are stopped. Even: the total time for which the clocks were
 * stopped. Odd: the time at which the clocks are stopped. No value occurs twice. */
static atomic_uint_fast64_t held;

static inline uint64_t held_clock_us(void)
{
    for (;;) {
        uint64_t before = atomic_load(&held);
        if (before % 2) return before / 2;
        uint64_t now = __real_bb__clock_us() - before / 2;
        if (atomic_load(&held) == before) return now;
    }
}

uint64_t __wrap_bb__clock_us(void)
{
    return held_clock_us() + atomic_load(&later) * 1000;
}

uint64_t __wrap_bb__clock_ms(void)
{
    return (__wrap_bb__clock_us() - CLOCK_TICK) / 1000;
}

/* Stops the clocks until the same thread calls let_clocks_go_on(). Only one thread may use these two
 * functions. */
static inline void hold_clocks(void)
{
    atomic_store(&held, held_clock_us() * 2 + 1);
}

static inline void let_clocks_go_on(void)
{
    atomic_store(&held, (__real_bb__clock_us() - atomic_load(&held) / 2) * 2);
}

#endif
