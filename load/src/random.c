/* random.c: see random.h. The algorithm is splitmix64. Its state is a multiple of STEP, so the number at
 * any place can be computed directly. rand() can only compute one number after the other, and gives other
 * numbers on other systems. */
#include "random.h"

#define STEP 0x9e3779b97f4a7c15ULL

static uint64_t mix(uint64_t bits)
{
    bits = (bits ^ bits >> 30) * 0xbf58476d1ce4e5b9ULL;
    bits = (bits ^ bits >> 27) * 0x94d049bb133111ebULL;
    return bits ^ bits >> 31;
}

/* The seed is mixed first. Otherwise all seeds would have the same sequence, shifted. */
double random_at(uint64_t seed, uint64_t place)
{
    uint64_t bits = mix(mix(seed + STEP) + (place + 1) * STEP);
    return (double)((bits >> 11) + 1) / (double)(1ULL << 53);
}
