/* h1_head.c: see h1_head.h. The parser judges each byte only by the bytes before it. So a malformed head
 * gives the same status whether it comes whole or byte by byte. The first mistake decides the reason and its
 * status. */
#include "http/h1_head.h"

#include <string.h>

#include "http/h1_fields.h"
#include "http/h1_scan.h"
#include "http/h1_target.h"

#define METHOD_MAX 32
#define LONGEST    ((size_t)UINT32_MAX / 2) /* upper bound of all limits, because value_len has 32 bits */

struct input {
    const char *at;  /* the next byte */
    const char *end; /* the end of the bytes that have come, or of the bytes that a limit allows */
    int ran_out;     /* result if `end` is reached: BB_AGAIN, or the reason of the limit */
};

/* Returns `whole`, cut after `limit` plus `more` bytes. If the parser reaches this end, the result is
 * `reason`. */
static struct input limited(struct input whole, size_t limit, size_t more, enum bb__reason reason)
{
    size_t max = (limit < LONGEST ? limit : LONGEST) + more;
    if (max <= (size_t)(whole.end - whole.at)) {
        whole.end = whole.at + max;
        whole.ran_out = (int)reason;
    }
    return whole;
}

/* Returns the reason to reject a head because of this byte. Many tools that send invalid requests end their
 * lines with LF, so LF has a reason of its own. */
static enum bb__reason unexpected(char byte, enum bb__reason reason)
{
    return byte == '\n' ? BB_REASON_BARE_LF : reason;
}

/* otherwise: the reason to reject a byte that is neither CR nor LF. */
static int take_crlf(struct input *input, enum bb__reason otherwise)
{
    if (input->at == input->end) return input->ran_out;
    if (input->at[0] != '\r') return unexpected(input->at[0], otherwise);
    if (input->end - input->at == 1) return input->ran_out;
    if (input->at[1] != '\n') return BB_REASON_BARE_CR;
    input->at += 2;
    return BB_OK;
}

/* ---- request line (RFC 9112 3) ---- */

/* RFC 9112 2.2: skips one empty line before the request line. Some clients send it after a body. */
static int skip_empty_line(struct input *input)
{
    if (input->at < input->end && *input->at == '\r') return take_crlf(input, BB_REASON_BARE_CR);
    return BB_OK;
}

/* A TLS record of a handshake begins with 0x16. Version 2 of the PROXY protocol begins with CR LF CR LF NUL,
 * and the first CR LF is skipped as an empty line. */
static enum bb__reason no_method(const struct input *input, const char *stop)
{
    size_t here = (size_t)(input->end - input->at);
    if (stop > input->at) return unexpected(*stop, BB_REASON_BAD_METHOD);
    if (*stop == 0x16) return BB_REASON_TLS;
    if (here >= 3 && memcmp(stop, "\r\n\0", 3) == 0) return BB_REASON_PROXY_PROTOCOL;
    return unexpected(*stop, BB_REASON_BAD_METHOD);
}

static int parse_method(struct input *whole, struct bb_head *head)
{
    struct input input = limited(*whole, METHOD_MAX, 1, BB_REASON_LONG_METHOD);
    const char *stop = bb__scan_token(input.at, input.end);
    if (stop == input.end) return input.ran_out;
    if (*stop != ' ' || stop == input.at) return no_method(&input, stop);
    head->method = (struct bb_slice){input.at, (size_t)(stop - input.at)};
    if (head->method.len == 7 && memcmp(head->method.at, "CONNECT", 7) == 0) return BB_REASON_CONNECT;
    whole->at = stop + 1;
    return BB_OK;
}

/* A request of HTTP/0.9 ends after the target. */
static enum bb__reason no_target(const struct input *input, const char *stop)
{
    bool is_at_end = *stop == '\r' && stop > input->at;
    return unexpected(*stop, is_at_end ? BB_REASON_BAD_VERSION : BB_REASON_BAD_TARGET);
}

/* *mark: the first "?" of the target, or the target's end. */
static int parse_target(struct input *whole, const struct bb__head_limits *limits, struct bb_head *head,
                        const char **mark)
{
    struct input input = limited(*whole, limits->max_target, 1, BB_REASON_LONG_TARGET);
    const char *stop = *mark = bb__scan_path(input.at, input.end);
    if (stop < input.end && *stop == '?') stop = bb__scan_target(stop, input.end);
    if (stop == input.end) return input.ran_out;
    if (*stop != ' ' || stop == input.at) return no_target(&input, stop);
    head->target = (struct bb_slice){input.at, (size_t)(stop - input.at)};
    whole->at = stop + 1;
    return BB_OK;
}

/* RFC 9112 2.3. If the major version is unknown, as in the HTTP/2 preface, the next bytes are not read. */
static int parse_version(struct input *input, struct bb_head *head)
{
    if (input->end - input->at >= 10 && memcmp(input->at, "HTTP/1.1\r\n", 10) == 0) {
        head->minor_version = 1;
        input->at += 10;
        return BB_OK;
    }
    static const char form[] = "HTTP/0.0";
    for (size_t i = 0; i < sizeof form - 1; i++, input->at++) {
        if (input->at == input->end) return input->ran_out;
        bool digit = *input->at >= '0' && *input->at <= '9';
        if (form[i] == '0' ? !digit : *input->at != form[i])
            return unexpected(*input->at, BB_REASON_BAD_VERSION);
    }
    if (input->at[-3] != '1') return BB_REASON_VERSION;
    head->minor_version = input->at[-1] != '0';
    return take_crlf(input, BB_REASON_BAD_VERSION);
}

/* Returns a more exact reason if the request line is that of another protocol: "PRI * HTTP/2.0", or "PROXY
 * TCP4 192.0.2.1 ...". The status stays the same. */
static int other_protocol(const struct bb_head *head, int code)
{
    const struct bb_slice *method = &head->method;
    bool is_http2 = method->len == 3 && memcmp(method->at, "PRI", 3) == 0;
    bool is_proxy = method->len == 5 && memcmp(method->at, "PROXY", 5) == 0;
    if (code == BB_REASON_VERSION && is_http2) return BB_REASON_HTTP2;
    if (code == BB_REASON_BAD_VERSION && is_proxy) return BB_REASON_PROXY_PROTOCOL;
    return code;
}

static int parse_request_line(struct input *input, const struct bb__head_limits *limits, struct bb_head *head)
{
    const char *mark;
    int code = skip_empty_line(input);
    if (code == BB_OK) code = parse_method(input, head);
    if (code == BB_OK) code = parse_target(input, limits, head, &mark);
    if (code == BB_OK) code = parse_version(input, head);
    if (code == BB_OK) return bb__target_split(head, mark);
    return bb__is_reason(code) ? other_protocol(head, code) : code;
}

/* ---- fields (RFC 9112 5) ---- */

/* Why the bytes up to `stop` are not a name, which must be a token. */
static enum bb__reason no_name(const struct input *input, const char *stop)
{
    bool blank = bb__is_blank(*stop);
    if (blank) return stop == input->at ? BB_REASON_FOLDED_LINE : BB_REASON_SPACE_IN_NAME;
    return unexpected(*stop, BB_REASON_BAD_NAME);
}

/* Parses a name and its colon. */
static int parse_name(struct input *input, struct bb__field_names *names, uint8_t previous,
                      struct bb_field *field)
{
    const struct bb__guess *guess = names ? &names->after[previous] : NULL;
    struct bb__name name;
    field->name = input->at;
    if (guess && bb__guess_holds(guess, input->at, input->end)) {
        name = guess->name;
        field->name_len = name.len;
    } else {
        const char *stop = bb__scan_token(input->at, input->end);
        size_t len = (size_t)(stop - input->at);
        if (stop == input->end) return input->ran_out;
        if (*stop != ':' || len == 0) return no_name(input, stop);
        if (len > UINT16_MAX) return BB_REASON_LARGE_FIELDS;
        name = bb__field_names_find(names, previous, input->at, len);
        field->name_len = (uint16_t)len;
    }
    field->id = name.id;
    field->kind = name.kind;
    input->at += field->name_len + 1;
    return BB_OK;
}

static int parse_value(struct input *input, struct bb_field *field)
{
    const char *at = input->at;
    while (at < input->end && bb__is_blank(*at)) at++;
    const char *stop = bb__scan_value(at, input->end);
    input->at = stop;
    int code = take_crlf(input, BB_REASON_CONTROL_BYTE);
    if (code != BB_OK) return code;
    while (stop > at && bb__is_blank(stop[-1])) stop--;
    field->value = at;
    field->value_len = (uint32_t)(stop - at);
    return BB_OK;
}

/* Returns whether the application must not see the field. A name with "_" and the same name with "-" have the
 * same CGI name. With "_" a client could imitate a field that a proxy sets or removes. The field Proxy would
 * become HTTP_PROXY, an environment variable in which programs look for the address of their proxy. */
static bool is_dropped(const struct bb_field *field, const struct bb__head_limits *limits)
{
    return field->kind == BB_FIELD_PROXY ||
           (field->kind == BB_FIELD_UNDERSCORE && !limits->allow_underscores);
}

/* The ids of the fields so far. Id 0 stands for each name that is not in the table of field names
 * (h1_field_names.h). */
struct met {
    uint64_t bits[BB_NAME_IDS / 64];
};

static bool meet(struct met *met, const struct bb_field *field)
{
    uint64_t *bits = &met->bits[field->id / 64], bit = (uint64_t)1 << field->id % 64;
    bool again = (*bits & bit) != 0;
    *bits |= bit;
    return again || field->kind == BB_FIELD_UNDERSCORE; /* another field may have the same CGI name */
}

static int parse_fields(struct input *whole, const struct bb__head_limits *limits,
                        struct bb__field_names *names, struct bb_field *fields, struct bb_head *head)
{
    /* The limit is for the field lines, without the empty line after them. */
    struct input input = limited(*whole, limits->max_field_bytes, 2, BB_REASON_LARGE_FIELDS);
    struct bb__field_facts facts = {0};
    struct met met = {0};
    uint8_t previous = 0;
    for (unsigned lines = 0;; lines++) {
        if (input.at == input.end) return input.ran_out;
        if (*input.at == '\r') break;
        if (lines == limits->max_fields) return BB_REASON_MANY_FIELDS;

        struct bb_field *field = &fields[head->field_count];
        int code = parse_name(&input, names, previous, field);
        if (code == BB_OK) code = parse_value(&input, field);
        if (code != BB_OK) return code;
        previous = field->id;
        if (is_dropped(field, limits)) continue;
        if (meet(&met, field)) head->repeats = true;
        if (field->kind != BB_FIELD_OTHER) code = bb__field_understand(head, &facts, field);
        if (code != BB_OK) return code;
        head->field_count++;
    }
    int code = take_crlf(&input, BB_REASON_BARE_CR);
    whole->at = input.at;
    return code == BB_OK ? bb__fields_end(head, &facts) : code;
}

/* ---- the whole head ---- */

int bb__head_parse(const char *buf, size_t len, const struct bb__head_limits *limits,
                   struct bb__field_names *names, struct bb_field *fields, struct bb_head *head,
                   size_t *head_len)
{
    struct input input = {.at = buf, .end = buf + len, .ran_out = BB_AGAIN};
    static const struct bb_head blank; /* copied, because zeroing by the compiler is slow */
    *head = blank;
    head->fields = fields;
    int code = parse_request_line(&input, limits, head);
    if (code == BB_OK) code = parse_fields(&input, limits, names, fields, head);
    if (code == BB_OK) *head_len = (size_t)(input.at - buf);
    return code;
}

bool bb__head_ended(const char *buf, size_t len, size_t *seen)
{
    const char *at = buf + *seen, *end = buf + len, *feed;
    *seen = len;
    for (; (feed = memchr(at, '\n', (size_t)(end - at))); at = feed + 1) {
        if (feed == buf || feed[-1] != '\r') return true;
        if (feed - buf >= 2 && feed[-2] == '\n') return true;
    }
    return false;
}
