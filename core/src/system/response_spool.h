/* response_spool.h: what a client does not take and memory is not meant for: behind the bytes that a
 * connection holds for it, in a file without a name, as far as the spool's budget and the disk have room.
 * What is more waits here in memory, and whoever produces it is to wait as well. Knows no socket and no HTTP.
 *
 *     the connection's bytes      the file                       tail
 *     |  as large as it likes  |  read  |  not yet  |  written   there was no room for it  |
 */
#ifndef BB_RESPONSE_SPOOL_H
#define BB_RESPONSE_SPOOL_H

#include "base/buf.h"
#include "system/spool.h"

struct bb__response_spool {
    struct bb__spool_budget *budget; /* NULL: it has never held anything */
    int fd;                          /* the file, while it holds something; else -1 */
    uint64_t written, read;          /* of the file */
    uint64_t given_back;             /* the front of the file, which takes no room any more */
    struct bb__buf tail;
};

/* So much at a time is read back. */
#define BB_RESPONSE_SPOOL_WINDOW (64 * 1024)

void bb__response_spool_start(struct bb__response_spool *response_spool);

static inline uint64_t bb__response_spool_len(const struct bb__response_spool *response_spool)
{
    return response_spool->written - response_spool->read + bb__buf_len(&response_spool->tail);
}

/* There is no room: nothing should be added now. */
static inline bool bb__response_spool_is_full(const struct bb__response_spool *response_spool)
{
    return bb__buf_len(&response_spool->tail) > 0;
}

/* Appends, full or not; budget is that of the process. BB_OK or BB_ENOMEM: then bytes are missing. */
int bb__response_spool_append(struct bb__response_spool *response_spool, struct bb__spool_budget *budget,
                              const char *bytes, size_t len);

/* Looks whether there is room now. False: it is as full as before. */
bool bb__response_spool_try_again(struct bb__response_spool *response_spool);

/* Puts the first of what it holds, which is something, in place of the buffer's bytes, all of which are
 * consumed. The bytes of a file that were read before take no room any more, as soon as they are a mebibyte.
 * BB_OK; BB_ENOMEM, or BB_ESYSTEM when the file does not hold what was written to it: it stays as it is.
 */
int bb__response_spool_take(struct bb__response_spool *response_spool, struct bb__buf *to);

/* Forgets the bytes of the buffer, if they are still in the file: they are read again. */
void bb__response_spool_put_back(struct bb__response_spool *response_spool, struct bb__buf *from);

/* Gives memory, file and budget back. */
void bb__response_spool_drop(struct bb__response_spool *response_spool);

#endif
