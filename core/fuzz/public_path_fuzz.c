/* public_path_fuzz.c: decodes any bytes as the path of a file, and compares the result with a second reader.
 * No name leaves the directory: it has no "..", no NUL, and no empty segment. If the bytes are the head of a
 * request, the ranges of a small file that it gets are inside the file.
 *
 * Input: a path, or the head of a request.
 */
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "files/file_path.h"
#include "http/h1_head.h"
#include "http/h1_reply_file.h"
#include "support/guard.h"

#define LONGEST     (3 * BB_FILE_PATH_MAX)
#define MOST_FIELDS 64

static struct guard guard;

/* ---- the second reader ---- */

/* Writes the decoded bytes. Returns their number, or -1. */
static long unescape(const char *path, size_t len, char *to)
{
    long count = 0;
    for (size_t i = 0; i < len; i++) {
        char digits[3] = {0}, *end;
        to[count++] = path[i];
        if (path[i] != '%') continue;
        if (i + 2 >= len) return -1;
        memcpy(digits, path + i + 1, 2);
        if (strspn(digits, "0123456789abcdefABCDEF") != 2) return -1;
        to[count - 1] = (char)strtol(digits, &end, 16);
        if (to[count - 1] == '/') return -1;
        i += 2;
    }
    return count;
}

/* Looks at the decoded text. Returns the length of the name with its first "/", or 0. */
static size_t accepted(const char *path, size_t len, char *to)
{
    long count = unescape(path, len, to);
    if (count < 1 || to[0] != '/' || memchr(to, '\0', (size_t)count) || memchr(to, '\\', (size_t)count))
        return 0;
    to[count] = '\0';
    if (count >= BB_FILE_PATH_MAX || strstr(to, "//")) return 0;
    for (const char *at = to; (at = strstr(at, "/.")); at++) {
        size_t segment = 1 + strcspn(at + 1, "/");
        if (at > to || segment != 12 || memcmp(at, "/.well-known", 12) != 0) return 0;
    }
    if (count > 1 && to[count - 1] == '/') to[--count] = '\0';
    return (size_t)count;
}

/* ---- the name ---- */

static void check_name(const struct bb__file_path *name)
{
    assert(name->path[0] == '/' && strlen(name->path) == 1 + name->len && name->len + 2 <= BB_FILE_PATH_MAX);
    assert(name->hash == bb__name_hash(name->path + 1, name->len));
    assert(!strstr(name->path, "//") && !strchr(name->path, '\\'));
    assert(!strstr(name->path, "/./") && !strstr(name->path, "/../"));
    assert(name->len == 0 || name->path[name->len] != '/');
    for (const char *at = name->path; (at = strstr(at, "/.")); at++)
        assert(at == name->path && memcmp(at, "/.well-known", 12) == 0);
}

static void check_candidates(const struct bb__file_path *name)
{
    static const char *const suffixes[BB_CANDIDATES] = {"", ".html", "/index.html"};
    for (int each = 0; each < BB_CANDIDATES; each++) {
        struct bb__file_path to;
        if (!bb__file_path_candidate(name, each, &to)) continue;
        check_name(&to);
        const char *suffix = suffixes[each] + (name->len == 0);
        assert(memcmp(to.path, name->path, 1 + name->len) == 0);
        assert(strcmp(to.path + 1 + name->len, suffix) == 0);
    }
}

/* A first segment that needs no decoding is also the first segment of the name. */
static void check_first(struct bb_slice path, const struct bb__file_path *name)
{
    const struct bb__first_segment first = bb__file_path_first(path);
    if (!first.is_plain) return;
    size_t len = strcspn(name->path + 1, "/");
    assert(first.hash == bb__name_hash(name->path + 1, len) && first.is_only == (len == name->len));
}

static void check_path(struct bb_slice path)
{
    static char second[LONGEST + 1];
    struct bb__file_path name;
    const char *at = guard_put(&guard, path.at, path.len);
    const struct bb_slice exact = {at, path.len};
    size_t len = accepted(path.at, path.len, second);
    bool found = bb__file_path_decode(exact, &name);
    assert(found == (len > 0));
    if (!found) return;
    assert(len == 1 + name.len && memcmp(second, name.path, len) == 0);
    check_name(&name);
    check_candidates(&name);
    check_first(exact, &name);
}

/* ---- the ranges ---- */

static void check_body(const struct bb__file_body *body, uint64_t size)
{
    uint64_t length = 0;
    size_t text = 0;
    for (unsigned i = 0; i < body->count; i++) {
        assert(body->pieces[i].first <= size && body->pieces[i].len <= size - body->pieces[i].first);
        length += body->pieces[i].text_len + body->pieces[i].len;
        text += body->pieces[i].text_len;
    }
    assert(length == body->length && text == bb__buf_len(&body->text));
}

static void check_ranges(const struct bb_head *request)
{
    static const char own[] = "HTTP/1.1 200 OK\r\nContent-Type: text/css\r\nLast-Modified: Tue, 14 Nov 2023 "
                              "22:13:20 GMT\r\nETag: \"17979cfe362a0000-a\"\r\nAccept-Ranges: bytes\r\n";
    struct bb__h1_reply reply = {.status = 200, .has_length = true, .content_length = 10};
    struct bb__buf head = {0};
    struct bb__file_body body;
    char boundary[BB_BOUNDARY_LEN];
    memset(boundary, 'b', sizeof boundary);
    assert(bb__buf_append(&head, own, sizeof own - 1) == BB_OK);
    assert(bb__h1_reply_file(&reply, &head, request, 10, boundary, &body) == BB_OK);
    assert(reply.status == 200 || reply.status == 206 || reply.status == 416);
    assert((bb__h1_reply_find(&head, "content-range").at != NULL) ==
           (reply.status == 416 || (reply.status == 206 && body.count == 1)));
    check_body(&body, 10);
    if (reply.status == 416) assert(body.length == 0);
    if (reply.status == 200) assert(body.length == 10 && bb__buf_len(&body.text) == 0);
    bb__buf_free(&body.text);
    bb__buf_free(&head);
}

/* ---- the target ---- */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const struct bb__head_limits limits = {LONGEST, LONGEST, MOST_FIELDS, false};
    static struct bb_field fields[MOST_FIELDS];
    struct bb_head head;
    size_t len;
    const char *bytes = (const char *)data;
    if (size > LONGEST) return 0;
    if (!guard.map) guard = guard_new(LONGEST);
    check_path((struct bb_slice){bytes, size});
    if (bb__head_parse(bytes, size, &limits, NULL, fields, &head, &len) != BB_OK) return 0;
    check_path(head.path);
    check_ranges(&head);
    return 0;
}
