/* dir_tree.h: the names in the directories of `public` and below, as far as requests have come there. So a
 * path that is no file costs no system call. A directory is looked at again when the last look is a second
 * old, and read again when it has changed. Used by file_find.c. Not thread-safe: the caller has the lock of
 * the cache, except where a function says that it makes system calls. */
#ifndef BB_DIR_TREE_H
#define BB_DIR_TREE_H

#include "files/file_open.h"
#include "files/file_path.h"
#include "files/name_set.h"
#include "files/public.h"

/* ms. After this time, a directory or a file is looked at again. */
#define BB_FILE_VALID 1000

/* Limits of the directories below the roots. If one is reached, all of them are forgotten, and are read again
 * when a request needs them. A name is 16 to 32 bytes. */
#define BB_DIRS_MAX      512
#define BB_DIR_NAMES_MAX (128 * 1024)

struct bb__dir {
    struct bb__dir *next; /* in its bucket */
    uint64_t hash;        /* of `path` */
    unsigned root;        /* number of the directory of `public` */
    bool is_missing;      /* there is no such directory */
    bool is_young;        /* it may have changed after it was read, without another stamp, or is unread */
    bool is_read;         /* false: it was never read */
    struct bb__file_stamp stamp;
    struct bb__name_set names;
    uint64_t looked_at; /* ms */
    size_t len;
    char path[]; /* below the root; the root itself is "" */
};

#define BB_DIR_BUCKETS 256

struct bb__dir_tree {
    const struct bb_public *pub;
    struct bb__dir **roots;
    struct bb__dir *buckets[BB_DIR_BUCKETS];
    unsigned count;
    size_t name_count;
};

/* BB_OK or BB_ENOMEM. Call bb__dir_tree_close() in both cases. */
int bb__dir_tree_open(struct bb__dir_tree *tree, const struct bb_public *pub);
void bb__dir_tree_close(struct bb__dir_tree *tree);

enum bb__dir_verdict {
    BB_DIR_NO_FILE, /* no directory of the tree has such a name */
    BB_DIR_PERHAPS, /* the name is in its directory, or the directory has too many names to tell */
    BB_DIR_ASK,     /* a directory of the path has to be looked at first */
};

/* Whether a file with this path may be below the root. *asked: for BB_DIR_ASK, the length of the directory's
 * path. A root never gets old here, see file_cache.c. now: ms. */
enum bb__dir_verdict bb__dir_tree_has(const struct bb__dir_tree *tree, unsigned root,
                                      const struct bb__file_path *path, uint64_t now, size_t *asked);

/* The same for the name with a suffix in the directory of a file that bb__dir_tree_has() has found. */
bool bb__dir_tree_has_sibling(const struct bb__dir_tree *tree, unsigned root,
                              const struct bb__file_path *path, const char *suffix);

/* Whether the names of the directories exclude all candidates of the path. False: perhaps there is a file. */
bool bb__dir_tree_excludes(const struct bb__dir_tree *tree, const struct bb__file_path *path, uint64_t now);

/* Whether a path with this first segment may be a file, in any root. Runs for each request, so it looks only
 * at the names in the roots. */
bool bb__dir_tree_may_have(const struct bb__dir_tree *tree, const struct bb__first_segment *first);

/* The result of a look at a directory, which needs no lock: makes system calls. */
struct bb__dir_look {
    bool is_missing, has_names;
    struct bb__file_stamp stamp;
    struct bb__name_set names;
};

/* known: the stamp of the last look, or NULL if the names have to be read. BB_OK; BB_AGAIN, BB_ENOMEM or
 * BB_ESYSTEM: as in file_open.h. bb__dir_tree_put() takes the names over. */
int bb__dir_look(int root_fd, const char *path, enum bb__find_mode mode, const struct bb__file_stamp *known,
                 struct bb__dir_look *look);

/* Returns the stamp for bb__dir_look(), or NULL. */
const struct bb__file_stamp *bb__dir_tree_known(const struct bb__dir_tree *tree, unsigned root,
                                                const char *path, size_t len);

/* Keeps the result of a look. real_now: ns since 1970, before the look; now: ms, after the look. BB_OK or
 * BB_ENOMEM. */
int bb__dir_tree_put(struct bb__dir_tree *tree, unsigned root, const char *path, size_t len,
                     struct bb__dir_look *look, int64_t real_now, uint64_t now);

#endif
