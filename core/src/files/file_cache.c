/* file_cache.c: see file_cache.h. */
#include "files/file_cache.h"
#include "base/clock.h"

#include <stdlib.h>
#include <string.h>

/* ms. Descriptors have run out: for this time no entry keeps one. */
#define SCARCE_TIME 1000

/* ---- the table, and the list from the newest to the oldest use ---- */

static struct bb__file_entry **place_of(struct bb__file_cache *cache, uint64_t hash, const char *name,
                                        size_t len)
{
    struct bb__file_entry **place = &cache->buckets[hash % BB_ENTRY_BUCKETS];
    while (*place &&
           !((*place)->hash == hash && (*place)->len == len && memcmp((*place)->name, name, len) == 0))
        place = &(*place)->cache.next;
    return place;
}

static void unlink_entry(struct bb__file_cache *cache, struct bb__file_entry *entry)
{
    struct bb__file_entry *newer = entry->cache.newer, *older = entry->cache.older;
    *(newer ? &newer->cache.older : &cache->newest) = older;
    *(older ? &older->cache.newer : &cache->oldest) = newer;
}

static void link_newest(struct bb__file_cache *cache, struct bb__file_entry *entry, uint64_t now)
{
    entry->cache.used_at = now;
    entry->cache.newer = NULL;
    entry->cache.older = cache->newest;
    *(cache->newest ? &cache->newest->cache.newer : &cache->oldest) = entry;
    cache->newest = entry;
}

static void drop(struct bb__file_cache *cache, struct bb__file_entry *entry)
{
    struct bb__file_entry **place = place_of(cache, entry->hash, entry->name, entry->len);
    *place = entry->cache.next;
    unlink_entry(cache, entry);
    entry->cache.is_in = false;
    cache->count--;
    cache->descriptors -= entry->cache.descriptors;
    cache->bytes -= entry->cache.bytes;
    bb__file_entry_release(entry);
}

/* Drops the oldest entries that have a descriptor, or bytes in memory. */
static void drop_until(struct bb__file_cache *cache, unsigned descriptors, size_t bytes)
{
    for (struct bb__file_entry *each = cache->oldest, *newer;
         each && (cache->descriptors > descriptors || cache->bytes > bytes); each = newer) {
        newer = each->cache.newer;
        bool helps = (each->cache.descriptors > 0 && cache->descriptors > descriptors) ||
                     (each->cache.bytes > 0 && cache->bytes > bytes);
        if (helps) drop(cache, each);
    }
}

/* A removed file takes room on the disk while it is open. */
static void drop_idle(struct bb__file_cache *cache, uint64_t now)
{
    while (cache->oldest && bb__elapsed(now, cache->oldest->cache.used_at) >= BB_ENTRY_IDLE)
        drop(cache, cache->oldest);
}

static void count_costs(struct bb__file_entry *entry)
{
    entry->cache.descriptors = 0;
    entry->cache.bytes = 0;
    for (int coding = 0; coding < BB_CODINGS; coding++) {
        const struct bb__representation *each = &entry->representations[coding];
        entry->cache.descriptors += each->fd >= 0;
        if (each->bytes) entry->cache.bytes += each->stamp.size;
    }
}

void bb__file_cache_put(struct bb__file_cache *cache, struct bb__file_entry *entry)
{
    struct bb__file_entry **place = place_of(cache, entry->hash, entry->name, entry->len);
    uint64_t now = entry->checked_at = bb__clock_ms();
    if (*place == entry) return;
    if (*place) drop(cache, *place);
    count_costs(entry);
    place = &cache->buckets[entry->hash % BB_ENTRY_BUCKETS];
    entry->cache.next = *place;
    *place = entry;
    entry->cache.is_in = true;
    link_newest(cache, entry, now);
    bb__file_entry_use(entry);
    cache->count++;
    cache->descriptors += entry->cache.descriptors;
    cache->bytes += entry->cache.bytes;
    if (cache->count > BB_ENTRIES_MAX) drop(cache, cache->oldest);
    drop_until(cache, now < cache->scarce_until ? 0 : cache->descriptors_max, BB_FILE_BYTES_MAX);
}

bool bb__file_cache_give_way(struct bb__file_cache *cache, uint64_t now)
{
    pthread_mutex_lock(&cache->lock);
    bool found = cache->descriptors > 0;
    cache->scarce_until = now + SCARCE_TIME;
    drop_until(cache, 0, SIZE_MAX);
    pthread_mutex_unlock(&cache->lock);
    return found;
}

/* ---- life ---- */

struct bb__file_cache *bb__file_cache_new(const struct bb_public *pub, int reserve)
{
    struct bb__file_cache *cache = calloc(1, sizeof *cache);
    if (!cache) return NULL;
    cache->pub = pub;
    cache->reserve = reserve;
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
    if (!cache) return;
    while (cache->oldest) drop(cache, cache->oldest);
    bb__dir_tree_close(&cache->tree);
    if (!is_child) {
        (void)pthread_cond_destroy(&cache->helper.wakes);
        (void)pthread_mutex_destroy(&cache->lock);
    }
    free(cache);
}

/* ---- looking ---- */

/* Runs once a second. Looks at the roots. If a directory on this machine has changed, requests wait until its
 * names are read. A directory that is elsewhere may be slow, so the requests use the names that are known.
 * The caller has the lock. */
static void do_each_second(struct bb__file_cache *cache, uint64_t now)
{
    bool all_local = true, change = false;
    if (bb__elapsed(now, cache->tree.roots[0]->looked_at) < BB_FILE_VALID) return;
    drop_idle(cache, now);
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
    cache->roots_change = asked && all_local;
}

/* Finds the path without waiting, or asks the helper. */
static enum bb__file_found look(struct bb__file_cache *cache, const struct bb__file_path *path,
                                struct bb__file_entry *known, struct bb__file_entry **entry)
{
    bool asks = false;
    int code = bb__file_find(cache, path, BB_FIND_AT_ONCE, known, entry);
    if (code == BB_AGAIN) {
        struct bb__file_entry *asked = bb__file_entry_new(path, BB_ENTRY_ASKED);
        pthread_mutex_lock(&cache->lock);
        asks = asked && bb__file_helper_ask(cache, asked);
        if (asks) bb__file_cache_put(cache, asked);
        pthread_mutex_unlock(&cache->lock);
        if (asked) bb__file_entry_release(asked);
        if (asks) return BB_FILE_LATER;
        code = bb__file_find(cache, path, BB_FIND_WAITING, known, entry); /* better late than never */
    }
    if (code != BB_OK) return BB_FILE_NONE;
    pthread_mutex_lock(&cache->lock);
    bb__file_cache_put(cache, *entry);
    pthread_mutex_unlock(&cache->lock);
    if ((*entry)->kind == BB_ENTRY_FILE) return BB_FILE_FOUND;
    bb__file_entry_release(*entry);
    return BB_FILE_NONE;
}

/* Whether the first segment may be a file or a directory. For each request, so it decodes nothing. */
static enum bb__file_found may_have(struct bb__file_cache *cache, struct bb_slice path, uint64_t now)
{
    struct bb_slice first;
    bool only, is_plain = bb__file_path_first(path, &first, &only);
    pthread_mutex_lock(&cache->lock);
    do_each_second(cache, now);
    bool waits = cache->roots_change;
    bool may = !is_plain || bb__dir_tree_may_have(&cache->tree, first, only);
    pthread_mutex_unlock(&cache->lock);
    return waits ? BB_FILE_LATER : may ? BB_FILE_FOUND : BB_FILE_NONE;
}

enum bb__file_found bb__file_cache_find(struct bb__file_cache *cache, struct bb_slice path, uint64_t now,
                                        struct bb__file_entry **entry)
{
    struct bb__file_path decoded;
    enum bb__file_found may = may_have(cache, path, now);
    if (may != BB_FILE_FOUND) return may;
    if (!bb__file_path_decode(path, &decoded)) return BB_FILE_NONE;

    pthread_mutex_lock(&cache->lock);
    struct bb__file_entry *known = *place_of(cache, decoded.hash, decoded.path + 1, decoded.len);
    bool asked = known && known->kind == BB_ENTRY_ASKED;
    bool is_valid = known && bb__elapsed(now, known->checked_at) < BB_FILE_VALID;
    if (known && !asked) {
        bb__file_entry_use(known);
        unlink_entry(cache, known);
        link_newest(cache, known, now);
    }
    pthread_mutex_unlock(&cache->lock);
    if (asked) return BB_FILE_LATER;
    if (is_valid && known->kind == BB_ENTRY_FILE) {
        *entry = known;
        return BB_FILE_FOUND;
    }
    enum bb__file_found found = is_valid ? BB_FILE_NONE : look(cache, &decoded, known, entry);
    if (known) bb__file_entry_release(known);
    return found;
}
