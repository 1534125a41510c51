/* h1_fields.c: see h1_fields.h. Host, Content-Length and Transfer-Encoding decide which host the request is
 * for, and where the request ends. If a proxy could read one of these fields differently, the request is
 * rejected (RFC 9112 11.2). */
#include "http/h1_fields.h"

#include <string.h>

#include "base/letters.h"
#include "base/reason.h"
#include "http/h1_scan.h"
#include "http/h1_target.h"

static struct bb_slice value_of(const struct bb_field *field)
{
    return (struct bb_slice){field->value, field->value_len};
}

bool bb__field_element(struct bb_slice *rest, struct bb_slice *element)
{
    if (!rest->at) return false;
    const char *at = rest->at, *end = at + rest->len;
    const char *comma = memchr(at, ',', rest->len);
    *rest = comma ? (struct bb_slice){comma + 1, (size_t)(end - comma - 1)} : (struct bb_slice){NULL, 0};
    if (comma) end = comma;
    *element = bb__trim(at, end);
    return true;
}

/* RFC 9112 3.2.2: the authority of an absolute target replaces the value of Host. An HTTP/1.0 client may
 * send an empty Host, which names no host. */
static int understand_host(struct bb_head *head, struct bb__field_facts *facts, struct bb_field *field)
{
    if (facts->host) return BB_REASON_TWO_HOSTS;
    facts->host = true;

    struct bb_slice authority = value_of(field), host = {0}, port = {0};
    bool nameless = authority.len == 0 && head->minor_version == 0;
    if (!nameless && !bb__authority_split(authority, &host, &port)) return BB_REASON_BAD_HOST;
    if (head->authority.at) {
        field->value = head->authority.at;
        field->value_len = (uint32_t)head->authority.len;
    } else if (!nameless) {
        head->authority = authority;
        head->host = host;
        head->port = port;
    }
    return BB_OK;
}

/* A request may have one Content-Length, which has only digits. RFC 9110 8.6 allows a list of equal lengths,
 * but the core rejects it. */
static int understand_content_length(struct bb_head *head, const struct bb_field *field)
{
    if (head->has_length) return BB_REASON_TWO_LENGTHS;
    if (head->chunked) return BB_REASON_LENGTH_AND_CHUNKED;
    if (field->value_len == 0) return BB_REASON_BAD_LENGTH;
    uint64_t length = 0;
    for (const char *at = field->value, *end = at + field->value_len; at < end; at++) {
        if (*at < '0' || *at > '9') return BB_REASON_BAD_LENGTH;
        uint64_t digit = (uint64_t)(*at - '0');
        if (length > (UINT64_MAX - digit) / 10) return BB_REASON_BAD_LENGTH;
        length = length * 10 + digit;
    }
    head->content_length = length;
    head->has_length = true;
    return BB_OK;
}

/* RFC 9112 6.1. Only `chunked` is understood. Another coding gives 501; a value that is not a coding gives
 * 400. */
static int understand_transfer_encoding(struct bb_head *head, const struct bb_field *field)
{
    if (head->minor_version == 0) return BB_REASON_CODING_IN_1_0;
    if (head->has_length) return BB_REASON_LENGTH_AND_CHUNKED;
    struct bb_slice rest = value_of(field), element;
    while (bb__field_element(&rest, &element)) {
        const char *end = element.at + element.len, *stop = bb__scan_token(element.at, end);
        struct bb_slice coding = {element.at, (size_t)(stop - element.at)};
        while (stop < end && bb__is_blank(*stop)) stop++;
        bool parameters = stop < end;
        if (coding.len == 0 || (parameters && *stop != ';')) return BB_REASON_BAD_CODING;
        if (!bb__is_word(coding.at, coding.len, "chunked")) return BB_REASON_UNKNOWN_CODING;
        if (parameters || head->chunked) return BB_REASON_BAD_CODING;
        head->chunked = true;
    }
    return BB_OK;
}

static void understand_connection(struct bb__field_facts *facts, const struct bb_field *field)
{
    /* Nearly all clients that send Connection send this value. */
    if (field->value_len == 10 && memcmp(field->value, "keep-alive", 10) == 0) {
        facts->keep_alive = true;
        return;
    }
    struct bb_slice rest = value_of(field), option;
    while (bb__field_element(&rest, &option)) {
        if (bb__is_word(option.at, option.len, "close")) facts->close = true;
        if (bb__is_word(option.at, option.len, "keep-alive")) facts->keep_alive = true;
        if (bb__is_word(option.at, option.len, "upgrade")) facts->upgrade = true;
    }
}

/* RFC 9110 10.1.1: 100-continue is the only expectation. It must be ignored in an HTTP/1.0 request. */
static int understand_expect(struct bb_head *head, const struct bb_field *field)
{
    struct bb_slice rest = value_of(field), expectation;
    while (bb__field_element(&rest, &expectation)) {
        if (expectation.len == 0) continue; /* the list of expectations may be empty */
        if (!bb__is_word(expectation.at, expectation.len, "100-continue")) return BB_REASON_EXPECTATION;
        head->expect_continue = head->minor_version > 0;
    }
    return BB_OK;
}

int bb__field_understand(struct bb_head *head, struct bb__field_facts *facts, struct bb_field *field)
{
    switch (field->kind) {
    case BB_FIELD_HOST:
        return understand_host(head, facts, field);
    case BB_FIELD_CONTENT_LENGTH:
        return understand_content_length(head, field);
    case BB_FIELD_TRANSFER_ENCODING:
        return understand_transfer_encoding(head, field);
    case BB_FIELD_CONNECTION:
        understand_connection(facts, field);
        return BB_OK;
    case BB_FIELD_EXPECT:
        return understand_expect(head, field);
    case BB_FIELD_REQUEST_START:
        head->has_start = true;
        return BB_OK;
    case BB_FIELD_UPGRADE:
        head->upgrade = field->value_len > 0;
        return BB_OK;
    default:
        return BB_OK;
    }
}

int bb__fields_end(struct bb_head *head, const struct bb__field_facts *facts)
{
    if (head->minor_version > 0 && !facts->host) return BB_REASON_NO_HOST;
    head->keep_alive = !facts->close && (head->minor_version > 0 || facts->keep_alive);
    /* RFC 9110 7.8: an Upgrade without the connection option may have come through a proxy that does not know
     * it. An HTTP/1.0 client cannot upgrade. */
    head->upgrade = head->upgrade && facts->upgrade && head->minor_version > 0;
    return BB_OK;
}

const struct bb_field *bb__field_next(const struct bb_head *head, const char *name, unsigned *place)
{
    size_t len = strlen(name);
    while (*place < head->field_count) {
        const struct bb_field *field = &head->fields[(*place)++];
        if (field->name_len == len && bb__is_same_word(field->name, name, len)) return field;
    }
    return NULL;
}

struct bb_slice bb__field_only(const struct bb_head *head, const char *name, bool *several)
{
    struct bb_slice found = {0};
    const struct bb_field *field;
    for (unsigned place = 0; (field = bb__field_next(head, name, &place));) {
        *several |= found.at != NULL;
        found = value_of(field);
    }
    return found;
}
