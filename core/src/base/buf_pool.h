/* buf_pool.h: read buffers that a lane lends to the connections which have bytes in hand. An idle connection
 * has none; the last one given back is the next one lent, while it is still in the cache. */
#ifndef BB_BUF_POOL_H
#define BB_BUF_POOL_H

#include "base/buf.h"

#define BB_BUF_POOL_SIZE (16 * 1024)
#define BB_BUF_POOL_KEPT 16

struct bb__buf_pool {
    char *free[BB_BUF_POOL_KEPT];
    int count;
};

/* Gives an empty buffer a block. BB_OK or BB_ENOMEM. */
int bb__buf_pool_get(struct bb__buf_pool *buf_pool, struct bb__buf *buf);

/* Takes the buffer's memory back; one that has grown past a block is freed. */
void bb__buf_pool_put(struct bb__buf_pool *buf_pool, struct bb__buf *buf);

void bb__buf_pool_free(struct bb__buf_pool *buf_pool);

#endif
