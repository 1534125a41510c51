/* later_clock.h: the core's clocks, which the test can put ahead by `later`: a thread that waits meanwhile
 * sees time pass as if the process had been stopped. The test can also hold the clocks while it does
 * something that must take no time, as a thread may wait long for a processor. The Makefile links a test that
 * includes this header with --wrap. Tests may have threads. */
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

/* Two times us. Even: for how long the clocks were held; odd: the time at which they are held. No value
 * occurs twice. */
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

/* Only one thread may hold the clocks, until it calls let_clocks_go_on(). */
static inline void hold_clocks(void)
{
    atomic_store(&held, held_clock_us() * 2 + 1);
}

static inline void let_clocks_go_on(void)
{
    atomic_store(&held, (__real_bb__clock_us() - atomic_load(&held) / 2) * 2);
}

#endif
