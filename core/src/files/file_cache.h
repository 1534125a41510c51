/* file_cache.h: the files of `public` that a worker has open, and the names below the directories. One per
 * worker, for all of its lanes and its I/O thread. A look-up holds one lock, and never waits for the disk:
 * what the kernel does not have in memory is looked up by the helper, a thread that starts when it is first
 * needed. conn_public.c uses it. */
#ifndef BB_FILE_CACHE_H
#define BB_FILE_CACHE_H

#include "files/dir_tree.h"
#include "files/file_read.h"

#include <pthread.h>

/* Limits of a worker. */
#define BB_ENTRIES_MAX    2048
#define BB_FILE_BYTES_MAX (4 * 1024 * 1024)
#define BB_ENTRY_IDLE     60000 /* ms; an entry that nobody has asked for or sent for this time is dropped */
#define BB_ENTRY_BUCKETS  4096
/* ms. The longest wait for the names in the roots. It usually takes less than 1 ms to read them. If the disk
 * hangs, requests go on with the names that are known. */
#define BB_ROOTS_WAIT 6

#define BB_JOBS_MAX 1024 /* that wait for the helper */

struct bb__file_cache {
    const struct bb_public *pub;
    int reserve; /* descriptors from this number on are left to the host; 0: none */
    int lent;    /* but files may have those below this number while no lower ones are free */
    pthread_mutex_t lock;
    struct bb__dir_tree tree;
    uint64_t roots_change; /* ms, since when the helper reads the names in the roots again; 0: it does not */

    struct bb__file_entry *buckets[BB_ENTRY_BUCKETS];
    struct bb__file_entry *newest, *oldest;
    unsigned count, descriptors, descriptors_max;
    size_t bytes;
    uint64_t scarce_until; /* ms; until then only files in use keep descriptors, which have run out */
    bool lends;            /* an entry may have a descriptor from `reserve` on */
    struct bb__file_closes closes;

    struct { /* file_helper.c */
        pthread_t thread;
        pthread_cond_t wakes;
        bool runs, ends, ended, looks_at_roots;
        struct bb__file_entry *first, *last; /* jobs */
        unsigned jobs;                       /* with the one that the helper does now */
        struct bb__file_read *first_read, *last_read;
        atomic_uint answers; /* grows when the helper has done something */
    } helper;
};

/* reserve, lent: as in worker->room; 0: no limit. Reads the names in the directories, so it waits for the
 * disk. Returns NULL when out of memory. pub must outlive the cache. */
struct bb__file_cache *bb__file_cache_new(const struct bb_public *pub, int reserve, int lent);

/* Ends the helper. False: a stalled disk blocks it for over a second. Then nothing may be freed. */
bool bb__file_cache_stop(struct bb__file_cache *cache);

/* All entries must be released. is_child: this is a forked child, which has no helper. If another thread had
 * the lock when the child was forked, nothing is freed. NULL is allowed. */
void bb__file_cache_free(struct bb__file_cache *cache, bool is_child);

enum bb__file_found {
    BB_FILE_NONE,  /* the path is no file: the application decides */
    BB_FILE_FOUND, /* the caller calls bb__file_entry_release() later */
    BB_FILE_LATER, /* the helper looks: ask again when it has answered */
    BB_FILE_SOON,  /* the names in the roots are read: ask again in some ms, at most for BB_ROOTS_WAIT */
    BB_FILE_SHORT, /* there may be a file, but no descriptor or memory for it */
};

/* How often the helper has answered. After BB_FILE_LATER, another look finds the same until it answers again.
 * Read it before the look. */
static inline unsigned bb__file_cache_answers(struct bb__file_cache *cache)
{
    return atomic_load_explicit(&cache->helper.answers, memory_order_acquire);
}

/* Whether the first segment of a path may be a file or a directory: for each request, so it decodes nothing.
 * path: as in a request. now: ms. BB_FILE_FOUND: call bb__file_cache_find(). BB_FILE_SOON, BB_FILE_NONE. */
enum bb__file_found bb__file_cache_may_have(struct bb__file_cache *cache, struct bb_slice path, uint64_t now);

enum bb__file_found bb__file_cache_find(struct bb__file_cache *cache, struct bb_slice path, uint64_t now,
                                        struct bb__file_entry **entry);

/* In file_helper.c: lets the helper read a part of a file. The caller becomes a user of the result. NULL: no
 * memory. */
struct bb__file_read *bb__file_cache_read(struct bb__file_cache *cache, struct bb__file_entry *entry, int fd,
                                          uint64_t first, size_t len);

/* In file_helper.c: lets the helper close the files elsewhere that have no user any more. A caller of
 * bb__file_entry_release() calls this next, because it may have been the last user. Not for a forked child.
 */
void bb__file_cache_close_unused(struct bb__file_cache *cache);

/* In file_table.c: closes the descriptors that only the cache uses. For some time, it keeps none but the
 * newest. Returns whether it has closed any. */
bool bb__file_cache_give_way(struct bb__file_cache *cache, uint64_t now);

/* ---- for the files of files/ ---- */

/* In file_table.c; the caller has the lock: */

/* Keeps a new entry, which replaces the entry of the same name, and lets old ones go. An entry that is there
 * counts as checked now. The caller stays a user. */
void bb__file_table_put(struct bb__file_cache *cache, struct bb__file_entry *entry);

/* Returns the entry of this path, whose user the caller becomes, or NULL. now: ms. */
struct bb__file_entry *bb__file_table_use(struct bb__file_cache *cache, const struct bb__file_path *path,
                                          uint64_t now);

void bb__file_table_drop(struct bb__file_cache *cache, struct bb__file_entry *entry);

/* Lets the file go that an entry of the table keeps for the helper. */
void bb__file_table_drop_former(struct bb__file_cache *cache, struct bb__file_entry *asked);

/* Drops the entries that nobody has used for BB_ENTRY_IDLE, because a removed file takes room on the disk
 * while it is open. Also drops unused files above the limits, and unused files with a descriptor from
 * `reserve` on. */
void bb__file_table_drop_idle(struct bb__file_cache *cache, uint64_t now);

/* In file_find.c: finds what the path stands for. known: the entry that the cache has, or NULL. BB_OK: the
 * caller is a user of *entry, which is `known` if the file has not changed, or if that cannot be found out
 * now. BB_EOF: no directory has such a name, so there is no entry. BB_AGAIN: BB_FIND_AT_ONCE is not possible.
 * BB_ENOMEM: no memory, or no descriptor for a file. BB_ESYSTEM: a directory cannot be read, and nothing is
 * known about the path. */
int bb__file_find(struct bb__file_cache *cache, const struct bb__file_path *path, enum bb__find_mode mode,
                  struct bb__file_entry *known, struct bb__file_entry **entry);

/* In file_find.c: looks at the directories of `public`. *change: a directory has changed, and
 * BB_FIND_AT_ONCE cannot read it. */
void bb__file_find_roots(struct bb__file_cache *cache, enum bb__find_mode mode, bool *change);

/* In file_helper.c: lets the helper find the path of an entry of the kind BB_ENTRY_ASKED. NULL: look at the
 * roots. The caller has the lock. False: there is no helper. */
bool bb__file_helper_ask(struct bb__file_cache *cache, struct bb__file_entry *entry);

/* Whether files elsewhere have no user any more, so that the helper has to close them. */
static inline bool bb__file_cache_has_unused(struct bb__file_cache *cache)
{
    return atomic_load_explicit(&cache->closes.first, memory_order_relaxed);
}

/* In file_helper.c: closes the files elsewhere that have no user any more. The caller has the lock. */
void bb__file_helper_close(struct bb__file_cache *cache);

/* In file_helper.c: forgets the jobs. The caller has the lock, or there is no helper. */
void bb__file_helper_forget(struct bb__file_cache *cache);

#endif
