/* file_find.c: finds the file that a path stands for: the first directory of `public` that has it, and the
 * variants beside it. Makes system calls, so the lock of the cache is held only to look at the names. See
 * file_cache.h. */
#include "base/clock.h"
#include "files/file_cache.h"
#include "sockets/descriptor.h"
#include "sockets/sock.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct find {
    struct bb__file_cache *cache;
    enum bb__find_mode mode;
    int64_t real_now; /* ns since 1970 */
    unsigned root;
    const struct bb__file_path *found; /* a candidate */
    struct bb__file_entry *made;       /* NULL: the names have excluded all candidates so far */
};

static int root_fd(const struct find *find)
{
    return find->cache->pub->directories[find->root].fd;
}

static enum bb__find_mode mode_for(const struct find *find)
{
    bool is_local = find->cache->pub->directories[find->root].is_local;
    return find->mode == BB_FIND_AT_ONCE && is_local ? BB_FIND_AT_ONCE : BB_FIND_WAITING;
}

/* A directory elsewhere may let open(2) wait. */
static bool must_ask(const struct find *find)
{
    return find->mode == BB_FIND_AT_ONCE && mode_for(find) == BB_FIND_WAITING;
}

/* Returns whether descriptors are free now. A thread that may wait closes the files elsewhere, too: the
 * helper is this thread, or is not there. */
static bool give_way(const struct find *find)
{
    bool closes = bb__file_cache_give_way(find->cache, bb__clock_ms());
    if (find->mode == BB_FIND_WAITING) closes |= bb__file_entry_close_all(&find->cache->closes);
    return closes;
}

/* code: of an open that may have failed for want of descriptors, with errno. True: the cache has closed some,
 * so try again. */
static bool has_made_room(const struct find *find, int code)
{
    bool exhausted = code == BB_ESYSTEM && (errno == EMFILE || errno == ENFILE);
    return exhausted && give_way(find);
}

/* ---- the directories ---- */

static int look_at_directory(const struct find *find, const char *path, size_t len)
{
    struct bb__file_cache *cache = find->cache;
    struct bb__file_stamp stamp;
    struct bb__dir_look look;
    char name[BB_FILE_PATH_MAX];
    bb__put(name, path, len);
    name[len] = '\0';
    pthread_mutex_lock(&cache->lock);
    const struct bb__file_stamp *known = bb__dir_tree_known(&cache->tree, find->root, path, len);
    if (known) stamp = *known;
    pthread_mutex_unlock(&cache->lock);
    const struct bb__file_stamp *before = known ? &stamp : NULL;
    int code = bb__dir_look(root_fd(find), name, mode_for(find), before, &look);
    if (has_made_room(find, code)) code = bb__dir_look(root_fd(find), name, mode_for(find), before, &look);
    if (code != BB_OK) return code;
    pthread_mutex_lock(&cache->lock);
    code = bb__dir_tree_put(&cache->tree, find->root, path, len, &look, find->real_now, bb__clock_ms());
    pthread_mutex_unlock(&cache->lock);
    return code;
}

static int64_t real_ns(void)
{
    return (int64_t)bb__clock_real_us() * 1000;
}

void bb__file_find_roots(struct bb__file_cache *cache, enum bb__find_mode mode, bool *change)
{
    struct find find = {.cache = cache, .mode = mode, .real_now = real_ns()};
    *change = false;
    for (; find.root < cache->pub->directory_count; find.root++)
        if (must_ask(&find) || look_at_directory(&find, "", 0) == BB_AGAIN) *change = true;
}

static unsigned count_segments(const struct bb__file_path *path)
{
    unsigned count = 0;
    for (const char *at = path->path; *at; at++) count += *at == '/';
    return count;
}

/* BB_OK: the candidate may be a file. BB_EOF: it is none. On a slow disk the first directory may be old again
 * before the last one is read, and the tree may forget a directory, so each is looked at only once. */
static int check_names(const struct find *find)
{
    size_t asked;
    for (unsigned looks = count_segments(find->found);; looks--) {
        pthread_mutex_lock(&find->cache->lock);
        enum bb__dir_verdict verdict =
            bb__dir_tree_has(&find->cache->tree, find->root, find->found, bb__clock_ms(), &asked);
        pthread_mutex_unlock(&find->cache->lock);
        if (verdict != BB_DIR_ASK) return verdict == BB_DIR_PERHAPS ? BB_OK : BB_EOF;
        if (looks == 0) return BB_OK;
        if (must_ask(find)) return BB_AGAIN;
        int code = look_at_directory(find, find->found->path + 1, asked);
        if (code != BB_OK) return code;
    }
}

/* ---- files ---- */

static int open_file(const struct find *find, const char *name, struct bb__representation *each)
{
    if (must_ask(find)) return BB_AGAIN;
    int code = bb__file_open_at(root_fd(find), name, mode_for(find), &each->fd, &each->stamp);
    if (!has_made_room(find, code)) return code;
    return bb__file_open_at(root_fd(find), name, mode_for(find), &each->fd, &each->stamp);
}

/* A link, or a mount point, may lead to another file system. BB_FIND_AT_ONCE follows none. */
static bool is_local(const struct find *find, const struct bb__representation *each)
{
    if (!find->cache->pub->directories[find->root].is_local) return false;
    return find->mode == BB_FIND_AT_ONCE || bb__file_is_local(each->fd);
}

static void close_file(struct bb__representation *each)
{
    if (each->fd >= 0) (void)close(each->fd);
    each->fd = -1;
}

/* A variant counts if it is not older than its file. */
static int find_variant(const struct find *find, struct bb__file_entry *entry, enum bb__coding coding)
{
    struct bb__file_path path;
    const char *suffix = bb__coding_suffixes[coding];
    struct bb__representation *each = &entry->representations[coding];
    size_t len = 1 + find->found->len;
    if (len + strlen(suffix) >= BB_FILE_PATH_MAX) return BB_OK;
    pthread_mutex_lock(&find->cache->lock);
    bool may = bb__dir_tree_has_sibling(&find->cache->tree, find->root, find->found, suffix);
    pthread_mutex_unlock(&find->cache->lock);
    if (!may) return BB_OK;
    bb__put(path.path, find->found->path, len);
    *bb__put(path.path + len, suffix, strlen(suffix)) = '\0';
    int code = open_file(find, path.path + 1, each);
    if (code == BB_AGAIN) return code;
    if (code != BB_OK) return BB_OK; /* the file itself is sent */
    entry->is_local &= is_local(find, each);
    if (each->stamp.mtime >= entry->representations[BB_CODING_IDENTITY].stamp.mtime)
        entry->codings |= 1U << coding;
    else
        close_file(each);
    return BB_OK;
}

static int find_variants(const struct find *find, struct bb__file_entry *entry)
{
    int code = BB_OK;
    struct bb_slice path = {find->found->path, 1 + find->found->len};
    if (bb__field_rules_have(find->cache->pub, path, "content-encoding")) return BB_OK;
    for (int coding = BB_CODING_IDENTITY + 1; code == BB_OK && coding < BB_CODINGS; coding++)
        code = find_variant(find, entry, coding);
    return code;
}

/* Reads a small file to memory. If it changes now, it is sent from its descriptor, as a large one. A young
 * file keeps its descriptor, so that its inode stays its own. */
static int read_small(const struct find *find, struct bb__file_entry *entry, struct bb__representation *each)
{
    if (each->stamp.size > BB_FILE_SMALL) return BB_OK;
    size_t size = (size_t)each->stamp.size;
    each->bytes = malloc(size > 0 ? size : 1);
    if (!each->bytes) return BB_ENOMEM;
    int code = bb__file_read_whole(each->fd, each->bytes, &each->stamp, mode_for(find));
    if (code != BB_OK) {
        free(each->bytes);
        each->bytes = NULL;
        return code == BB_EOF ? BB_OK : code;
    }
    if (!entry->is_young) close_file(each);
    return BB_OK;
}

/* Descriptors from `reserve` on are the application's, which lends a few. Bytes in memory need none. */
static int make_lower(const struct find *find, struct bb__representation *each)
{
    int limit = find->cache->lent;
    if (limit == 0 || each->fd < find->cache->reserve) return BB_OK;
    (void)give_way(find);
    each->fd = bb__descriptor_move_down(each->fd, limit);
    if (each->fd >= limit && each->bytes) close_file(each);
    return each->fd < limit ? BB_OK : (errno = EMFILE, BB_ESYSTEM);
}

/* The file itself is sent. */
static void drop_variant(struct bb__file_entry *entry, int coding)
{
    close_file(&entry->representations[coding]);
    entry->codings &= ~(1U << coding);
}

/* The files are open. */
static int complete(const struct find *find, struct bb__file_entry *entry)
{
    int code = BB_OK;
    for (int coding = 0; coding < BB_CODINGS; coding++)
        if (bb__file_entry_has(entry, coding) &&
            bb__file_stamp_is_young(&entry->representations[coding].stamp, find->real_now))
            entry->is_young = true;
    for (int coding = 0; code == BB_OK && coding < BB_CODINGS; coding++) {
        struct bb__representation *each = &entry->representations[coding];
        if (!bb__file_entry_has(entry, coding)) continue;
        code = read_small(find, entry, each);
        if (code == BB_OK) code = make_lower(find, each);
        if (code != BB_ESYSTEM || coding == BB_CODING_IDENTITY) continue;
        drop_variant(entry, coding);
        code = BB_OK;
    }
    return code == BB_OK ? bb__file_entry_make_heads(entry, find->cache->pub, find->found, find->real_now)
                         : code;
}

/* Opens the candidate. BB_EOF: it is no file. */
static int open_candidate(struct find *find, const struct bb__file_path *path, struct bb__file_entry *known)
{
    int code = check_names(find);
    if (code != BB_OK) return code;
    if (!find->made) find->made = bb__file_entry_new(path, BB_ENTRY_NONE);
    struct bb__file_entry *entry = find->made;
    if (!entry) return BB_ENOMEM;
    code = open_file(find, find->found->path + 1, &entry->representations[BB_CODING_IDENTITY]);
    if (code != BB_OK) return code;
    entry->kind = BB_ENTRY_FILE;
    entry->is_local = is_local(find, &entry->representations[BB_CODING_IDENTITY]);
    entry->codings = 1U << BB_CODING_IDENTITY;
    code = find_variants(find, entry);
    bool is_same = code == BB_OK && known && !known->is_young && bb__file_entry_is_same(known, entry);
    return code == BB_OK && !is_same ? complete(find, entry) : code;
}

/* The path is no file, or its file cannot be read. */
static void become_none(struct bb__file_entry *entry)
{
    for (int coding = 0; coding < BB_CODINGS; coding++) close_file(&entry->representations[coding]);
    entry->kind = BB_ENTRY_NONE;
}

/* A file that may not be read hides no other candidate. candidate: room for find->found. */
static int find_candidate(struct find *find, const struct bb__file_path *path,
                          struct bb__file_path *candidate, struct bb__file_entry *known)
{
    for (; find->root < find->cache->pub->directory_count; find->root++) {
        for (int each = 0; each < BB_CANDIDATES; each++) {
            if (!bb__file_path_candidate(path, each, candidate)) continue;
            int code = open_candidate(find, path, known);
            bool is_closed = code == BB_ESYSTEM && errno == EACCES;
            if (code != BB_EOF && !is_closed) return code;
            if (find->made) become_none(find->made);
        }
    }
    return BB_EOF;
}

/* No descriptors or no memory now: nothing is known about the path. */
static bool is_exhausted(int code)
{
    return code == BB_ENOMEM || (code == BB_ESYSTEM && bb__sock_is_exhaustion(errno));
}

static int find_file(struct bb__file_cache *cache, const struct bb__file_path *path, enum bb__find_mode mode,
                     struct bb__file_entry *known, struct bb__file_entry **entry)
{
    struct bb__file_path candidate;
    struct find find = {.cache = cache, .mode = mode, .real_now = real_ns(), .found = &candidate};
    int code = find_candidate(&find, path, &candidate, known);
    if (!find.made) return code;
    bool is_same = code == BB_OK && !find.made->representations[BB_CODING_IDENTITY].head.data;
    if (code == BB_AGAIN || is_exhausted(code) || is_same) {
        bb__file_entry_release(find.made);
        if (!is_same) return code == BB_AGAIN ? BB_AGAIN : BB_ENOMEM;
        bb__file_entry_use(known);
        *entry = known;
        return BB_OK;
    }
    if (code != BB_OK) become_none(find.made);
    *entry = find.made;
    return BB_OK;
}

/* No descriptors or no memory are left: what the last look has found is better than the application's 404. */
static bool stays(struct bb__file_entry *known)
{
    if (!known || known->kind != BB_ENTRY_FILE || !bb__file_entry_is_unchanged(known)) return false;
    bb__file_entry_use(known);
    return true;
}

int bb__file_find(struct bb__file_cache *cache, const struct bb__file_path *path, enum bb__find_mode mode,
                  struct bb__file_entry *known, struct bb__file_entry **entry)
{
    int code = find_file(cache, path, mode, known, entry);
    if (code >= 0 || !stays(known)) return code;
    *entry = known;
    return BB_OK;
}
