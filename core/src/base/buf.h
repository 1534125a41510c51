/* buf.h: a growable byte buffer. Bytes are added at the end and consumed at the front. All layers use it for
 * incomplete requests, response heads under construction, and response bytes that the client has not taken.
 * Not for bodies above spool_threshold, which go to files. */
#ifndef BB_BUF_H
#define BB_BUF_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

/*   data        start        end        cap
 *    |  consumed  |   bytes   |   room   |      */
struct bb__buf {
    char *data;
    size_t start, end, cap;
};

static inline size_t bb__buf_len(const struct bb__buf *buf)
{
    return buf->end - buf->start;
}

static inline char *bb__buf_bytes(const struct bb__buf *buf)
{
    return buf->data + buf->start;
}

static inline size_t bb__buf_room(const struct bb__buf *buf)
{
    return buf->cap - buf->end;
}

/* Makes room for `more` bytes at the end: moves the bytes to the front, or at least doubles the capacity.
 * Returns BB_OK or BB_ENOMEM (the buffer is unchanged). */
int bb__buf_reserve(struct bb__buf *buf, size_t more);

/* Appends a copy of the bytes. Returns BB_OK or BB_ENOMEM (nothing is appended). */
int bb__buf_append(struct bb__buf *buf, const void *bytes, size_t len);

/* Copies the bytes to `to`, which has room for them. Returns the address after the copied bytes. */
static inline char *bb__put(char *to, const void *bytes, size_t len)
{
    return (char *)memcpy(to, bytes, len) + len;
}

#define BB_PUT_LITERAL(to, literal) bb__put((to), (literal), sizeof(literal) - 1)

/* Removes len bytes from the front. If no bytes are left, `start` and `end` become 0. */
void bb__buf_consume(struct bb__buf *buf, size_t len);

/* Drops the bytes, but keeps the memory. */
static inline void bb__buf_clear(struct bb__buf *buf)
{
    buf->start = buf->end = 0;
}

void bb__buf_free(struct bb__buf *buf);

#endif
