/* blocks.c: see blocks.h. */
#include "base/blocks.h"
#include "bontebok.h"

#include <stdlib.h>

int bb__blocks_lend(struct bb__blocks *blocks, struct bb__buf *buf)
{
    char *block = blocks->count > 0 ? blocks->free[--blocks->count] : malloc(BB_BLOCK_SIZE);
    if (!block) return BB_ENOMEM;
    *buf = (struct bb__buf){.data = block, .cap = BB_BLOCK_SIZE};
    return BB_OK;
}

void bb__blocks_take_back(struct bb__blocks *blocks, struct bb__buf *buf)
{
    if (buf->cap == BB_BLOCK_SIZE && blocks->count < BB_BLOCKS_KEPT) {
        blocks->free[blocks->count++] = buf->data;
        *buf = (struct bb__buf){0};
    } else {
        bb__buf_free(buf);
    }
}

void bb__blocks_free(struct bb__blocks *blocks)
{
    while (blocks->count > 0) free(blocks->free[--blocks->count]);
}
