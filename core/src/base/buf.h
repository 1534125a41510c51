/* buf.h: a growable byte buffer with a read end and a write end. All layers use it for bytes that wait:
 * incomplete requests, response heads under construction, response bytes that the client has not taken.
 * Not for bodies beyond the spool's threshold. */
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

/* Makes room for `more` bytes at the end: moves the bytes to the front, or grows to at least twice the
 * size. Returns BB_OK or BB_ENOMEM (the buffer is unchanged). */
int bb__buf_reserve(struct bb__buf *buf, size_t more);

/* Appends a copy of the bytes. Returns BB_OK or BB_ENOMEM (nothing is appended). */
int bb__buf_append(struct bb__buf *buf, const void *bytes, size_t len);

/* Copies the bytes to `to`, which lies in reserved room. Returns the place after them. */
static inline char *bb__put(char *to, const void *bytes, size_t len)
{
    return (char *)memcpy(to, bytes, len) + len;
}

#define BB_PUT_LITERAL(to, literal) bb__put((to), (literal), sizeof(literal) - 1)

/* Takes len bytes away from the front. An empty buffer starts again at its front. */
void bb__buf_consume(struct bb__buf *buf, size_t len);

/* Drops the bytes, keeps the memory. */
static inline void bb__buf_clear(struct bb__buf *buf)
{
    buf->start = buf->end = 0;
}

void bb__buf_free(struct bb__buf *buf);

#endif
