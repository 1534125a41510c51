/* response_spool.c: see response_spool.h. */
#include "system/response_spool.h"
#include "bontebok.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

/* Bytes. give_back_front() frees the front of the file in steps of this size. */
#define STEP (1024 * 1024)

void bb__response_spool_start(struct bb__response_spool *response_spool)
{
    *response_spool = (struct bb__response_spool){.fd = -1};
}

/* ---- the file ---- */

/* Returns -1 also if only the last descriptors (from budget->reserve on) are free. A response must not use
 * them, because a response can wait. */
static int open_file(const struct bb__spool_budget *budget)
{
    int fd = bb__spool_open_file(budget);
    if (fd < 0 || budget->reserve == 0 || fd < budget->reserve) return fd;
    (void)close(fd);
    return -1;
}

static void close_file(struct bb__response_spool *response_spool)
{
    if (response_spool->fd < 0) return;
    (void)close(response_spool->fd);
    bb__spool_release(response_spool->budget, response_spool->written - response_spool->given_back);
    response_spool->fd = -1;
    response_spool->written = response_spool->read = response_spool->given_back = 0;
    response_spool->lent = 0;
}

/* Responses may use three quarters of the budget. The rest is for request bodies, which cannot wait. So
 * clients that read slowly cannot block uploads. */
static uint64_t share_of(const struct bb__spool_budget *budget)
{
    return budget->max - budget->max / 4;
}

/* Returns how many of the bytes were written to the file. */
static size_t put_in_file(struct bb__response_spool *response_spool, const char *bytes, size_t len)
{
    size_t done = 0;
    if (!bb__spool_claim(response_spool->budget, len, share_of(response_spool->budget))) return 0;
    if (response_spool->fd < 0) response_spool->fd = open_file(response_spool->budget);
    if (response_spool->fd >= 0) (void)bb__spool_write(response_spool->fd, bytes, len, &done);
    response_spool->written += done;
    bb__spool_release(response_spool->budget, len - done);
    if (response_spool->written == 0) close_file(response_spool);
    return done;
}

/* Frees the disk space of bytes that were read back, if the file system can punch holes into files. Without
 * this step, the file of a response that lasts for days would only grow. */
static void give_back_front(struct bb__response_spool *response_spool)
{
#ifdef BB_PORTABLE
    (void)response_spool;
#else
    uint64_t len = (response_spool->read - response_spool->given_back) / STEP * STEP;
    if (len == 0 || fallocate(response_spool->fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
                              (off_t)response_spool->given_back, (off_t)len) != 0)
        return;
    bb__spool_release(response_spool->budget, len);
    response_spool->given_back += len;
#endif
}

static int take_from_file(struct bb__response_spool *response_spool, struct bb__buf *to)
{
    uint64_t left = response_spool->written - response_spool->read;
    size_t len = left < BB_RESPONSE_SPOOL_WINDOW ? (size_t)left : BB_RESPONSE_SPOOL_WINDOW;
    give_back_front(response_spool);
    if (to->cap > BB_RESPONSE_SPOOL_WINDOW) bb__buf_free(to);
    if (bb__buf_reserve(to, len) != BB_OK) return BB_ENOMEM;
    ssize_t got;
    do got = pread(response_spool->fd, to->data + to->end, len, (off_t)response_spool->read);
    while (got < 0 && errno == EINTR);
    if (got <= 0) return BB_ESYSTEM;
    to->end += (size_t)got;
    response_spool->read += (size_t)got;
    response_spool->lent = (size_t)got;
    return BB_OK;
}

/* ---- file and tail ---- */

int bb__response_spool_append(struct bb__response_spool *response_spool, struct bb__spool_budget *budget,
                              const char *bytes, size_t len)
{
    size_t done = 0;
    response_spool->budget = budget;
    if (!bb__response_spool_is_full(response_spool)) done = put_in_file(response_spool, bytes, len);
    return bb__buf_append(&response_spool->tail, bytes + done, len - done);
}

bool bb__response_spool_try_again(struct bb__response_spool *response_spool)
{
    size_t len = bb__buf_len(&response_spool->tail);
    if (len == 0) return true;
    size_t done = put_in_file(response_spool, bb__buf_bytes(&response_spool->tail), len);
    bb__buf_consume(&response_spool->tail, done);
    if (done == len) bb__buf_free(&response_spool->tail);
    return done == len;
}

int bb__response_spool_take(struct bb__response_spool *response_spool, struct bb__buf *to)
{
    if (response_spool->read < response_spool->written) return take_from_file(response_spool, to);
    close_file(response_spool);
    bb__buf_free(to);
    *to = response_spool->tail;
    response_spool->tail = (struct bb__buf){0};
    return BB_OK;
}

void bb__response_spool_consume(struct bb__response_spool *response_spool, struct bb__buf *from, size_t len)
{
    response_spool->lent -= len < response_spool->lent ? len : response_spool->lent;
    bb__buf_consume(from, len);
}

void bb__response_spool_put_back(struct bb__response_spool *response_spool, struct bb__buf *from)
{
    if (response_spool->lent == 0 || bb__buf_len(from) > response_spool->lent) return;
    response_spool->read -= response_spool->lent;
    response_spool->lent = 0;
    bb__buf_free(from);
}

void bb__response_spool_drop(struct bb__response_spool *response_spool)
{
    close_file(response_spool);
    bb__buf_free(&response_spool->tail);
}
