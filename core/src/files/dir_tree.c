/* dir_tree.c: see dir_tree.h. */
#include "files/dir_tree.h"
#include "base/clock.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- the directories ---- */

static struct bb__dir *new_dir(unsigned root, const char *path, size_t len)
{
    struct bb__dir *dir = calloc(1, sizeof *dir + len + 1);
    if (!dir) return NULL;
    dir->root = root;
    dir->len = len;
    dir->hash = bb__name_hash(path, len);
    memcpy(dir->path, path, len);
    return dir;
}

static void free_dir(struct bb__dir *dir)
{
    if (dir) bb__name_set_free(&dir->names);
    free(dir);
}

static struct bb__dir *find_hashed(const struct bb__dir_tree *tree, unsigned root, const char *path,
                                   size_t len, uint64_t hash)
{
    if (len == 0) return tree->roots[root];
    struct bb__dir *dir = tree->buckets[hash % BB_DIR_BUCKETS];
    while (dir &&
           !(dir->hash == hash && dir->root == root && dir->len == len && memcmp(dir->path, path, len) == 0))
        dir = dir->next;
    return dir;
}

static struct bb__dir *find(const struct bb__dir_tree *tree, unsigned root, const char *path, size_t len)
{
    return find_hashed(tree, root, path, len, bb__name_hash(path, len));
}

static void forget_all(struct bb__dir_tree *tree)
{
    for (unsigned i = 0; i < BB_DIR_BUCKETS; i++) {
        for (struct bb__dir *dir = tree->buckets[i], *next; dir; dir = next) {
            next = dir->next;
            free_dir(dir);
        }
        tree->buckets[i] = NULL;
    }
    tree->count = 0;
    tree->name_count = 0;
}

int bb__dir_tree_open(struct bb__dir_tree *tree, const struct bb_public *pub)
{
    *tree = (struct bb__dir_tree){.pub = pub};
    tree->roots = calloc(pub->directory_count, sizeof *tree->roots);
    if (!tree->roots) return BB_ENOMEM;
    for (unsigned root = 0; root < pub->directory_count; root++)
        if (!(tree->roots[root] = new_dir(root, "", 0))) return BB_ENOMEM;
    return BB_OK;
}

void bb__dir_tree_close(struct bb__dir_tree *tree)
{
    forget_all(tree);
    for (unsigned root = 0; tree->roots && root < tree->pub->directory_count; root++)
        free_dir(tree->roots[root]);
    free(tree->roots);
}

/* ---- asking ---- */

static inline bool has(const struct bb__dir *dir, uint64_t hash)
{
    return !dir->is_missing && bb__name_set_has(&dir->names, hash);
}

static bool is_old(const struct bb__dir *dir, uint64_t now)
{
    return bb__elapsed(now, dir->looked_at) >= BB_FILE_VALID;
}

/* The directory of a file, and the hash of the file's name. */
struct place {
    const struct bb__dir *dir;
    uint64_t hash;
};

/* Walks to the directory of the file. BB_DIR_PERHAPS: *place is known. */
static enum bb__dir_verdict walk(const struct bb__dir_tree *tree, unsigned root,
                                 const struct bb__file_path *path, uint64_t now, size_t *asked,
                                 struct place *place)
{
    const char *name = path->path + 1, *end = name + path->len, *segment = name;
    for (;;) {
        size_t above = segment > name ? (size_t)(segment - name - 1) : 0;
        const struct bb__dir *dir = find(tree, root, name, above);
        if (!dir || !dir->is_read || (dir->len > 0 && is_old(dir, now))) {
            *asked = above;
            return BB_DIR_ASK;
        }
        const char *slash = memchr(segment, '/', (size_t)(end - segment));
        *place = (struct place){dir, bb__name_hash(segment, (size_t)((slash ? slash : end) - segment))};
        if (!slash) return BB_DIR_PERHAPS;
        if (!has(dir, place->hash)) return BB_DIR_NO_FILE;
        segment = slash + 1;
    }
}

enum bb__dir_verdict bb__dir_tree_has(const struct bb__dir_tree *tree, unsigned root,
                                      const struct bb__file_path *path, uint64_t now, size_t *asked)
{
    struct place place;
    enum bb__dir_verdict verdict = walk(tree, root, path, now, asked, &place);
    return verdict == BB_DIR_PERHAPS && !has(place.dir, place.hash) ? BB_DIR_NO_FILE : verdict;
}

/* The hash of the name with ".html" goes on from the hash of the name. */
static bool has_html(const struct bb__dir *dir, uint64_t hash)
{
    for (const char *at = ".html"; *at; at++) hash = bb__name_hash_add(hash, *at);
    return has(dir, hash);
}

bool bb__dir_tree_excludes(const struct bb__dir_tree *tree, const struct bb__file_path *path, uint64_t now)
{
    struct place place;
    size_t asked;
    for (unsigned root = 0; root < tree->pub->directory_count; root++) {
        enum bb__dir_verdict verdict = walk(tree, root, path, now, &asked, &place);
        if (verdict == BB_DIR_ASK || path->len == 0) return false;
        if (verdict == BB_DIR_PERHAPS && (has(place.dir, place.hash) || has_html(place.dir, place.hash)))
            return false;
    }
    return true;
}

bool bb__dir_tree_has_sibling(const struct bb__dir_tree *tree, unsigned root,
                              const struct bb__file_path *path, const char *suffix)
{
    char name[BB_FILE_PATH_MAX + 8];
    const char *at = strrchr(path->path, '/') + 1;
    size_t len = (size_t)(path->path + 1 + path->len - at), suffix_len = strlen(suffix);
    const struct bb__dir *dir =
        find(tree, root, path->path + 1, at > path->path + 1 ? (size_t)(at - path->path - 2) : 0);
    if (!dir) return true;
    memcpy(name, at, len);
    memcpy(name + len, suffix, suffix_len);
    return has(dir, bb__name_hash(name, len + suffix_len));
}

bool bb__dir_tree_may_have(const struct bb__dir_tree *tree, const struct bb__first_segment *first)
{
    static const char index[] = "index.html";
    uint64_t hash = first->hash == BB_NAME_HASH ? bb__name_hash(index, sizeof index - 1) : first->hash;
    for (unsigned root = 0; root < tree->pub->directory_count; root++)
        if (has(tree->roots[root], hash) || (first->is_only && has_html(tree->roots[root], hash)))
            return true;
    return false;
}

/* ---- looking ---- */

int bb__dir_look(int root_fd, const char *path, enum bb__find_mode mode, const struct bb__file_stamp *known,
                 struct bb__dir_look *look)
{
    int fd;
    *look = (struct bb__dir_look){0};
    int code = bb__directory_open_at(root_fd, path, mode, &fd, &look->stamp);
    if (code == BB_EOF) {
        look->is_missing = true;
        return BB_OK;
    }
    if (code == BB_ESYSTEM && errno == EACCES) { /* its files may be readable */
        look->has_names = look->names.is_full = true;
        return BB_OK;
    }
    if (code != BB_OK) return code;
    bool reads = !known || !bb__file_stamp_is_same(&look->stamp, known);
    if (reads && mode == BB_FIND_AT_ONCE) code = BB_AGAIN;
    if (reads && mode == BB_FIND_WAITING) {
        code = bb__name_set_read(&look->names, fd);
        look->has_names = true;
    }
    (void)close(fd);
    if (code != BB_OK) bb__name_set_free(&look->names);
    return code;
}

const struct bb__file_stamp *bb__dir_tree_known(const struct bb__dir_tree *tree, unsigned root,
                                                const char *path, size_t len)
{
    const struct bb__dir *dir = find(tree, root, path, len);
    return dir && dir->is_read && !dir->is_young && !dir->is_missing ? &dir->stamp : NULL;
}

static struct bb__dir *add(struct bb__dir_tree *tree, unsigned root, const char *path, size_t len,
                           size_t more_names)
{
    if (tree->count >= BB_DIRS_MAX || tree->name_count + more_names > BB_DIR_NAMES_MAX) forget_all(tree);
    struct bb__dir *dir = new_dir(root, path, len);
    if (!dir) return NULL;
    dir->next = tree->buckets[dir->hash % BB_DIR_BUCKETS];
    tree->buckets[dir->hash % BB_DIR_BUCKETS] = dir;
    tree->count++;
    return dir;
}

int bb__dir_tree_put(struct bb__dir_tree *tree, unsigned root, const char *path, size_t len,
                     struct bb__dir_look *look, int64_t real_now, uint64_t now)
{
    struct bb__dir *dir = find(tree, root, path, len);
    if (!dir) dir = add(tree, root, path, len, look->names.count);
    if (!dir) {
        bb__name_set_free(&look->names);
        return BB_ENOMEM;
    }
    if (look->has_names || look->is_missing) {
        if (len > 0) tree->name_count += look->names.count - dir->names.count;
        bb__name_set_free(&dir->names);
        dir->names = look->names;
        dir->is_young = look->names.is_unread || bb__file_stamp_is_young(&look->stamp, real_now);
        dir->is_read = true;
    }
    dir->is_missing = look->is_missing;
    dir->stamp = look->stamp;
    dir->looked_at = now;
    return BB_OK;
}
