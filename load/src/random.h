/* random.h: repeatable random numbers. The seed and the place determine a number, on any machine and with any
 * number of threads. Not for secrets. */
#ifndef RANDOM_H
#define RANDOM_H

#include <stdint.h>

/* The number at this place of the seed's sequence, evenly distributed over (0, 1]. */
double random_at(uint64_t seed, uint64_t place);

#endif
