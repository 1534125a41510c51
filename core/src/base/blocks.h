/* blocks.h: read buffers that a lane lends to the connections which have bytes in hand. An idle connection
 * has none; the last one given back is the next one lent, while it is still in the cache. */
#ifndef BB_BLOCKS_H
#define BB_BLOCKS_H

#include "base/buf.h"

#define BB_BLOCK_SIZE  (16 * 1024)
#define BB_BLOCKS_KEPT 16

struct bb__blocks {
    char *free[BB_BLOCKS_KEPT];
    int count;
};

/* Gives an empty buffer a block. BB_OK or BB_ENOMEM. */
int bb__blocks_lend(struct bb__blocks *blocks, struct bb__buf *buf);

/* Takes the buffer's memory back; one that has grown past a block is freed. */
void bb__blocks_take_back(struct bb__blocks *blocks, struct bb__buf *buf);

void bb__blocks_free(struct bb__blocks *blocks);

#endif
