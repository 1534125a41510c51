/* random.c: see random.h. splitmix64, whose state is a sum and so has every place at once; rand() promises
 * neither that nor the same numbers elsewhere. */
#include "random.h"

#define STEP 0x9e3779b97f4a7c15ULL

static uint64_t mix(uint64_t bits)
{
    bits = (bits ^ bits >> 30) * 0xbf58476d1ce4e5b9ULL;
    bits = (bits ^ bits >> 27) * 0x94d049bb133111ebULL;
    return bits ^ bits >> 31;
}

/* The seed is mixed as well: neighbours would have sequences that are one another's, moved. */
double random_at(uint64_t seed, uint64_t place)
{
    uint64_t bits = mix(mix(seed + STEP) + (place + 1) * STEP);
    return (double)((bits >> 11) + 1) / (double)(1ULL << 53);
}
