/* h1_names.h: the field names a lane has learned, so that a name that came before is known by one comparison and
 * needs no check. Seeded with the common names; bounded, so that invented names cost no memory. Used by the head
 * parser, which works without one too. */
#ifndef BB_H1_NAMES_H
#define BB_H1_NAMES_H

#include <stddef.h>
#include <stdint.h>

struct bb__names;

/* Returns a table seeded with the common names, or NULL (out of memory). Freed with bb__names_free(). */
struct bb__names *bb__names_new(void);
void bb__names_free(struct bb__names *names);

#endif
