/* precondition.c: see precondition.h. */
#include "representation/precondition.h"

#include <string.h>

#include "base/letters.h"
#include "http/h1_fields.h"
#include "http/h1_scan.h"
#include "representation/http_date.h"

/* ---- entity tags (RFC 9110 8.8.3) ---- */

/* etagc: visible characters without the quote, and obs-text. */
static bool is_etag_byte(char byte)
{
    uint8_t value = (uint8_t)byte;
    return value > ' ' && value != '"' && value != 0x7f;
}

/* Returns the end of the entity tag at `at`, or NULL if there is none. */
static const char *scan_etag(const char *at, const char *end)
{
    if (end - at >= 2 && at[0] == 'W' && at[1] == '/') at += 2;
    if (at == end || *at++ != '"') return NULL;
    while (at < end && is_etag_byte(*at)) at++;
    return at < end && *at == '"' ? at + 1 : NULL;
}

/* Takes the next element of a list of entity tags. *tag: the element; `at` is NULL if it is not an entity
 * tag. Returns false if no element is left. */
static bool take_tag(struct bb_slice *rest, struct bb_slice *tag)
{
    const char *at = rest->at, *end = at + rest->len;
    while (at < end && (bb__is_blank(*at) || *at == ',')) at++;
    if (at == end) return false;
    const char *stop = scan_etag(at, end), *next = stop ? stop : at;
    while (next < end && bb__is_blank(*next)) next++;
    bool is_tag = stop && (next == end || *next == ',');
    *tag = is_tag ? (struct bb_slice){at, (size_t)(stop - at)} : (struct bb_slice){0};
    const char *comma = memchr(next, ',', (size_t)(end - next));
    *rest = comma ? (struct bb_slice){comma, (size_t)(end - comma)} : (struct bb_slice){end, 0};
    return true;
}

/* The tag without W/. */
static struct bb_slice opaque(struct bb_slice tag)
{
    return tag.at[0] == 'W' ? (struct bb_slice){tag.at + 2, tag.len - 2} : tag;
}

/* RFC 9110 8.8.3.2. In the strong comparison, a weak tag equals no tag. */
static bool is_same_tag(struct bb_slice one, struct bb_slice other, bool strong)
{
    if (!one.at || !other.at) return false;
    struct bb_slice left = opaque(one), right = opaque(other);
    if (strong && (left.at != one.at || right.at != other.at)) return false;
    return left.len == right.len && memcmp(left.at, right.at, left.len) == 0;
}

/* ---- the fields ---- */

/* The result of a field, or of all fields of a name. */
enum answer { NOT_ASKED, YES, NO };

/* Whether a field If-Match or If-None-Match has the tag. */
static enum answer match_tags(const struct bb_head *request, const char *name, struct bb_slice etag,
                              bool strong)
{
    enum answer answer = NOT_ASKED;
    const struct bb_field *field;
    for (unsigned place = 0; (field = bb__field_next(request, name, &place));) {
        struct bb_slice rest = {field->value, field->value_len}, tag;
        if (rest.len == 1 && *rest.at == '*') return YES;
        while (take_tag(&rest, &tag))
            if (is_same_tag(tag, etag, strong)) return YES;
        answer = NO;
    }
    return answer;
}

/* Whether the representation was modified after the date of a field. */
static enum answer is_modified_since(const struct bb_head *request, const char *name,
                                     const struct bb__validators *validators, int64_t now)
{
    bool several = false;
    int64_t date;
    struct bb_slice value = bb__field_only(request, name, &several);
    if (!value.at || several || !validators->has_modified || !bb__http_date_parse(value, now, &date))
        return NOT_ASKED;
    return validators->modified > date ? YES : NO;
}

enum bb__precondition bb__precondition_check(const struct bb_head *request,
                                             const struct bb__validators *validators, int64_t now)
{
    enum answer match = match_tags(request, "if-match", validators->etag, true);
    if (match == NO) return BB_PRECONDITION_FAILED;
    if (match == NOT_ASKED && is_modified_since(request, "if-unmodified-since", validators, now) == YES)
        return BB_PRECONDITION_FAILED;

    enum answer none_match = match_tags(request, "if-none-match", validators->etag, false);
    if (none_match == YES) return BB_PRECONDITION_NOT_MODIFIED;
    if (none_match == NOT_ASKED && is_modified_since(request, "if-modified-since", validators, now) == NO)
        return BB_PRECONDITION_NOT_MODIFIED;
    return BB_PRECONDITION_HOLDS;
}

bool bb__is_conditional(const struct bb_head *request)
{
    const struct bb_field *end = request->fields + request->field_count;
    for (const struct bb_field *field = request->fields; field < end; field++) {
        if (field->name_len < 5) continue;        /* Range is the shortest */
        char first = (char)(*field->name | 0x20); /* in lower case, if it is a letter */
        if (first == 'i' && bb__is_same_word(field->name, "if-", 3)) return true;
        if (first == 'r' && bb__is_word(field->name, field->name_len, "range")) return true;
    }
    return false;
}
