/* buf.c: see buf.h. */
#include "base/buf.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "bontebok.h"

/* Bytes of the first allocation. The head of a small response fits. */
#define SMALLEST 512

/* Returns the new capacity: at least twice the old one. Appending n bytes one by one then copies O(n) bytes.
 * Returns 0 if the capacity would not fit into a size_t. */
static size_t grown_cap(const struct bb__buf *buf, size_t more)
{
    size_t len = bb__buf_len(buf);
    if (more > SIZE_MAX - len) return 0;
    size_t cap = buf->cap > SIZE_MAX / 2 ? SIZE_MAX : buf->cap * 2;
    if (cap < SMALLEST) cap = SMALLEST;
    return cap < len + more ? len + more : cap;
}

int bb__buf_reserve(struct bb__buf *buf, size_t more)
{
    if (bb__buf_room(buf) >= more) return BB_OK;

    size_t len = bb__buf_len(buf);
    /* Moves the bytes only if at least as many bytes were consumed as are left. Otherwise a full buffer that
     * is read and filled in small steps would be moved at each step. */
    if (buf->start >= len && buf->cap - len >= more) {
        memmove(buf->data, bb__buf_bytes(buf), len);
        buf->start = 0;
        buf->end = len;
        return BB_OK;
    }

    size_t cap = grown_cap(buf, more);
    char *data = cap > 0 ? malloc(cap) : NULL; /* not realloc(): it would also copy the consumed bytes */
    if (data == NULL) return BB_ENOMEM;
    if (len > 0) memcpy(data, bb__buf_bytes(buf), len);
    free(buf->data);
    *buf = (struct bb__buf){.data = data, .end = len, .cap = cap};
    return BB_OK;
}

int bb__buf_append(struct bb__buf *buf, const void *bytes, size_t len)
{
    if (len == 0) return BB_OK;
    int code = bb__buf_reserve(buf, len);
    if (code != BB_OK) return code;
    memcpy(buf->data + buf->end, bytes, len);
    buf->end += len;
    return BB_OK;
}

void bb__buf_consume(struct bb__buf *buf, size_t len)
{
    buf->start += len;
    if (buf->start == buf->end) bb__buf_clear(buf);
}

void bb__buf_free(struct bb__buf *buf)
{
    free(buf->data);
    *buf = (struct bb__buf){0};
}
