/* spool.c: see spool.h. */
#include "system/spool.h"
#include "bontebok.h"
#include "sockets/descriptor.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

void bb__spool_start(struct bb__spool *spool)
{
    *spool = (struct bb__spool){.fd = -1};
}

bool bb__spool_would_fit(struct bb__spool_budget *budget, uint64_t more)
{
    uint64_t used = atomic_load_explicit(&budget->used, memory_order_relaxed);
    return budget->max == 0 || (used <= budget->max && more <= budget->max - used);
}

/* Claims first and checks afterwards, so that two threads cannot both take the last bytes. */
bool bb__spool_claim(struct bb__spool_budget *budget, uint64_t len, uint64_t most)
{
    uint64_t before = atomic_fetch_add_explicit(&budget->used, len, memory_order_relaxed);
    if (most == 0 || before + len <= most) return true;
    bb__spool_release(budget, len);
    return false;
}

void bb__spool_release(struct bb__spool_budget *budget, uint64_t len)
{
    atomic_fetch_sub_explicit(&budget->used, len, memory_order_relaxed);
}

int bb__spool_open_file(const struct bb__spool_budget *budget)
{
#if defined O_TMPFILE && !defined BB_PORTABLE
    int fd = open(budget->directory, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    if (fd >= 0 || (errno != EOPNOTSUPP && errno != EISDIR && errno != ENOENT)) return fd;
#endif
    /* Some file systems (NFS, older overlays) and kernels lack O_TMPFILE. */
    char path[PATH_MAX];
    int len = snprintf(path, sizeof path, "%s/bontebok-spool-XXXXXX", budget->directory);
    if (len < 0 || (size_t)len >= sizeof path) {
        errno = ENAMETOOLONG;
        return -1;
    }
#ifdef BB_PORTABLE
    int named = bb__descriptor_prepare_or_close(mkstemp(path));
#else
    int named = mkostemp(path, O_CLOEXEC);
#endif
    if (named >= 0) (void)unlink(path);
    return named;
}

static bool disk_is_full(int error)
{
    return error == ENOSPC || error == EDQUOT || error == EFBIG || error == EIO;
}

int bb__spool_write(int fd, const char *bytes, size_t len, size_t *done)
{
    for (*done = 0; *done < len;) {
        ssize_t count = write(fd, bytes + *done, len - *done);
        if (count < 0 && errno == EINTR) continue;
        if (count < 0) return disk_is_full(errno) ? BB_EDISK : BB_ESYSTEM;
        *done += (size_t)count;
    }
    return BB_OK;
}

static int move_to_file(struct bb__spool *spool, struct bb__spool_budget *budget)
{
    size_t done;
    spool->fd = bb__spool_open_file(budget);
    if (spool->fd < 0) return disk_is_full(errno) ? BB_EDISK : BB_ESYSTEM;
    int code = bb__spool_write(spool->fd, bb__buf_bytes(&spool->memory), bb__buf_len(&spool->memory), &done);
    bb__buf_free(&spool->memory);
    return code;
}

int bb__spool_append(struct bb__spool *spool, struct bb__spool_budget *budget, const char *bytes, size_t len)
{
    size_t done;
    if (!bb__spool_claim(budget, len, budget->max)) return BB_ENOSPACE;
    spool->length += len;
    if (spool->fd < 0 && spool->length <= budget->threshold)
        return bb__buf_append(&spool->memory, bytes, len);
    if (spool->fd < 0) {
        int code = move_to_file(spool, budget);
        if (code != BB_OK) return code;
    }
    return bb__spool_write(spool->fd, bytes, len, &done);
}

void bb__spool_adopt(struct bb__spool *spool, struct bb__spool_budget *budget, int fd, uint64_t length)
{
    atomic_fetch_add_explicit(&budget->used, length, memory_order_relaxed);
    *spool = (struct bb__spool){.fd = fd, .length = length};
}

void bb__spool_drop(struct bb__spool *spool, struct bb__spool_budget *budget)
{
    bb__buf_free(&spool->memory);
    if (spool->fd >= 0) (void)close(spool->fd);
    if (spool->length > 0) bb__spool_release(budget, spool->length);
    bb__spool_start(spool);
}
