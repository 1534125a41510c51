/* response_spool.h: the part of a response that the client has not taken and that memory has no room for. It
 * follows the bytes in the connection's own buffer. It is in an unlinked file as far as the spool's budget
 * and the disk have room. The rest stays in memory as the tail. While there is a tail, the producer should
 * wait. Used by conn and reply.c. Knows no socket and no HTTP.
 *
 *     connection's buffer    file                             tail
 *     |  any size         |  |  read  |  not read yet  |  |  no room in the file  |
 */
#ifndef BB_RESPONSE_SPOOL_H
#define BB_RESPONSE_SPOOL_H

#include "base/buf.h"
#include "system/spool.h"

struct bb__response_spool {
    struct bb__spool_budget *budget; /* NULL: it has never held any bytes */
    int fd;                          /* the file, while it holds bytes; else -1 */
    uint64_t written, read;          /* bytes written to the file and read from it */
    uint64_t given_back;             /* bytes at the front of the file that take no space any more */
    struct bb__buf tail;
};

/* How many bytes are read back at a time. */
#define BB_RESPONSE_SPOOL_WINDOW (64 * 1024)

void bb__response_spool_start(struct bb__response_spool *response_spool);

static inline uint64_t bb__response_spool_len(const struct bb__response_spool *response_spool)
{
    return response_spool->written - response_spool->read + bb__buf_len(&response_spool->tail);
}

/* True: some bytes have no room in the file, and nothing should be added now. */
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

/* Moves the next bytes to the buffer. All bytes of the buffer must be consumed, and the spool must not be
 * empty. Also frees the space of file bytes that were read before, in steps of 1 MiB. BB_OK; BB_ENOMEM;
 * BB_ESYSTEM if the file has lost bytes that were written to it. After an error nothing has changed. */
int bb__response_spool_take(struct bb__response_spool *response_spool, struct bb__buf *to);

/* Drops the buffer's bytes if the file still has them. They will be read again. */
void bb__response_spool_put_back(struct bb__response_spool *response_spool, struct bb__buf *from);

/* Gives memory, file and budget back. */
void bb__response_spool_drop(struct bb__response_spool *response_spool);

#endif
