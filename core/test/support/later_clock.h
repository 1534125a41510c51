/* later_clock.h: the core's clocks, which the test may put ahead: for whoever waits meanwhile it is as if the
 * process had been stopped. The test may also hold them, while it does what must not take any time: a thread
 * may be long in getting a processor. A test that includes it is linked with --wrap (see the Makefile); it
 * may have threads. */
#ifndef BB_TEST_LATER_CLOCK_H
#define BB_TEST_LATER_CLOCK_H

#include <stdatomic.h>
#include <stdint.h>

uint64_t __real_bb__clock_ms(void);
uint64_t __real_bb__clock_us(void);
uint64_t __wrap_bb__clock_ms(void);
uint64_t __wrap_bb__clock_us(void);

#define CLOCK_TICK                                                                                           \
    4000 /* us, for which the clock of milliseconds is behind the other one, as the kernel's is */

static atomic_uint_fast64_t later; /* ms */

/* us, twice: for how long the clocks were held, even; or at which time they are held, odd. No value comes
 * again. */
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

/* For one thread: until it lets them go on. */
static inline void hold_clocks(void)
{
    atomic_store(&held, held_clock_us() * 2 + 1);
}

static inline void let_clocks_go_on(void)
{
    atomic_store(&held, (__real_bb__clock_us() - atomic_load(&held) / 2) * 2);
}

#endif
