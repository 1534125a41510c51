/* spill.c: see spill.h. */
#include "system/spill.h"
#include "bontebok.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

/* The front of a file is given back in steps of so many bytes; of file systems that can do that. */
#define STEP (1024 * 1024)

void bb__spill_start(struct bb__spill *spill)
{
    *spill = (struct bb__spill){.fd = -1};
}

/* ---- the file ---- */

/* An answer can wait: of the last descriptors it takes none. */
static int open_file(const struct bb__spool_budget *budget)
{
    int fd = bb__spool_open_file(budget);
    if (fd < 0 || budget->reserve == 0 || fd < budget->reserve) return fd;
    (void)close(fd);
    return -1;
}

static void close_file(struct bb__spill *spill)
{
    if (spill->fd < 0) return;
    (void)close(spill->fd);
    bb__spool_release(spill->budget, spill->written - spill->given_back);
    spill->fd = -1;
    spill->written = spill->read = spill->given_back = 0;
}

/* Of the budget: an answer can wait, a request body cannot, and slow readers are not to keep uploads out. */
static uint64_t share_of(const struct bb__spool_budget *budget)
{
    return budget->max - budget->max / 4;
}

/* How many of the bytes are in the file now. */
static size_t put_in_file(struct bb__spill *spill, const char *bytes, size_t len)
{
    size_t done = 0;
    if (!bb__spool_claim(spill->budget, len, share_of(spill->budget))) return 0;
    if (spill->fd < 0) spill->fd = open_file(spill->budget);
    if (spill->fd >= 0) (void)bb__spool_write(spill->fd, bytes, len, &done);
    spill->written += done;
    bb__spool_release(spill->budget, len - done);
    if (spill->written == 0) close_file(spill);
    return done;
}

/* An answer may go on for days, a little ahead of its client. */
static void give_back_front(struct bb__spill *spill)
{
#ifdef FALLOC_FL_PUNCH_HOLE
    uint64_t len = (spill->read - spill->given_back) / STEP * STEP;
    if (len == 0 || fallocate(spill->fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, (off_t)spill->given_back,
                              (off_t)len) != 0)
        return;
    bb__spool_release(spill->budget, len);
    spill->given_back += len;
#endif
}

static int take_from_file(struct bb__spill *spill, struct bb__buf *to)
{
    uint64_t left = spill->written - spill->read;
    size_t len = left < BB_SPILL_WINDOW ? (size_t)left : BB_SPILL_WINDOW;
    give_back_front(spill);
    if (to->cap > BB_SPILL_WINDOW) bb__buf_free(to);
    if (bb__buf_reserve(to, len) != BB_OK) return BB_ENOMEM;
    ssize_t got;
    do got = pread(spill->fd, to->data + to->end, len, (off_t)spill->read);
    while (got < 0 && errno == EINTR);
    if (got <= 0) return BB_ESYSTEM;
    to->end += (size_t)got;
    spill->read += (size_t)got;
    return BB_OK;
}

/* ---- all of it ---- */

int bb__spill_append(struct bb__spill *spill, struct bb__spool_budget *budget, const char *bytes, size_t len)
{
    size_t done = 0;
    spill->budget = budget;
    if (!bb__spill_is_full(spill)) done = put_in_file(spill, bytes, len);
    return bb__buf_append(&spill->tail, bytes + done, len - done);
}

bool bb__spill_try_again(struct bb__spill *spill)
{
    size_t len = bb__buf_len(&spill->tail);
    if (len == 0) return true;
    size_t done = put_in_file(spill, bb__buf_bytes(&spill->tail), len);
    bb__buf_consume(&spill->tail, done);
    if (done == len) bb__buf_free(&spill->tail);
    return done == len;
}

int bb__spill_take(struct bb__spill *spill, struct bb__buf *to)
{
    if (spill->read < spill->written) return take_from_file(spill, to);
    close_file(spill);
    bb__buf_free(to);
    *to = spill->tail;
    spill->tail = (struct bb__buf){0};
    return BB_OK;
}

void bb__spill_put_back(struct bb__spill *spill, struct bb__buf *from)
{
    if (spill->fd < 0 || spill->read == 0) return;
    spill->read -= bb__buf_len(from);
    bb__buf_free(from);
}

void bb__spill_drop(struct bb__spill *spill)
{
    close_file(spill);
    bb__buf_free(&spill->tail);
}
