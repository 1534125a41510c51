/* buf_pool.h: a pool of read buffers. Each lane has a pool, and the I/O thread has one. A connection borrows
 * a buffer while the connection holds bytes of a request. The buffer that was returned last is lent first,
 * because it may still be in the CPU cache. */
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

/* Returns the buffer's memory to the pool. Frees the memory if the buffer has grown, or if the pool is
 * full. */
void bb__buf_pool_put(struct bb__buf_pool *buf_pool, struct bb__buf *buf);

void bb__buf_pool_free(struct bb__buf_pool *buf_pool);

#endif
