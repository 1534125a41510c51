/* spool.h: stores a request body until it is complete: in memory up to a threshold, then in an unlinked file.
 * All spools and response spools (response_spool.h) of a process share one budget, which limits the bytes
 * that they hold. Used by conn. Does not parse HTTP. */
#ifndef BB_SPOOL_H
#define BB_SPOOL_H

#include "base/buf.h"

#include <stdatomic.h>
#include <stdint.h>

/* Shared by all threads of a worker. */
struct bb__spool_budget {
    atomic_uint_fast64_t used; /* bytes */
    uint64_t max;              /* bytes; 0: no limit */
    uint64_t threshold;        /* bytes; a longer body goes to a file */
    const char *directory;
    int reserve;                 /* responses use no descriptor from this number on; 0: no limit */
    atomic_uint_fast64_t unsent; /* unsent response bytes in memory, of all connections */
    uint64_t unsent_max;         /* when `unsent` reaches this, more response bytes go to files at once */
};

static inline bool bb__spool_memory_is_full(struct bb__spool_budget *budget)
{
    return atomic_load_explicit(&budget->unsent, memory_order_relaxed) >= budget->unsent_max;
}

struct bb__spool {
    struct bb__buf memory;
    int fd;          /* the file; -1: there is none */
    uint64_t length; /* bytes in memory or in the file */
};

void bb__spool_start(struct bb__spool *spool);

/* Returns whether `more` bytes fit into the budget now. Nothing is reserved. */
bool bb__spool_would_fit(struct bb__spool_budget *budget, uint64_t more);

/* Appends bytes. BB_OK; BB_ENOSPACE: over the budget; BB_EDISK: the disk is full or fails (ENOSPC, EDQUOT,
 * EFBIG, EIO); BB_ESYSTEM: no file could be made; BB_ENOMEM. After an error the spool can only be dropped. */
int bb__spool_append(struct bb__spool *spool, struct bb__spool_budget *budget, const char *bytes, size_t len);

/* Fills a new spool with a file of `length` bytes from another process. The spool owns fd from now on. The
 * bytes are taken from the budget even if it is full, because the other process has accepted the body. */
void bb__spool_adopt(struct bb__spool *spool, struct bb__spool_budget *budget, int fd, uint64_t length);

/* Frees the memory and the file, and returns the bytes to the budget. */
void bb__spool_drop(struct bb__spool *spool, struct bb__spool_budget *budget);

/* ---- response_spool.c uses these, too ---- */

/* Claims `len` bytes of the budget. False: more than `most` bytes (0: no limit) would be used, and nothing is
 * claimed. */
bool bb__spool_claim(struct bb__spool_budget *budget, uint64_t len, uint64_t most);
void bb__spool_release(struct bb__spool_budget *budget, uint64_t len);

/* Returns the descriptor of an unlinked file, or -1 with errno. */
int bb__spool_open_file(const struct bb__spool_budget *budget);

/* Appends bytes to the file. *done: how many bytes were written, also after an error. BB_OK; BB_EDISK or
 * BB_ESYSTEM as bb__spool_append(). */
int bb__spool_write(int fd, const char *bytes, size_t len, size_t *done);

#endif
