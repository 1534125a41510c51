/* file_path.c: see file_path.h. */
#include "files/file_path.h"
#include "base/letters.h"
#include "representation/mime_types.h"

#include <string.h>

/* ---- decoding ---- */

const bool bb__ends_segment[256] = {['/'] = true, ['%'] = true, ['\\'] = true};

/* Decodes one byte at *at, and moves *at behind it. Returns -1 if no name of a file has this byte. */
static int next_byte(const char **at, const char *end)
{
    if (**at == '\\' || **at == '\0') return -1;
    if (**at != '%') return (unsigned char)*(*at)++;
    if (end - *at < 3) return -1;
    int high = bb__hex_value((*at)[1]), low = bb__hex_value((*at)[2]);
    if (high < 0 || low < 0) return -1;
    int byte = high * 16 + low;
    *at += 3;
    return byte == '\0' || byte == '/' || byte == '\\' ? -1 : byte;
}

/* Files that begin with a dot are not meant for the public. /.well-known is (RFC 8615). */
static bool is_hidden(const struct bb__file_path *path, size_t segment, size_t end)
{
    static const char well_known[] = ".well-known";
    const size_t len = sizeof well_known - 1;
    if (path->path[segment] != '.') return false;
    return segment != 1 || end - segment != len || memcmp(path->path + segment, well_known, len) != 0;
}

static bool finish(struct bb__file_path *to, size_t end)
{
    to->path[end] = '\0';
    to->len = end - 1;
    to->hash = bb__name_hash(to->path + 1, to->len);
    return true;
}

bool bb__file_path_decode(struct bb_slice path, struct bb__file_path *to)
{
    const char *at = path.at, *end = path.at + path.len;
    size_t len = 0, segment = 1; /* the place after the last "/" */
    if (path.len == 0 || *at != '/') return false;
    to->path[len++] = *at++;
    while (at < end) {
        bool ends = *at == '/';
        int byte = next_byte(&at, end);
        if (byte < 0 || len == BB_FILE_PATH_MAX - 1) return false;
        if (ends) {
            if (len == segment || is_hidden(to, segment, len)) return false;
            segment = len + 1;
        }
        to->path[len++] = (char)byte;
    }
    if (len == segment) return finish(to, len > 1 ? len - 1 : 1);
    return !is_hidden(to, segment, len) && finish(to, len);
}

/* ---- candidates ---- */

struct bb_slice bb__file_path_extension(const struct bb__file_path *path)
{
    const char *end = path->path + 1 + path->len, *at = end;
    while (at > path->path && at[-1] != '/' && at[-1] != '.') at--;
    bool found = at > path->path && at[-1] == '.';
    return found ? (struct bb_slice){at, (size_t)(end - at)} : (struct bb_slice){end, 0};
}

static bool has_type(const struct bb__file_path *path)
{
    struct bb_slice extension = bb__file_path_extension(path);
    return bb__mime_type(extension.at, extension.len) != NULL;
}

bool bb__file_path_candidate(const struct bb__file_path *path, enum bb__file_candidate candidate,
                             struct bb__file_path *to)
{
    static const char html[] = ".html", index[] = "/index.html";
    bool is_root = path->len == 0;
    const char *suffix = candidate == BB_CANDIDATE_HTML ? html : is_root ? index + 1 : index;
    size_t end = 1 + path->len, len = candidate == BB_CANDIDATE_PLAIN ? 0 : strlen(suffix);
    if (candidate != BB_CANDIDATE_INDEX && is_root) return false;
    if (len > 0 && (has_type(path) || end + len >= BB_FILE_PATH_MAX)) return false;
    memcpy(to->path, path->path, end);
    memcpy(to->path + end, suffix, len);
    return finish(to, end + len);
}
