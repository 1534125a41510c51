/* file_path.h: turns the path of a request into the name of a file below a directory of `public`. Used by
 * conn_public.c and file_cache.c. Asks no file system. */
#ifndef BB_FILE_PATH_H
#define BB_FILE_PATH_H

#include "bontebok.h"

/* Bytes of the longest name, with the first "/" and the NUL; also of a variant. PATH_MAX is 4096. */
#define BB_FILE_PATH_MAX 4000

/* FNV-1a. */
#define BB_NAME_HASH UINT64_C(14695981039346656037) /* of the empty name */
static inline uint64_t bb__name_hash_add(uint64_t hash, char byte)
{
    return (hash ^ (unsigned char)byte) * UINT64_C(1099511628211);
}

static inline uint64_t bb__name_hash(const char *at, size_t len)
{
    uint64_t hash = BB_NAME_HASH;
    for (size_t i = 0; i < len; i++) hash = bb__name_hash_add(hash, at[i]);
    return hash;
}

/* A decoded path. It has no "/" at the end. The root is empty. */
struct bb__file_path {
    size_t len;                  /* of the name: path + 1 */
    uint64_t hash;               /* of the name */
    char path[BB_FILE_PATH_MAX]; /* "/" and the name, NUL-terminated */
};

/* Decodes a path (RFC 3986 2.1) once. False: the path never names a file, so the application decides: "%"
 * without two hex digits, NUL, "%2F", a backslash, an empty segment, a segment that begins with "." (but
 * /.well-known), or a path that is too long. One "/" at the end is removed. */
bool bb__file_path_decode(struct bb_slice path, struct bb__file_path *to);

/* The first segment of a path, without decoding. */
struct bb__first_segment {
    bool is_plain; /* false: it needs decoding, and nothing else is known */
    bool is_only;  /* no other segment follows */
    uint64_t hash; /* bb__name_hash() of it; "/" has an empty one */
};

/* Bytes that end a plain first segment. */
extern const bool bb__ends_segment[256];

/* Runs for each request. path: begins with "/". */
static inline struct bb__first_segment bb__file_path_first(struct bb_slice path)
{
    const char *at = path.at + 1, *end = path.at + path.len;
    uint64_t hash = BB_NAME_HASH;
    for (; at < end && !bb__ends_segment[(unsigned char)*at]; at++) hash = bb__name_hash_add(hash, *at);
    if (at < end && *at != '/') return (struct bb__first_segment){0};
    return (struct bb__first_segment){true, at >= end - 1, hash};
}

/* The paths of the files that a path may stand for, in this order, as ActionDispatch::Static has them. */
enum bb__file_candidate {
    BB_CANDIDATE_PLAIN, /* /about */
    BB_CANDIDATE_HTML,  /* /about.html */
    BB_CANDIDATE_INDEX, /* /about/index.html */
    BB_CANDIDATES
};

/* Makes a candidate. `to` may not be `path`. False: there is no such candidate, because the path is the root
 * or has the extension of a known type (mime_types.h), or would be too long. */
bool bb__file_path_candidate(const struct bb__file_path *path, enum bb__file_candidate candidate,
                             struct bb__file_path *to);

/* Returns the extension of the last segment, without the dot. Empty: none. */
struct bb_slice bb__file_path_extension(const struct bb__file_path *path);

#endif
