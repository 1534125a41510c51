/* buf_pool.h: the pool of read buffers that a lane or the I/O thread lends to connections. A connection
 * borrows a buffer while it holds bytes; an idle connection has no buffer. The buffer that was given back
 * last is lent first, because it may still be in the CPU cache. A pool is not shared between threads. */
#ifndef BB_BUF_POOL_H
#define BB_BUF_POOL_H

#include "base/buf.h"

#define BB_BUF_POOL_SIZE (16 * 1024)
#define BB_BUF_POOL_KEPT 16

struct bb__buf_pool {
    char *free[BB_BUF_POOL_KEPT];
    int count;
};

/* Gives an empty buffer a block of BB_BUF_POOL_SIZE bytes. Returns BB_OK or BB_ENOMEM. */
int bb__buf_pool_get(struct bb__buf_pool *buf_pool, struct bb__buf *buf);

/* Takes the buffer's memory back. Memory that has grown beyond a block is freed. */
void bb__buf_pool_put(struct bb__buf_pool *buf_pool, struct bb__buf *buf);

void bb__buf_pool_free(struct bb__buf_pool *buf_pool);

#endif
