/* h1_reply_file.c: see h1_reply_file.h. The head is the status line and the fields that the application has
 * set; each line ends with CRLF. */
#include "http/h1_reply_file.h"
#include "http/h1_fields.h"
#include "http/h1_scan.h"
#include "http/h1_status.h"

#include <stdio.h>
#include <string.h>

/* ---- the fields of a head ---- */

/* A line of the head. The first line, the status line, has no name. */
struct line {
    const char *at, *end; /* `end` is after the CRLF */
    struct bb_slice name, value;
};

/* Reads the line after *line, or the first line if line->at is NULL. Returns false at the end of the head. */
static bool next_line(const struct bb__buf *head, struct line *line)
{
    const char *begin = bb__buf_bytes(head), *end = begin + bb__buf_len(head);
    bool is_first = !line->at;
    line->at = is_first ? begin : line->end;
    if (line->at == end) return false;
    const char *feed = memchr(line->at, '\n', (size_t)(end - line->at));
    line->end = feed + 1;
    const char *colon = is_first ? NULL : memchr(line->at, ':', (size_t)(feed - line->at));
    line->name = (struct bb_slice){line->at, colon ? (size_t)(colon - line->at) : 0};
    line->value = colon ? bb__trim(colon + 1, feed - 1) : (struct bb_slice){0};
    return true;
}

static bool is_named(const struct line *line, const char *name)
{
    return bb__is_word(line->name.at, line->name.len, name);
}

struct bb_slice bb__h1_reply_find(const struct bb__buf *head, const char *name)
{
    struct bb_slice found = {0};
    for (struct line line = {0}; next_line(head, &line);)
        if (is_named(&line, name)) found = line.value;
    return found;
}

void bb__h1_reply_remove(struct bb__buf *head, const char *name)
{
    for (struct line line = {0}; next_line(head, &line);) {
        if (!is_named(&line, name)) continue;
        size_t place = (size_t)(line.at - head->data), after = (size_t)(line.end - head->data);
        memmove(head->data + place, head->data + after, head->end - after);
        head->end -= after - place;
        line.end = line.at;
    }
}

static bool begins_with(const struct line *line, const char *prefix)
{
    size_t len = strlen(prefix);
    return line->name.len > len && bb__is_word(line->name.at, len, prefix);
}

/* Fields of a file that a 416 must not have. With Cache-Control or Expires, a cache could store the 416 as
 * the response to a request without Range. */
static bool is_about_the_file(const struct line *line)
{
    static const char *const names[] = {"etag", "last-modified", "cache-control", "expires"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (is_named(line, names[i])) return true;
    return begins_with(line, "content-");
}

/* Makes the head again, with another status. Fields for which is_dropped() returns true are left out. */
static int change_status(struct bb__h1_reply *reply, struct bb__buf *head, int status,
                         bool (*is_dropped)(const struct line *))
{
    struct bb__buf changed = {0};
    if (bb__buf_reserve(&changed, bb__buf_len(head) + BB_STATUS_LINE_MAX) != BB_OK) return BB_ENOMEM;
    changed.end = bb__h1_put_status_line(changed.data, status);
    struct line line = {0};
    for (bool is_first = true; next_line(head, &line); is_first = false) {
        if (is_first || is_dropped(&line)) continue;
        bb__put(changed.data + changed.end, line.at, (size_t)(line.end - line.at));
        changed.end += (size_t)(line.end - line.at);
    }
    bb__buf_free(head);
    *head = changed;
    reply->status = status;
    return BB_OK;
}

/* ---- several ranges ---- */

/* "Content-Range: bytes " with three numbers. */
#define RANGE_LINE_MAX 96

static int add_text(struct bb__file_body *body, const char *boundary, struct bb_slice type,
                    const struct bb__range *range, uint64_t size)
{
    struct bb__buf *text = &body->text;
    size_t before = bb__buf_len(text);
    if (bb__buf_reserve(text, 2 * RANGE_LINE_MAX + BB_BOUNDARY_LEN + type.len) != BB_OK) return BB_ENOMEM;
    char *at = text->data + text->end;
    if (before > 0) at = BB_PUT_LITERAL(at, "\r\n");
    at = BB_PUT_LITERAL(at, "--");
    at = bb__put(at, boundary, BB_BOUNDARY_LEN);
    if (!range) {
        at = BB_PUT_LITERAL(at, "--\r\n");
    } else {
        if (type.at) {
            at = BB_PUT_LITERAL(at, "\r\nContent-Type: ");
            at = bb__put(at, type.at, type.len);
        }
        at += sprintf(at, "\r\nContent-Range: bytes %llu-%llu/%llu\r\n\r\n", (unsigned long long)range->first,
                      (unsigned long long)(range->first + range->len - 1), (unsigned long long)size);
    }
    text->end = (size_t)(at - text->data);
    body->pieces[body->count].text_len = bb__buf_len(text) - before;
    return BB_OK;
}

static void add_piece(struct bb__file_body *body, uint64_t first, uint64_t len)
{
    struct bb__file_piece *piece = &body->pieces[body->count++];
    piece->first = first;
    piece->len = len;
    body->length += piece->text_len + len;
}

static bool is_type(const struct line *line)
{
    return is_named(line, "content-type");
}

static int answer_ranges(struct bb__h1_reply *reply, struct bb__buf *head, uint64_t size,
                         const char *boundary, const struct bb__range *ranges, unsigned count,
                         struct bb__file_body *body)
{
    static const char type[] = "Content-Type: multipart/byteranges; boundary=";
    struct bb_slice own_type = bb__h1_reply_find(head, "content-type");
    for (unsigned i = 0; i < count; i++) {
        if (add_text(body, boundary, own_type, &ranges[i], size) != BB_OK) return BB_ENOMEM;
        add_piece(body, ranges[i].first, ranges[i].len);
    }
    if (add_text(body, boundary, own_type, NULL, size) != BB_OK) return BB_ENOMEM;
    add_piece(body, 0, 0);
    if (change_status(reply, head, 206, is_type) != BB_OK ||
        bb__buf_reserve(head, sizeof type + BB_BOUNDARY_LEN + 2) != BB_OK)
        return BB_ENOMEM;
    char *at = BB_PUT_LITERAL(head->data + head->end, type);
    at = bb__put(at, boundary, BB_BOUNDARY_LEN);
    at = BB_PUT_LITERAL(at, "\r\n");
    head->end = (size_t)(at - head->data);
    return BB_OK;
}

/* ---- one range or none ---- */

static bool is_kept(const struct line *line)
{
    (void)line;
    return false;
}

static int add_line(struct bb__buf *head, const char *line, int len)
{
    return bb__buf_append(head, line, (size_t)len);
}

static int answer_range(struct bb__h1_reply *reply, struct bb__buf *head, uint64_t size,
                        const struct bb__range *range, struct bb__file_body *body)
{
    char line[RANGE_LINE_MAX];
    int len = sprintf(line, "Content-Range: bytes %llu-%llu/%llu\r\n", (unsigned long long)range->first,
                      (unsigned long long)(range->first + range->len - 1), (unsigned long long)size);
    add_piece(body, range->first, range->len);
    if (change_status(reply, head, 206, is_kept) != BB_OK) return BB_ENOMEM;
    return add_line(head, line, len);
}

static int answer_unsatisfiable(struct bb__h1_reply *reply, struct bb__buf *head, uint64_t size)
{
    char line[RANGE_LINE_MAX];
    int len = sprintf(line, "Content-Range: bytes */%llu\r\n", (unsigned long long)size);
    if (change_status(reply, head, 416, is_about_the_file) != BB_OK) return BB_ENOMEM;
    return add_line(head, line, len);
}

/* ---- 304 ---- */

/* A cache has these fields already. Last-Modified is only needed without an ETag. */
static bool is_in_cache(const struct line *line)
{
    if (is_named(line, "content-location")) return false;
    return begins_with(line, "content-") || is_named(line, "accept-ranges") ||
           is_named(line, "last-modified");
}

int bb__h1_reply_not_modified(struct bb__h1_reply *reply, struct bb__buf *head)
{
    reply->has_length = false;
    return change_status(reply, head, 304, is_in_cache);
}

/* ---- the choice ---- */

bool bb__h1_reply_takes_file(const struct bb__h1_reply *reply, const struct bb__buf *head, uint64_t size)
{
    if (reply->status < 200 || reply->status == 204 || reply->status == 205 || reply->status == 206 ||
        reply->status == 304 || reply->has_chunked)
        return false;
    return (!reply->has_length || reply->content_length <= size) &&
           !bb__h1_reply_find(head, "content-range").at;
}

bool bb__h1_asks_for_ranges(const struct bb_head *request)
{
    bool several = false;
    return bb__field_only(request, "range", &several).at != NULL;
}

static enum bb__range_verdict judge(const struct bb__buf *head, const struct bb_head *request, uint64_t size,
                                    struct bb__range ranges[BB_RANGES_MAX], unsigned *count)
{
    bool several = false;
    struct bb_slice range = bb__field_only(request, "range", &several);
    if (!range.at || several) return BB_RANGE_WHOLE;
    struct bb_slice condition = bb__field_only(request, "if-range", &several);
    if (several || (condition.at && !bb__range_condition_holds(condition, bb__h1_reply_find(head, "etag"),
                                                               bb__h1_reply_find(head, "last-modified"))))
        return BB_RANGE_WHOLE;
    enum bb__range_verdict verdict = bb__range_parse(range, size, ranges, count);
    /* The encoding would apply to the multipart body as well, and the client could not decode it. */
    return *count > 1 && bb__h1_reply_find(head, "content-encoding").at ? BB_RANGE_WHOLE : verdict;
}

static bool is_get(const struct bb_head *request)
{
    return request->method.len == 3 && memcmp(request->method.at, "GET", 3) == 0;
}

/* Announces ranges, unless the application has the field. *refused: its value is "none" (RFC 9110 14.3). */
static int announce_ranges(struct bb__buf *head, bool *refused)
{
    static const char line[] = "Accept-Ranges: bytes\r\n";
    struct bb_slice own = bb__h1_reply_find(head, "accept-ranges");
    *refused = own.at && bb__is_word(own.at, own.len, "none");
    return own.at ? BB_OK : bb__buf_append(head, line, sizeof line - 1);
}

int bb__h1_reply_file(struct bb__h1_reply *reply, struct bb__buf *head, const struct bb_head *request,
                      uint64_t size, const char boundary[BB_BOUNDARY_LEN], struct bb__file_body *body)
{
    struct bb__range ranges[BB_RANGES_MAX];
    unsigned count = 0;
    bool refused = true;
    enum bb__range_verdict verdict = BB_RANGE_WHOLE;
    int code = BB_OK;
    body->count = 0;
    body->length = 0;
    body->text = (struct bb__buf){0};
    body->pieces[0].text_len = 0;
    if (reply->has_length) size = reply->content_length;
    if (reply->status == 200 && (is_get(request) || reply->head_method))
        code = announce_ranges(head, &refused);
    if (code == BB_OK && !refused && is_get(request)) verdict = judge(head, request, size, ranges, &count);

    if (verdict == BB_RANGE_UNSATISFIABLE)
        code = answer_unsatisfiable(reply, head, size);
    else if (verdict == BB_RANGE_PARTS && count == 1)
        code = answer_range(reply, head, size, ranges, body);
    else if (verdict == BB_RANGE_PARTS)
        code = answer_ranges(reply, head, size, boundary, ranges, count, body);
    else if (code == BB_OK)
        add_piece(body, 0, size);
    reply->has_length = true;
    reply->content_length = body->length;
    return code;
}
