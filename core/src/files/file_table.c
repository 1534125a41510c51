/* file_table.c: the entries of the cache: a table by their names, and a list from the newest to the oldest
 * use. See file_cache.h. */
#include "base/clock.h"
#include "files/file_cache.h"

#include <string.h>

/* ms. Descriptors have run out: for this time no entry keeps one. */
#define SCARCE_TIME 1000

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

void bb__file_table_drop_former(struct bb__file_cache *cache, struct bb__file_entry *asked)
{
    struct bb__file_entry *former = asked->cache.former;
    if (!former) return;
    cache->descriptors -= asked->cache.descriptors;
    cache->bytes -= asked->cache.bytes;
    asked->cache.descriptors = 0;
    asked->cache.bytes = 0;
    asked->cache.former = NULL;
    bb__file_entry_release(former);
}

void bb__file_table_drop(struct bb__file_cache *cache, struct bb__file_entry *entry)
{
    struct bb__file_entry **place = place_of(cache, entry->hash, entry->name, entry->len);
    bb__file_table_drop_former(cache, entry);
    *place = entry->cache.next;
    unlink_entry(cache, entry);
    entry->cache.is_in = false;
    cache->count--;
    cache->descriptors -= entry->cache.descriptors;
    cache->bytes -= entry->cache.bytes;
    bb__file_entry_release(entry);
}

/* If its descriptor were closed now, the connection would have to ask the helper again. */
static bool is_awaited(const struct bb__file_entry *entry)
{
    return entry->cache.is_awaited && bb__elapsed(bb__clock_ms(), entry->checked_at) < BB_FILE_VALID;
}

/* The file that an entry keeps open. */
static const struct bb__file_entry *file_of(const struct bb__file_entry *entry)
{
    return entry->cache.former ? entry->cache.former : entry;
}

/* If the table dropped it, its descriptors would stay open, and the next client would get others. */
static bool is_in_use(const struct bb__file_entry *entry)
{
    return atomic_load_explicit(&file_of(entry)->users, memory_order_relaxed) > 1;
}

/* Drops the oldest entries that have a descriptor, or bytes in memory. */
static void drop_until(struct bb__file_cache *cache, unsigned descriptors, size_t bytes)
{
    for (struct bb__file_entry *each = cache->oldest, *newer;
         each && (cache->descriptors > descriptors || cache->bytes > bytes); each = newer) {
        newer = each->cache.newer;
        bool closes = each->cache.descriptors > 0 && cache->descriptors > descriptors && !is_in_use(each);
        bool helps = closes || (each->cache.bytes > 0 && cache->bytes > bytes);
        if (helps && !is_awaited(each)) bb__file_table_drop(cache, each);
    }
}

static void keep_to_limits(struct bb__file_cache *cache, uint64_t now)
{
    drop_until(cache, now < cache->scarce_until ? 0 : cache->descriptors_max, BB_FILE_BYTES_MAX);
}

static bool is_lent(const struct bb__file_cache *cache, const struct bb__file_entry *entry)
{
    for (int coding = 0; cache->reserve > 0 && coding < BB_CODINGS; coding++)
        if (file_of(entry)->representations[coding].fd >= cache->reserve) return true;
    return false;
}

static void give_back_lent(struct bb__file_cache *cache)
{
    bool lends = false;
    for (struct bb__file_entry *each = cache->lends ? cache->oldest : NULL, *newer; each; each = newer) {
        newer = each->cache.newer;
        bool is = is_lent(cache, each), stays = is_in_use(each) || is_awaited(each);
        if (is && !stays) bb__file_table_drop(cache, each);
        lends |= is && stays;
    }
    cache->lends = lends;
}

void bb__file_table_drop_idle(struct bb__file_cache *cache, uint64_t now)
{
    for (struct bb__file_entry *each;
         (each = cache->oldest) && bb__elapsed(now, each->cache.used_at) >= BB_ENTRY_IDLE;) {
        if (is_in_use(each)) {
            unlink_entry(cache, each);
            link_newest(cache, each, now);
        } else {
            bb__file_table_drop(cache, each);
        }
    }
    give_back_lent(cache);
    keep_to_limits(cache, now);
}

static void count_costs(struct bb__file_entry *entry)
{
    const struct bb__file_entry *file = file_of(entry);
    entry->cache.descriptors = 0;
    entry->cache.bytes = 0;
    for (int coding = 0; coding < BB_CODINGS; coding++) {
        const struct bb__representation *each = &file->representations[coding];
        entry->cache.descriptors += each->fd >= 0;
        if (each->bytes) entry->cache.bytes += each->stamp.size;
    }
}

void bb__file_table_put(struct bb__file_cache *cache, struct bb__file_entry *entry)
{
    struct bb__file_entry **place = place_of(cache, entry->hash, entry->name, entry->len);
    uint64_t now = entry->checked_at = bb__clock_ms();
    if (*place == entry) return;
    if (*place) bb__file_table_drop(cache, *place);
    count_costs(entry);
    entry->closes = entry->is_local ? NULL : &cache->closes;
    place = &cache->buckets[entry->hash % BB_ENTRY_BUCKETS];
    entry->cache.next = *place;
    *place = entry;
    entry->cache.is_in = true;
    link_newest(cache, entry, now);
    bb__file_entry_use(entry);
    cache->count++;
    cache->descriptors += entry->cache.descriptors;
    cache->bytes += entry->cache.bytes;
    cache->lends |= is_lent(cache, entry);
    if (cache->count > BB_ENTRIES_MAX) bb__file_table_drop(cache, cache->oldest);
    keep_to_limits(cache, now);
}

struct bb__file_entry *bb__file_table_use(struct bb__file_cache *cache, const struct bb__file_path *path,
                                          uint64_t now)
{
    struct bb__file_entry *entry = *place_of(cache, path->hash, path->path + 1, path->len);
    if (!entry) return NULL;
    bb__file_entry_use(entry);
    unlink_entry(cache, entry);
    link_newest(cache, entry, now);
    return entry;
}

bool bb__file_cache_give_way(struct bb__file_cache *cache, uint64_t now)
{
    pthread_mutex_lock(&cache->lock);
    unsigned before = cache->descriptors;
    cache->scarce_until = now + SCARCE_TIME;
    drop_until(cache, 0, SIZE_MAX);
    if (bb__file_cache_has_unused(cache)) (void)pthread_cond_signal(&cache->helper.wakes);
    bool found = cache->descriptors < before;
    pthread_mutex_unlock(&cache->lock);
    return found;
}
