/* name_set.h: the names in a directory. It keeps only a hash of each name, so bb__name_set_has() may say
 * "perhaps" for a name that is not there. Used by dir_tree.c. */
#ifndef BB_NAME_SET_H
#define BB_NAME_SET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A directory with more names is not kept, because reading it again after each change would cost too much:
 * 16,384 names are about 4 ms. */
#define BB_NAMES_MAX 16384

struct bb__name_set {
    uint64_t *places; /* open addressing; 0: free */
    size_t size;      /* a power of two, or 0: the set is empty */
    size_t count;
    bool is_full;   /* the directory has too many names, or cannot be read: any name may be in it */
    bool is_unread; /* it is full because of an error, which may pass */
};

/* Reads the names of a directory. Waits for the disk. BB_OK; BB_ENOMEM. The caller frees the set in both
 * cases, and still owns fd. */
int bb__name_set_read(struct bb__name_set *set, int fd);

void bb__name_set_free(struct bb__name_set *set);

/* False: the name is not in the directory. hash: bb__name_hash(). */
static inline bool bb__name_set_has(const struct bb__name_set *set, uint64_t hash)
{
    if (set->size == 0) return set->is_full;
    if (hash == 0) hash = 1;
    for (size_t at = (size_t)hash;; at++) {
        uint64_t found = set->places[at & (set->size - 1)];
        if (found == hash) return true;
        if (found == 0) return false;
    }
}

#endif
