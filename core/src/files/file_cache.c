/* file_cache.c: the life of a worker's files, and the look-up of a request. See file_cache.h. */
#include "files/file_cache.h"
#include "base/clock.h"

#include <stdlib.h>

/* ---- life ---- */

struct bb__file_cache *bb__file_cache_new(const struct bb_public *pub, int reserve, int lent)
{
    struct bb__file_cache *cache = calloc(1, sizeof *cache);
    if (!cache) return NULL;
    cache->pub = pub;
    cache->reserve = reserve;
    cache->lent = lent;
    cache->descriptors_max =
        reserve > 0 && reserve / 4 < BB_ENTRIES_MAX ? (unsigned)reserve / 4 : BB_ENTRIES_MAX;
    (void)pthread_mutex_init(&cache->lock, NULL); /* cannot fail for these kinds */
    (void)pthread_cond_init(&cache->helper.wakes, NULL);
    if (bb__dir_tree_open(&cache->tree, pub) != BB_OK) {
        bb__file_cache_free(cache, false);
        return NULL;
    }
    bool change;
    bb__file_find_roots(cache, BB_FIND_WAITING, &change);
    return cache;
}

void bb__file_cache_free(struct bb__file_cache *cache, bool is_child)
{
    if (!cache || (is_child && pthread_mutex_trylock(&cache->lock) != 0)) return;
    bb__file_helper_forget(cache);
    while (cache->oldest) bb__file_table_drop(cache, cache->oldest);
    (void)bb__file_entry_close_all(&cache->closes);
    bb__dir_tree_close(&cache->tree);
    if (!is_child) {
        (void)pthread_cond_destroy(&cache->helper.wakes);
        (void)pthread_mutex_destroy(&cache->lock);
    }
    free(cache);
}

/* ---- looking ---- */

/* Runs once a second. Looks at the roots. If a directory on this machine has changed, requests wait for a
 * moment until its names are read. A directory that is elsewhere may be slow, so the requests use the names
 * that are known. The caller has the lock. */
__attribute__((noinline)) static void do_each_second(struct bb__file_cache *cache, uint64_t now)
{
    bool all_local = true, change = false;
    bb__file_table_drop_idle(cache, now);
    bb__file_helper_close(cache);
    for (unsigned root = 0; root < cache->pub->directory_count; root++) {
        cache->tree.roots[root]->looked_at = now;
        all_local &= cache->pub->directories[root].is_local;
    }
    if (all_local) {
        pthread_mutex_unlock(&cache->lock);
        bb__file_find_roots(cache, BB_FIND_AT_ONCE, &change);
        pthread_mutex_lock(&cache->lock);
        if (!change) return;
    }
    bool asked = bb__file_helper_ask(cache, NULL);
    if (asked && all_local && cache->roots_change == 0) cache->roots_change = now;
    if (asked) return;
    pthread_mutex_unlock(&cache->lock);
    bb__file_find_roots(cache, BB_FIND_WAITING, &change); /* better late than never */
    pthread_mutex_lock(&cache->lock);
}

/* The file has been removed. */
static void forget(struct bb__file_cache *cache, struct bb__file_entry *known)
{
    pthread_mutex_lock(&cache->lock);
    if (known->cache.is_in) bb__file_table_drop(cache, known);
    pthread_mutex_unlock(&cache->lock);
}

/* Makes an entry for the helper. It keeps the known file, which may not have changed. */
static struct bb__file_entry *new_asked(const struct bb__file_path *path, struct bb__file_entry *known)
{
    struct bb__file_entry *asked = bb__file_entry_new(path, BB_ENTRY_ASKED);
    if (!asked || !known || known->kind != BB_ENTRY_FILE) return asked;
    bb__file_entry_use(known);
    asked->cache.former = known;
    return asked;
}

/* Finds the path without waiting, or asks the helper. *entry is `known`. */
static enum bb__file_found look(struct bb__file_cache *cache, const struct bb__file_path *path,
                                struct bb__file_entry *known, struct bb__file_entry **entry)
{
    bool asks = false;
    int code = bb__file_find(cache, path, BB_FIND_AT_ONCE, known, entry);
    if (code == BB_AGAIN) {
        struct bb__file_entry *asked = new_asked(path, known);
        pthread_mutex_lock(&cache->lock);
        bool is_full = cache->helper.jobs >= BB_JOBS_MAX;
        asks = asked && (is_full || bb__file_helper_ask(cache, asked));
        if (asks && !is_full) bb__file_table_put(cache, asked);
        pthread_mutex_unlock(&cache->lock);
        if (asked) bb__file_entry_release(asked);
        if (asks) return BB_FILE_LATER;
        code = bb__file_find(cache, path, BB_FIND_WAITING, known, entry); /* better late than never */
    }
    if (code == BB_EOF && known) forget(cache, known);
    if (code != BB_OK) return code == BB_ENOMEM ? BB_FILE_SHORT : BB_FILE_NONE;
    pthread_mutex_lock(&cache->lock);
    bb__file_table_put(cache, *entry);
    pthread_mutex_unlock(&cache->lock);
    if ((*entry)->kind == BB_ENTRY_FILE) return BB_FILE_FOUND;
    bb__file_entry_release(*entry);
    return BB_FILE_NONE;
}

enum bb__file_found bb__file_cache_may_have(struct bb__file_cache *cache, struct bb_slice path, uint64_t now)
{
    const struct bb__first_segment first = bb__file_path_first(path);
    pthread_mutex_lock(&cache->lock);
    if (bb__elapsed(now, cache->tree.roots[0]->looked_at) >= BB_FILE_VALID) do_each_second(cache, now);
    bool waits = cache->roots_change > 0 && bb__elapsed(now, cache->roots_change) < BB_ROOTS_WAIT;
    bool may = !first.is_plain || bb__dir_tree_may_have(&cache->tree, &first);
    pthread_mutex_unlock(&cache->lock);
    return waits ? BB_FILE_SOON : may ? BB_FILE_FOUND : BB_FILE_NONE;
}

enum bb__file_found bb__file_cache_find(struct bb__file_cache *cache, struct bb_slice path, uint64_t now,
                                        struct bb__file_entry **entry)
{
    struct bb__file_path decoded;
    if (!bb__file_path_decode(path, &decoded)) return BB_FILE_NONE;

    pthread_mutex_lock(&cache->lock);
    struct bb__file_entry *known = bb__file_table_use(cache, &decoded, now);
    bool is_valid = known && bb__elapsed(now, known->checked_at) < BB_FILE_VALID;
    bool is_excluded = !known && bb__dir_tree_excludes(&cache->tree, &decoded, now);
    /* The helper has just found it. A file that changes all the time is sent nevertheless. */
    bool is_new = known && known->cache.is_awaited;
    if (known) known->cache.is_awaited = false;
    enum bb__entry_kind kind = known ? known->kind : BB_ENTRY_NONE; /* the helper may change it */
    pthread_mutex_unlock(&cache->lock);
    enum bb__file_found found = BB_FILE_NONE;
    *entry = known;
    if (is_excluded) return found;
    if (is_valid && kind == BB_ENTRY_FILE && !is_new) is_valid = bb__file_entry_is_unchanged(known);
    if (is_valid && kind == BB_ENTRY_FILE) return BB_FILE_FOUND;
    if (kind == BB_ENTRY_ASKED)
        found = BB_FILE_LATER;
    else if (is_valid && kind == BB_ENTRY_SHORT)
        found = BB_FILE_SHORT;
    else if (!is_valid)
        found = look(cache, &decoded, known, entry);
    if (known) bb__file_entry_release(known);
    bb__file_cache_close_unused(cache);
    return found;
}
