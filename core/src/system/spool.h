/* spool.h: where a request body waits until it is complete: in memory up to a threshold, then in an unlinked
 * file. One budget for all spools of a process bounds what clients can make it hold; response_spool.h shares
 * it, for what they do not take. Knows no HTTP. */
#ifndef BB_SPOOL_H
#define BB_SPOOL_H

#include "base/buf.h"

#include <stdatomic.h>
#include <stdint.h>

/* Shared by the lanes of a worker. */
struct bb__spool_budget {
    atomic_uint_fast64_t used;
    uint64_t max;       /* bytes; 0: no limit */
    uint64_t threshold; /* a body that is longer goes to a file */
    const char *directory;
    int reserve;                 /* descriptors from this one on are for files that cannot wait; 0: none */
    atomic_uint_fast64_t unsent; /* bytes of responses in memory */
    uint64_t unsent_max;         /* a longer response goes to a file at once */
};

static inline bool bb__spool_memory_is_full(struct bb__spool_budget *budget)
{
    return atomic_load_explicit(&budget->unsent, memory_order_relaxed) >= budget->unsent_max;
}

struct bb__spool {
    struct bb__buf memory;
    int fd; /* the file, once there is one; else -1 */
    uint64_t length;
};

void bb__spool_start(struct bb__spool *spool);

/* True when `more` bytes fit the budget as it is now; nothing is reserved. */
bool bb__spool_would_fit(struct bb__spool_budget *budget, uint64_t more);

/* Appends. BB_OK; BB_ENOSPACE: over the budget, or the disk is full (errno ENOSPC, EDQUOT, EFBIG, EIO; 0 for
 * the budget); BB_ESYSTEM: no file could be made; BB_ENOMEM. After an error the spool can only be dropped. */
int bb__spool_append(struct bb__spool *spool, struct bb__spool_budget *budget, const char *bytes, size_t len);

/* A fresh one that was filled in another process: a file with so many bytes, which becomes the spool's. What
 * it takes of the budget it takes, full or not: that is how it was accepted. */
void bb__spool_adopt(struct bb__spool *spool, struct bb__spool_budget *budget, int fd, uint64_t length);

/* Gives memory, file and budget back. */
void bb__spool_drop(struct bb__spool *spool, struct bb__spool_budget *budget);

/* ---- what response_spool.h needs as well ---- */

/* False: with so much more than `most` bytes (0: no limit) would be used, and nothing is claimed. */
bool bb__spool_claim(struct bb__spool_budget *budget, uint64_t len, uint64_t most);
void bb__spool_release(struct bb__spool_budget *budget, uint64_t len);

/* A file without a name, or -1 and errno. */
int bb__spool_open_file(const struct bb__spool_budget *budget);

/* Writes where the last write has ended. *done: how much of it, also after an error. BB_OK; BB_ENOSPACE or
 * BB_ESYSTEM as above. */
int bb__spool_write(int fd, const char *bytes, size_t len, size_t *done);

#endif
