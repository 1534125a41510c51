/* h1_head_fuzz.c: parses any bytes as a request head. The result must be the same if the parser gets the
 * whole head, a part of it first, or one byte at a time, with and without the table of known field names. The
 * fuzzer reads an accepted head a second time, line by line. Both readings must agree.
 *
 * Input: the bytes of the head. The directory test/requests is also a corpus.
 */
#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "http/h1_head.h"
#include "support/guard.h"

#define MOST_FIELDS 64
#define LONGEST     4096

static const struct bb__head_limits wide = {LONGEST, LONGEST, MOST_FIELDS, false};
static const struct bb__head_limits tight = {24, 96, 4, true};

struct outcome {
    int code;
    size_t head_len;
    struct bb_head head;
    struct bb_field fields[MOST_FIELDS];
};

static struct guard guard;
static struct bb__field_names *names;

static void parse(const char *bytes, size_t len, const struct bb__head_limits *limits,
                  struct bb__field_names *known, struct outcome *outcome)
{
    const char *at = guard_put(&guard, bytes, len);
    int code = bb__head_parse(at, len, limits, known, outcome->fields, &outcome->head, &outcome->head_len);
    assert(code == BB_OK || code == BB_AGAIN || (bb__is_reason(code) && code < BB_REASONS_END));
    outcome->code = bb__is_reason(code) ? bb__reasons[code].status : code;
}

/* ---- the same result for any cut ---- */

static void check_cut(const char *bytes, size_t len, const struct bb__head_limits *limits,
                      const struct outcome *whole)
{
    static struct outcome part;
    size_t step = len / 48 + 1;
    for (size_t here = 0; here < len; here += step) {
        parse(bytes, here, limits, here % 2 ? names : NULL, &part);
        assert(part.code == BB_AGAIN || part.code == whole->code);
        if (whole->code == BB_OK) assert((part.code == BB_OK) == (here >= whole->head_len));
    }
}

/* Parses as a connection does. First parses a part of the head. Then adds byte by byte, and parses again each
 * time that the head may have ended. */
static void check_drip(const char *bytes, size_t len, const struct bb__head_limits *limits,
                       const struct outcome *whole)
{
    static struct outcome part;
    size_t seen = len / 3;
    parse(bytes, seen, limits, names, &part);
    for (size_t here = seen + 1; here <= len && part.code == BB_AGAIN; here++)
        if (bb__head_ended(bytes, here, &seen)) parse(bytes, here, limits, names, &part);
    if (whole->code == BB_OK) assert(part.code == BB_OK);
    assert(part.code == BB_AGAIN || part.code == whole->code);
    if (part.code == BB_AGAIN) assert(!memmem(bytes, len, "\r\n\r\n", 4));
}

/* ---- accepted heads ---- */

static void check_inside(struct bb_slice slice, const char *start, size_t len)
{
    if (!slice.at)
        assert(slice.len == 0);
    else if (slice.len != 1 || *slice.at != '/')
        assert(slice.at >= start && slice.at + slice.len <= start + len);
}

static void check_slices(const struct bb_head *head, size_t len)
{
    const char *start = guard.wall - len;
    check_inside(head->method, start, len);
    check_inside(head->target, start, len);
    check_inside(head->path, start, len);
    check_inside(head->query, start, len);
    check_inside(head->authority, start, len);
    check_inside(head->host, head->authority.at, head->authority.len);
    check_inside(head->port, head->authority.at, head->authority.len);
    for (unsigned i = 0; i < head->field_count; i++) {
        const struct bb_field *field = &head->fields[i];
        check_inside((struct bb_slice){field->name, field->name_len}, start, len);
        check_inside((struct bb_slice){field->value, field->value_len}, start, len);
    }
}

static bool same_name(const struct bb_field *left, const struct bb_field *right)
{
    return left->name_len == right->name_len && strncasecmp(left->name, right->name, left->name_len) == 0;
}

/* A name has one id, and an id has one name. `repeats` must be set if a name occurs twice. */
static void check_ids(const struct bb_head *head)
{
    for (unsigned i = 0; i < head->field_count; i++) {
        const struct bb_field *field = &head->fields[i];
        for (unsigned j = 0; j < i; j++) {
            const struct bb_field *other = &head->fields[j];
            bool same = same_name(field, other);
            if (same)
                assert(head->repeats && field->id == other->id && field->kind == other->kind);
            else
                assert(field->id == 0 || field->id != other->id);
        }
    }
}

/* A field line, split into name and value. The fuzzer splits the line without the parser's scanners and
 * without the table of names. */
struct line {
    char name[LONGEST], value[LONGEST];
};

static const char *read_line(const char *at, const char *end, struct line *line)
{
    const char *stop = memmem(at, (size_t)(end - at), "\r\n", 2),
               *colon = memchr(at, ':', (size_t)(end - at));
    assert(stop && colon && colon < stop && colon > at);
    memcpy(line->name, at, (size_t)(colon - at));
    line->name[colon - at] = '\0';
    for (const char *byte = line->name; *byte; byte++)
        assert(*byte > ' ' && *byte < 0x7f && !strchr("\"(),/:;<=>?@[\\]{}", *byte));
    const char *value = colon + 1, *last = stop;
    while (value < last && strchr(" \t", *value)) value++;
    while (last > value && strchr(" \t", last[-1])) last--;
    memcpy(line->value, value, (size_t)(last - value));
    line->value[last - value] = '\0';
    assert(strlen(line->value) == (size_t)(last - value)); /* no NUL */
    assert(!strpbrk(line->value, "\r\n\x7f\x1b\x01\v\f"));
    return stop + 2;
}

static void check_field(const struct bb_field *field, const struct line *line, bool absolute)
{
    assert(field->name_len == strlen(line->name) && memcmp(field->name, line->name, field->name_len) == 0);
    if (absolute && field->kind == BB_FIELD_HOST) return;
    assert(field->value_len == strlen(line->value) &&
           memcmp(field->value, line->value, field->value_len) == 0);
}

static void check_fields(const struct bb_head *head, const char *at, const char *end,
                         const struct bb__head_limits *limits)
{
    unsigned lines = 0, kept = 0, hosts = 0, lengths = 0, codings = 0;
    bool absolute = *head->target.at != '/' && *head->target.at != '*';
    while (at < end) {
        static struct line line;
        at = read_line(at, end, &line);
        lines++;
        if (strcasecmp(line.name, "proxy") == 0 || (strchr(line.name, '_') && !limits->allow_underscores))
            continue;
        assert(kept < head->field_count);
        check_field(&head->fields[kept++], &line, absolute);
        hosts += strcasecmp(line.name, "host") == 0;
        codings += strcasecmp(line.name, "transfer-encoding") == 0;
        if (strcasecmp(line.name, "transfer-encoding") == 0) assert(strcasecmp(line.value, "chunked") == 0);
        if (strcasecmp(line.name, "content-length") != 0) continue;
        lengths++;
        assert(*line.value && strspn(line.value, "0123456789") == strlen(line.value));
        assert(head->content_length == strtoull(line.value, NULL, 10));
    }
    assert(kept == head->field_count && lines <= limits->max_fields);
    assert(hosts <= 1 && (hosts == 1 || head->minor_version == 0));
    assert(lengths == head->has_length && codings == head->chunked && lengths + codings <= 1);
    assert(codings == 0 || head->minor_version == 1);
}

static void check_accepted(const struct outcome *whole, size_t len, const struct bb__head_limits *limits)
{
    const struct bb_head *head = &whole->head;
    const char *start = guard.wall - len, *end = start + whole->head_len;
    const char *fields = memmem(head->target.at, (size_t)(end - head->target.at), "\r\n", 2);
    assert(whole->head_len <= len && memcmp(end - 4, "\r\n\r\n", 4) == 0 && fields);
    assert(memmem(fields, (size_t)(end - fields), "\r\n\r\n", 4) == end - 4);
    assert(head->method.len >= 1 && head->method.len <= 32);
    assert(head->target.len >= 1 && head->target.len <= limits->max_target);
    assert((size_t)(end - 2 - (fields + 2)) <= limits->max_field_bytes);
    assert(head->path.len >= 1 && (*head->path.at == '/' || *head->path.at == '*') &&
           !memchr(head->path.at, '?', head->path.len));
    check_slices(head, len);
    check_ids(head);
    check_fields(head, fields + 2, end - 2, limits);
}

/* ---- one input ---- */

static void check(const char *bytes, size_t len, const struct bb__head_limits *limits)
{
    static struct outcome nameless, whole;
    parse(bytes, len, limits, NULL, &nameless);
    for (int round = 0; round < 2; round++) {
        parse(bytes, len, limits, names, &whole);
        assert(whole.code == nameless.code);
        if (whole.code != BB_OK) continue;
        assert(whole.head_len == nameless.head_len && whole.head.field_count == nameless.head.field_count);
        check_accepted(&whole, len, limits);
    }
    if (nameless.code == BB_OK) check_accepted(&nameless, len, limits);
    check_cut(bytes, len, limits, &whole);
    check_drip(bytes, len, limits, &whole);
}

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    (void)argc;
    (void)argv;
    guard = guard_new(LONGEST);
    return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    /* The table of names is replaced every 4096 runs. So the inputs meet an empty, a partly filled and a full
     * table. */
    static unsigned runs;
    if (size > LONGEST) return 0;
    if (runs++ % 4096 == 0) {
        bb__field_names_free(names);
        names = bb__field_names_new();
        assert(names);
    }
    check((const char *)data, size, &wide);
    check((const char *)data, size, &tight);
    return 0;
}
