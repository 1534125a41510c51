/* response_spool.h: unsent response bytes for which the connection's buffer has no room. The bytes are
 * written to an unlinked file while the spool's budget and the disk have room. Otherwise the bytes stay in
 * memory as the tail. While there is a tail, the thread that writes the response should wait. Used by conn
 * and reply.c. Does not use sockets or HTTP.
 *
 *     connection's buffer    file                             tail
 *     |  any size         |  |  read  |  not read yet  |  |  no room in the file  |
 */
#ifndef BB_RESPONSE_SPOOL_H
#define BB_RESPONSE_SPOOL_H

#include "base/buf.h"
#include "system/spool.h"

struct bb__response_spool {
    struct bb__spool_budget *budget; /* NULL: no bytes were ever appended */
    int fd;                          /* the file; -1: there is none */
    uint64_t written, read;          /* bytes written to the file and read from it */
    uint64_t given_back;             /* bytes at the front of the file whose space was freed */
    size_t lent; /* bytes at the front of the connection's buffer that the file still has, before `read` */
    struct bb__buf tail;
};

/* One call reads back at most this many bytes from the file. */
#define BB_RESPONSE_SPOOL_WINDOW (64 * 1024)

void bb__response_spool_start(struct bb__response_spool *response_spool);

static inline uint64_t bb__response_spool_len(const struct bb__response_spool *response_spool)
{
    return response_spool->written - response_spool->read + bb__buf_len(&response_spool->tail);
}

/* True: there is a tail, and the caller should not append more bytes now. */
static inline bool bb__response_spool_is_full(const struct bb__response_spool *response_spool)
{
    return bb__buf_len(&response_spool->tail) > 0;
}

/* Appends the bytes even if the spool is full. budget: the budget of the process. BB_OK; BB_ENOMEM: some
 * bytes are lost. */
int bb__response_spool_append(struct bb__response_spool *response_spool, struct bb__spool_budget *budget,
                              const char *bytes, size_t len);

/* Tries to move the tail into the file. False: there is still a tail. */
bool bb__response_spool_try_again(struct bb__response_spool *response_spool);

/* Moves the next bytes to `to`. All bytes of `to` must be consumed, and the spool must not be empty. Also
 * frees the disk space of bytes that earlier calls have moved, in steps of 1 MiB. BB_OK; BB_ENOMEM;
 * BB_ESYSTEM: the file cannot be read. After an error nothing has changed. */
int bb__response_spool_take(struct bb__response_spool *response_spool, struct bb__buf *to);

/* Removes bytes that were sent from the front of the buffer that bb__response_spool_take() has filled. Every
 * byte of this buffer must be removed by this function. */
void bb__response_spool_consume(struct bb__response_spool *response_spool, struct bb__buf *from, size_t len);

/* Frees the bytes of `from` if the file still has all of them. bb__response_spool_take() reads them again. If
 * others have appended bytes to `from`, nothing changes, because these bytes are in no file. */
void bb__response_spool_put_back(struct bb__response_spool *response_spool, struct bb__buf *from);

/* Frees the memory and the file, and returns the bytes to the budget. */
void bb__response_spool_drop(struct bb__response_spool *response_spool);

#endif
