/* buf_pool.c: see buf_pool.h. */
#include "base/buf_pool.h"
#include "bontebok.h"

#include <stdlib.h>

int bb__buf_pool_get(struct bb__buf_pool *buf_pool, struct bb__buf *buf)
{
    char *block = buf_pool->count > 0 ? buf_pool->free[--buf_pool->count] : malloc(BB_BUF_POOL_SIZE);
    if (!block) return BB_ENOMEM;
    *buf = (struct bb__buf){.data = block, .cap = BB_BUF_POOL_SIZE};
    return BB_OK;
}

void bb__buf_pool_put(struct bb__buf_pool *buf_pool, struct bb__buf *buf)
{
    if (buf->cap == BB_BUF_POOL_SIZE && buf_pool->count < BB_BUF_POOL_KEPT) {
        buf_pool->free[buf_pool->count++] = buf->data;
        *buf = (struct bb__buf){0};
    } else {
        bb__buf_free(buf);
    }
}

void bb__buf_pool_free(struct bb__buf_pool *buf_pool)
{
    while (buf_pool->count > 0) free(buf_pool->free[--buf_pool->count]);
}
