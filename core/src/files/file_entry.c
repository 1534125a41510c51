/* file_entry.c: see file_entry.h. */
#include "files/file_entry.h"
#include "base/clock.h"
#include "representation/mime_types.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *const bb__coding_suffixes[BB_CODINGS] = {
    [BB_CODING_IDENTITY] = "", [BB_CODING_BR] = ".br", [BB_CODING_ZSTD] = ".zst", [BB_CODING_GZIP] = ".gz"};

/* ---- life ---- */

struct bb__file_entry *bb__file_entry_new(const struct bb__file_path *path, enum bb__entry_kind kind)
{
    struct bb__file_entry *entry = calloc(1, sizeof *entry + path->len + 1);
    if (!entry) return NULL;
    atomic_init(&entry->users, 1);
    entry->kind = kind;
    for (int coding = 0; coding < BB_CODINGS; coding++) entry->representations[coding].fd = -1;
    entry->hash = path->hash;
    entry->len = path->len;
    memcpy(entry->name, path->path + 1, path->len);
    return entry;
}

static void free_entry(struct bb__file_entry *entry)
{
    for (int coding = 0; coding < BB_CODINGS; coding++) {
        struct bb__representation *each = &entry->representations[coding];
        if (each->fd >= 0) bb__file_close(each->fd);
        bb__buf_free(&each->head);
        free(each->bytes);
    }
    if (entry->cache.former) bb__file_entry_release(entry->cache.former);
    free(entry);
}

static bool is_open(const struct bb__file_entry *entry)
{
    for (int coding = 0; coding < BB_CODINGS; coding++)
        if (entry->representations[coding].fd >= 0) return true;
    return false;
}

void bb__file_entry_release(struct bb__file_entry *entry)
{
    if (atomic_fetch_sub_explicit(&entry->users, 1, memory_order_acq_rel) > 1) return;
    if (!entry->closes || !is_open(entry)) {
        free_entry(entry);
        return;
    }
    struct bb__file_closes *closes = entry->closes;
    entry->cache.next_job = atomic_load_explicit(&closes->first, memory_order_relaxed);
    while (!atomic_compare_exchange_weak_explicit(&closes->first, &entry->cache.next_job, entry,
                                                  memory_order_release, memory_order_relaxed))
        continue;
}

bool bb__file_entry_close_all(struct bb__file_closes *closes)
{
    struct bb__file_entry *first = atomic_exchange_explicit(&closes->first, NULL, memory_order_acquire);
    for (struct bb__file_entry *next, *each = first; each; each = next) {
        next = each->cache.next_job;
        free_entry(each);
    }
    return first;
}

bool bb__file_entry_is_same(const struct bb__file_entry *one, const struct bb__file_entry *other)
{
    if (one->kind != other->kind || one->codings != other->codings) return false;
    for (int coding = 0; coding < BB_CODINGS; coding++)
        if (bb__file_entry_has(one, coding) && !bb__file_stamp_is_same(&one->representations[coding].stamp,
                                                                       &other->representations[coding].stamp))
            return false;
    return true;
}

bool bb__file_entry_is_unchanged(const struct bb__file_entry *entry)
{
    for (int coding = 0; entry->is_local && coding < BB_CODINGS; coding++) {
        const struct bb__representation *each = &entry->representations[coding];
        if (each->fd >= 0 && !each->bytes && !bb__file_is_unchanged(each->fd, &each->stamp)) return false;
    }
    return true;
}

/* ---- the heads ---- */

static int add(struct bb__h1_reply *reply, struct bb__buf *head, const char *name, const char *value)
{
    return bb__h1_reply_field(reply, head, name, strlen(name), value, strlen(value));
}

/* Some systems set all times of files to 0 or 1 (Nix), and archives without times to the beginning of 1980 in
 * the local time (zip). Such a time says nothing. */
static bool has_time(const struct bb__file_stamp *stamp)
{
    const int64_t second = 1000000000, of_zip = 315532800 * second, day = 86400 * second;
    if (stamp->mtime >= of_zip - day && stamp->mtime <= of_zip + day) return false;
    return stamp->mtime >= 2 * second;
}

/* RFC 9110 8.8.2.1: Last-Modified is never later than Date. */
static int add_modified(struct bb__h1_reply *reply, struct bb__representation *each, int64_t real_now)
{
    char text[BB_DATE_LEN + 1];
    int64_t mtime = each->stamp.mtime;
    each->has_modified = true;
    each->modified = (mtime < real_now ? mtime : real_now) / 1000000000;
    bb__date_render(each->modified, text);
    text[BB_DATE_LEN] = '\0';
    return add(reply, &each->head, "Last-Modified", text);
}

/* A young file gets a weak tag (RFC 9110 8.8.1). The tag has the number of the inode, because a file that
 * replaces a young one may have the same time and size. */
static int add_etag(const struct bb__file_entry *entry, struct bb__h1_reply *reply,
                    struct bb__representation *each, enum bb__coding coding)
{
    char text[96];
    unsigned long long mtime = (unsigned long long)each->stamp.mtime, size = each->stamp.size,
                       inode = each->stamp.inode;
    const char *suffix = bb__coding_suffixes[coding];
    if (*suffix) suffix++;
    if (entry->is_young)
        (void)snprintf(text, sizeof text, "W/\"%llx-%llx-%llx%s\"", mtime, size, inode, suffix);
    else
        (void)snprintf(text, sizeof text, "\"%llx-%llx%s%s\"", mtime, size, *suffix ? "-" : "", suffix);
    each->etag_len = strlen(text);
    each->etag_at = bb__buf_len(&each->head) + sizeof "ETag: " - 1;
    return add(reply, &each->head, "ETag", text);
}

static const char *type_of(const struct bb__file_path *found)
{
    struct bb_slice extension = bb__file_path_extension(found);
    const char *type = bb__mime_type(extension.at, extension.len);
    return type ? type : "application/octet-stream";
}

static const char *encoding_of(enum bb__coding coding)
{
    return coding == BB_CODING_BR ? "br" : coding == BB_CODING_ZSTD ? "zstd" : "gzip";
}

static int make_head(struct bb__file_entry *entry, const struct bb_public *pub,
                     const struct bb__file_path *found, enum bb__coding coding, int64_t real_now)
{
    struct bb__representation *each = &entry->representations[coding];
    struct bb__h1_reply reply = {0};
    struct bb__buf *head = &each->head;
    bool has_variants = entry->codings != 1U << BB_CODING_IDENTITY;
    struct bb_slice path = {found->path, 1 + found->len};
    int code = bb__h1_reply_start(&reply, head, 200);
    if (code == BB_OK) code = bb__field_rules_apply(pub, path, &reply, head);
    if (code == BB_OK && !bb__field_rules_have(pub, path, "content-type"))
        code = add(&reply, head, "Content-Type", type_of(found));
    if (code == BB_OK && coding != BB_CODING_IDENTITY)
        code = add(&reply, head, "Content-Encoding", encoding_of(coding));
    if (code == BB_OK && has_time(&each->stamp)) code = add_modified(&reply, each, real_now);
    if (code == BB_OK && has_time(&each->stamp)) code = add_etag(entry, &reply, each, coding);
    if (code == BB_OK) code = add(&reply, head, "Accept-Ranges", "bytes");
    if (code == BB_OK && has_variants) code = add(&reply, head, "Vary", "Accept-Encoding");
    return code;
}

int bb__file_entry_make_heads(struct bb__file_entry *entry, const struct bb_public *pub,
                              const struct bb__file_path *found, int64_t real_now)
{
    int code = BB_OK;
    for (int coding = 0; code == BB_OK && coding < BB_CODINGS; coding++)
        if (bb__file_entry_has(entry, coding)) code = make_head(entry, pub, found, coding, real_now);
    return code;
}
