/* file_entry.h: what the path of a request stands for: a file with its variants, or no file. An entry belongs
 * to its users: the cache, and the connections that send it. The last one frees it. Used by file_cache.c and
 * conn_public.c. */
#ifndef BB_FILE_ENTRY_H
#define BB_FILE_ENTRY_H

#include "base/buf.h"
#include "files/file_open.h"
#include "files/file_path.h"
#include "files/public.h"
#include "representation/accept_encoding.h"

#include <stdatomic.h>

/* Bytes. A file of up to this size is kept in memory, and leaves together with the head. */
#define BB_FILE_SMALL (16 * 1024)

enum bb__entry_kind {
    BB_ENTRY_NONE,  /* no file */
    BB_ENTRY_FILE,  /* a file; `codings` has at least the identity */
    BB_ENTRY_ASKED, /* the helper looks */
    BB_ENTRY_SHORT, /* there was no descriptor or memory for it */
};

/* A file or a variant of it (RFC 9110 3.2). */
struct bb__representation {
    int fd;      /* -1: there is no such variant, or `bytes` has all of it */
    char *bytes; /* NULL: not in memory */
    struct bb__file_stamp stamp;
    struct bb__buf head;      /* the status line 200 and all fields that do not depend on the request */
    size_t etag_at, etag_len; /* in `head`; 0: none */
    bool has_modified;        /* false: no Last-Modified */
    int64_t modified;         /* s since 1970 */
};

struct bb__file_entry;

/* Files elsewhere that have no user any more. close(2) may wait, so the helper closes them. */
struct bb__file_closes {
    _Atomic(struct bb__file_entry *) first;
};

struct bb__file_entry {
    atomic_uint users;
    struct bb__file_closes *closes; /* NULL: the last user closes the files */
    enum bb__entry_kind kind;
    bool is_young;       /* a file may still change without another stamp */
    bool is_local;       /* the files are on this machine */
    unsigned codings;    /* 1 << enum bb__coding: the variants that exist */
    uint64_t checked_at; /* ms */
    struct bb__representation representations[BB_CODINGS];

    struct { /* file_cache.c, under its lock */
        bool is_in;
        bool is_awaited;  /* the helper has found it for a connection, which has not taken it yet */
        uint64_t used_at; /* ms */
        struct bb__file_entry *next; /* in its bucket */
        struct bb__file_entry *newer, *older;
        struct bb__file_entry *next_job; /* for the helper; the next one to be closed */
        struct bb__file_entry *former;   /* BB_ENTRY_ASKED: the file that was known before; NULL: none */
        unsigned descriptors;
        size_t bytes;
    } cache;

    uint64_t hash;
    size_t len;
    char name[]; /* of the request's path */
};

/* Makes an entry without a file. The caller is its only user. NULL: no memory. */
struct bb__file_entry *bb__file_entry_new(const struct bb__file_path *path, enum bb__entry_kind kind);

/* Makes the heads of all representations. found: the path of the file. BB_OK or BB_ENOMEM. */
int bb__file_entry_make_heads(struct bb__file_entry *entry, const struct bb_public *pub,
                              const struct bb__file_path *found, int64_t real_now);

/* Whether both have the same files. */
bool bb__file_entry_is_same(const struct bb__file_entry *one, const struct bb__file_entry *other);

/* Whether the files that are sent from their descriptors are as they were. Otherwise a response would have
 * the old length and validators, but bytes of the new content. Small files are in memory, as they were. On a
 * file system elsewhere this call might wait, so it does not look. */
bool bb__file_entry_is_unchanged(const struct bb__file_entry *entry);

static inline void bb__file_entry_use(struct bb__file_entry *entry)
{
    atomic_fetch_add_explicit(&entry->users, 1, memory_order_relaxed);
}

/* Ends one use. Any thread. */
void bb__file_entry_release(struct bb__file_entry *entry);

/* Closes the files of these entries, and frees them. May wait. Returns whether there were any. */
bool bb__file_entry_close_all(struct bb__file_closes *closes);

static inline bool bb__file_entry_has(const struct bb__file_entry *entry, enum bb__coding coding)
{
    return entry->codings >> coding & 1;
}

/* The suffixes of the names of variants; "" for the identity. */
extern const char *const bb__coding_suffixes[BB_CODINGS];

#endif
