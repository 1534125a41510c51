/* clock.h: the only clock of the load tool, in nanoseconds. Latencies, deadlines and due times all use it. */
#ifndef CLOCK_H
#define CLOCK_H

#include <stdint.h>
#include <time.h>

#define NS_PER_US     1000ULL
#define NS_PER_MS     1000000ULL
#define NS_PER_SECOND 1000000000ULL

static inline uint64_t clock_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * NS_PER_SECOND + (uint64_t)now.tv_nsec;
}

#endif
