/* h1_reply_fields.c: see h1_reply.h. Sorts the application's fields: most are passed on, some are only noted
 * because the core writes them, some are dropped. Also checks names and values, because an application may
 * put unchecked user input into a field. User input must not become another field (response splitting). */
#include "http/h1_reply.h"
#include "http/h1_scan.h"

enum kind { PASSED, CONTENT_LENGTH, TRANSFER_ENCODING, CONNECTION, DATE, SERVER, UPGRADE, DROPPED };

/* `lower` is in lower case. "| 0x20" also turns some control bytes into "-" or ".". This does no harm,
 * because names have no control bytes, and values are compared only with words of letters. */
static inline bool is_same(const char *name, const char *lower, size_t len)
{
    for (size_t i = 0; i < len; ++i)
        if ((name[i] | 0x20) != lower[i]) return false;
    return true;
}

#define IS(literal) is_same(name, (literal), sizeof(literal) - 1)

/* Fields about this connection belong to the core (RFC 9110 7.6.1). For an ordinary name, only the length and
 * at most a few letters are compared. */
static enum kind kind_of(const char *name, size_t len)
{
    switch (len) {
    case 2:
        return IS("te") ? DROPPED : PASSED;
    case 4:
        return IS("date") ? DATE : PASSED;
    case 6:
        return IS("server") ? SERVER : PASSED;
    case 7:
        return IS("upgrade") ? UPGRADE : PASSED;
    case 10:
        if (IS("connection")) return CONNECTION;
        return IS("keep-alive") ? DROPPED : PASSED;
    case 14:
        return IS("content-length") ? CONTENT_LENGTH : PASSED;
    case 16:
        return IS("proxy-connection") ? DROPPED : PASSED;
    case 17:
        return IS("transfer-encoding") ? TRANSFER_ENCODING : PASSED;
    }
    return PASSED;
}

static int pass(struct bb__buf *out, struct bb_slice name, struct bb_slice value)
{
    size_t len = name.len + value.len + 4;
    if (bb__buf_room(out) < len && bb__buf_reserve(out, len) != BB_OK) return BB_ENOMEM;
    char *at = bb__put(out->data + out->end, name.at, name.len);
    at = BB_PUT_LITERAL(at, ": ");
    at = bb__put(at, value.at, value.len);
    BB_PUT_LITERAL(at, "\r\n");
    out->end += len;
    return BB_OK;
}

/* Rejects two different lengths, because a client could use one and a proxy the other. */
static int take_length(struct bb__h1_reply *reply, struct bb_slice digits)
{
    uint64_t length = 0;
    for (size_t i = 0; i < digits.len; ++i) {
        unsigned digit = (unsigned)(digits.at[i] - '0');
        if (digit > 9 || length > (UINT64_MAX - digit) / 10) return BB_EVALUE;
        length = length * 10 + digit;
    }
    if (reply->has_length && length != reply->content_length) return BB_EVALUE;
    reply->has_length = true;
    reply->content_length = length;
    return BB_OK;
}

/* Takes the next item of a comma-separated list; the item may be empty. Returns false at the list's end. */
static bool next_item(struct bb_slice *list, struct bb_slice *item)
{
    if (list->at == NULL) return false;
    const char *end = list->at + list->len;
    const char *comma = memchr(list->at, ',', list->len);
    *item = bb__trim(list->at, comma != NULL ? comma : end);
    *list = comma != NULL ? (struct bb_slice){comma + 1, (size_t)(end - comma - 1)} : (struct bb_slice){0};
    return true;
}

static bool item_is(struct bb_slice item, const char *lower, size_t len)
{
    return item.len == len && is_same(item.at, lower, len);
}

#define ITEM_IS(item, literal) item_is((item), (literal), sizeof(literal) - 1)

/* Accepts only "chunked", which every HTTP/1.1 client understands, and only once (RFC 9112 6.1). Other
 * codings need the client's TE field (7.4). "identity" is ignored. */
static int take_coding(struct bb__h1_reply *reply, struct bb_slice value)
{
    struct bb_slice item;
    bool has_chunked = reply->has_chunked;
    while (next_item(&value, &item)) {
        if (item.len == 0 || ITEM_IS(item, "identity")) continue;
        if (!ITEM_IS(item, "chunked") || has_chunked) return BB_EVALUE;
        has_chunked = true;
    }
    reply->has_chunked = has_chunked;
    return BB_OK;
}

static void take_connection(struct bb__h1_reply *reply, struct bb_slice value)
{
    struct bb_slice item;
    while (next_item(&value, &item))
        if (ITEM_IS(item, "close")) reply->has_close = true;
}

static int take(struct bb__h1_reply *reply, struct bb__buf *out, enum kind kind, struct bb_slice name,
                struct bb_slice value)
{
    /* Applications remove a field by nil or undef, which arrives as an empty value. */
    struct bb_slice text = bb__trim(value.at, value.at + value.len);
    if (text.len == 0) return BB_OK;
    switch (kind) {
    case CONTENT_LENGTH:
        return take_length(reply, text);
    case TRANSFER_ENCODING:
        return take_coding(reply, value);
    case CONNECTION:
        take_connection(reply, value);
        return BB_OK;
    case DROPPED:
        return BB_OK;
    case DATE:
        reply->has_date = true;
        break;
    case SERVER:
        reply->has_server = true;
        break;
    case UPGRADE: /* with other statuses it would only be an offer, which no client needs */
        if (reply->status != 101 && reply->status != 426) return BB_OK;
        reply->has_upgrade = true;
        break;
    case PASSED:
        break;
    }
    return pass(out, name, value);
}

int bb__h1_reply_field(struct bb__h1_reply *reply, struct bb__buf *out, const char *name, size_t name_len,
                       const char *value, size_t value_len)
{
    struct bb_slice field_name = {name, name_len}, field_value = {value, value_len};
    if (name_len == 0 || bb__scan_token(name, name + name_len) != name + name_len) return BB_ENAME;
    if (bb__scan_value(value, value + value_len) != value + value_len) return BB_EVALUE;
    enum kind kind = kind_of(name, name_len);
    /* Nearly every field is passed on. */
    return kind == PASSED ? pass(out, field_name, field_value)
                          : take(reply, out, kind, field_name, field_value);
}
