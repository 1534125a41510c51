/* h1_reply_fuzz.c: runs the response encoder with an application that returns any status, fields and body.
 * The head must consist, byte by byte, of the lines of the accepted fields and of the encoder's own lines.
 * The body on the wire must match the application's parts.
 *
 * The input has these parts, separated by 0x1f: switches ("H" HEAD, "0" HTTP/1.0, "k" keep-alive, "c" chunked
 * transfer, "l" length known, "s" Server), the status, the name and value of each field, an empty name, then
 * the body parts.
 */
#include <assert.h>
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "support/encode.h"

#define SEPARATOR 0x1f

struct input {
    const char *at, *end;
};

static struct bb_slice next_element(struct input *input)
{
    struct bb_slice element = {input->at, (size_t)(input->end - input->at)};
    const char *separator = memchr(input->at, SEPARATOR, element.len);
    if (separator != NULL) element.len = (size_t)(separator - input->at);
    input->at = separator != NULL ? separator + 1 : input->end;
    return element;
}

static bool has(struct bb_slice element, char letter)
{
    return memchr(element.at, letter, element.len) != NULL;
}

/* ---- the head ---- */

/* The encoder does not copy these fields from the application. It copies Upgrade with two statuses only. */
static const char *const kept_back[] = {"connection", "keep-alive",     "proxy-connection",
                                        "te",         "content-length", "transfer-encoding"};
/* The encoder copies these fields only if they have a value. */
static const char *const needs_value[] = {"date", "server", "upgrade"};

struct model {
    struct bb__buf head; /* status line and fields copied from the application */
    bool has_date, has_server;
    unsigned lines;
};

static bool is_name(struct bb_slice name, const char *lower)
{
    return name.len == strlen(lower) && strncasecmp(name.at, lower, name.len) == 0;
}

static bool is_kept_back(struct bb_slice name)
{
    for (size_t i = 0; i < sizeof kept_back / sizeof *kept_back; ++i)
        if (is_name(name, kept_back[i])) return true;
    return false;
}

static bool lacks_value(struct bb_slice name, struct bb_slice value)
{
    for (size_t i = 0; i < value.len; ++i)
        if (value.at[i] != ' ' && value.at[i] != '\t') return false;
    for (size_t i = 0; i < sizeof needs_value / sizeof *needs_value; ++i)
        if (is_name(name, needs_value[i])) return true;
    return false;
}

static bool is_token(struct bb_slice name)
{
    for (size_t i = 0; i < name.len; ++i) {
        unsigned char byte = (unsigned char)name.at[i];
        if (byte == 0 || byte >= 0x7f || (!isalnum(byte) && strchr("!#$%&'*+-.^_`|~", byte) == NULL))
            return false;
    }
    return name.len > 0;
}

static bool is_text(struct bb_slice value)
{
    for (size_t i = 0; i < value.len; ++i) {
        unsigned char byte = (unsigned char)value.at[i];
        if ((byte < ' ' && byte != '\t') || byte == 0x7f) return false;
    }
    return true;
}

static void model_append(struct model *model, struct bb_slice bytes)
{
    int code = bb__buf_append(&model->head, bytes.at, bytes.len);
    assert(code == BB_OK);
    (void)code;
}

static void model_line(struct model *model, struct bb_slice name, struct bb_slice value)
{
    model_append(model, name);
    model_append(model, (struct bb_slice){": ", 2});
    model_append(model, value);
    model_append(model, (struct bb_slice){"\r\n", 2});
    ++model->lines;
    if (is_name(name, "date")) model->has_date = true;
    if (is_name(name, "server")) model->has_server = true;
}

static void model_field(struct model *model, int status, struct bb_slice name, struct bb_slice value)
{
    if (is_kept_back(name) || lacks_value(name, value)) return;
    if (is_name(name, "upgrade") && status != 101 && status != 426) return;
    model_line(model, name, value);
}

static void model_start(struct model *model, const struct encode *encode)
{
    model->lines = 1;
    model->has_date = model->has_server = false;
    bb__buf_clear(&model->head);
    model_append(model, (struct bb_slice){bb__buf_bytes(&encode->out), bb__buf_len(&encode->out)});
}

/* After a rejected field the response goes on without it, or starts again as a 500. The 500 must have no byte
 * of the first attempt. */
static void encode_fields(struct encode *encode, struct model *model, struct input *input)
{
    model_start(model, encode);
    for (;;) {
        struct bb_slice name = next_element(input);
        if (name.len == 0) return;
        struct bb_slice value = next_element(input);
        int code = bb__h1_reply_field(&encode->reply, &encode->out, name.at, name.len, value.at, value.len);
        assert((code == BB_ENAME) == !is_token(name));
        assert(code == BB_OK || code == BB_EVALUE || code == BB_ENAME);
        if (code == BB_OK) {
            assert(is_text(value));
            model_field(model, encode->reply.status, name, value);
            continue;
        }
        assert(code == BB_ENAME || !is_text(value) || is_kept_back(name));
        if (value.len % 2 == 0) continue;
        code = bb__h1_reply_start(&encode->reply, &encode->out, 500);
        assert(code == BB_OK);
        model_start(model, encode);
    }
}

static unsigned own_lines(const struct bb__h1_reply *reply, const struct model *model, const char *server)
{
    bool says_length =
        reply->has_length && !reply->has_chunked && reply->status >= 200 && reply->status != 204;
    bool is_chunked = reply->framing == BB_FRAMING_CHUNKED || reply->framing == BB_FRAMING_APP_CHUNKED;
    assert(!says_length || !is_chunked);
    return !model->has_date + (*server != '\0' && !model->has_server) + says_length + is_chunked +
           (!reply->keep_alive || reply->minor_version == 0 || reply->has_upgrade) + 1 /* the empty line */;
}

static void check_head(const struct encode *encode, const struct model *model, const char *server)
{
    const char *head = bb__buf_bytes(&encode->out);
    size_t len = bb__buf_len(&encode->out), passed = bb__buf_len(&model->head);
    assert(len > passed && memcmp(head, bb__buf_bytes(&model->head), passed) == 0);

    unsigned lines = 0;
    for (size_t i = 0; i < len; ++i) {
        unsigned char byte = (unsigned char)head[i];
        assert(byte >= ' ' || byte == '\t' || byte == '\r' || byte == '\n');
        assert((byte == '\r') == (i + 1 < len && head[i + 1] == '\n'));
        assert(byte != '\n' || i < 3 || memcmp(head + i - 3, "\r\n\r\n", 4) != 0 || i == len - 1);
        lines += byte == '\n';
    }
    assert(memcmp(head + len - 4, "\r\n\r\n", 4) == 0);
    assert(lines == model->lines + own_lines(&encode->reply, model, server));
}

/* ---- the body ---- */

/* Appends all decoded bytes of `in`. Sets *whole if the body ends exactly at the end of `in`. */
static void decode_all(struct bb__buf *out, struct bb_slice in, bool *whole)
{
    struct bb__body decoder;
    bb__body_start_chunked(&decoder, UINT32_MAX, UINT32_MAX);
    size_t offset = 0;
    int code = BB_AGAIN;
    while (code == BB_AGAIN && offset < in.len) {
        struct bb_slice run;
        size_t used;
        code = bb__body_decode(&decoder, in.at + offset, in.len - offset, &used, &run);
        offset += used;
        int appended = bb__buf_append(out, run.at, run.len);
        assert(appended == BB_OK);
        (void)appended;
    }
    *whole = code == BB_OK && offset == in.len;
}

static bool is_equal(struct bb_slice wire, struct bb_slice bytes)
{
    return wire.len == bytes.len && memcmp(wire.at, bytes.at, wire.len) == 0;
}

static bool begins_with(struct bb_slice whole, struct bb_slice start)
{
    return start.len <= whole.len && memcmp(whole.at, start.at, start.len) == 0;
}

/* given: the application's parts, joined. wire: the bytes that the encoder sends for these parts. */
static void check_body(const struct bb__h1_reply *reply, struct bb_slice given, struct bb_slice wire,
                       int ended)
{
    struct bb__buf decoded = {0};
    bool whole = false;
    assert(bb__buf_reserve(&decoded, 1) == BB_OK);
    switch ((enum bb__framing)reply->framing) {
    case BB_FRAMING_NONE:
        assert(wire.len == 0 && ended == BB_OK);
        break;
    case BB_FRAMING_LENGTH:
        assert(begins_with(given, wire));
        assert(wire.len == (given.len < reply->content_length ? given.len : reply->content_length));
        assert((ended == BB_OK) == (wire.len == reply->content_length));
        assert(wire.len == given.len || !reply->keep_alive);
        break;
    case BB_FRAMING_CHUNKED:
        decode_all(&decoded, wire, &whole);
        assert(whole && ended == BB_OK);
        assert(is_equal((struct bb_slice){bb__buf_bytes(&decoded), bb__buf_len(&decoded)}, given));
        break;
    case BB_FRAMING_APP_CHUNKED:
        decode_all(&decoded, wire, &whole);
        assert(begins_with(given, wire) && whole == (ended == BB_OK));
        assert(wire.len == given.len || !reply->keep_alive);
        break;
    case BB_FRAMING_APP_DECODED:
        decode_all(&decoded, given, &whole);
        assert(is_equal(wire, (struct bb_slice){bb__buf_bytes(&decoded), bb__buf_len(&decoded)}));
        assert(!whole || ended == BB_OK);
        break;
    case BB_FRAMING_CLOSE:
        assert(is_equal(wire, given) && ended == BB_OK);
        break;
    }
    bool until_close = reply->framing == BB_FRAMING_CLOSE || reply->framing == BB_FRAMING_APP_DECODED;
    assert(!reply->keep_alive || (!until_close && ended == BB_OK));
    bb__buf_free(&decoded);
}

static void encode_and_check_body(struct encode *encode, struct input input)
{
    struct bb__buf given = {0};
    assert(bb__buf_reserve(&given, 1) == BB_OK && bb__buf_reserve(&encode->wire, 1) == BB_OK);
    size_t head_len = bb__buf_len(&encode->wire);
    while (input.at < input.end) {
        struct bb_slice part = next_element(&input);
        assert(bb__buf_append(&given, part.at, part.len) == BB_OK);
        (void)encode_part(encode, part.at, part.len);
    }
    int ended = encode_end(encode);
    struct bb_slice body = {bb__buf_bytes(&given), bb__buf_len(&given)};
    struct bb_slice wire = {bb__buf_bytes(&encode->wire) + head_len, bb__buf_len(&encode->wire) - head_len};
    check_body(&encode->reply, body, wire, ended);
    bb__buf_free(&given);
}

static size_t joined_length(struct input input)
{
    size_t len = 0;
    while (input.at < input.end) len += next_element(&input).len;
    return len;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct input input = {(const char *)data, (const char *)data + size};
    struct bb_slice switches = next_element(&input), status = next_element(&input);
    char digits[8] = "";
    memcpy(digits, status.at, status.len < sizeof digits - 1 ? status.len : sizeof digits - 1);

    struct encode encode = {.reply = {.head_method = has(switches, 'H'),
                                      .minor_version = !has(switches, '0'),
                                      .keep_alive = has(switches, 'k'),
                                      .chunked_transfer = has(switches, 'c')}};
    struct model model = {.lines = 0};
    const char *server = has(switches, 's') ? "bontebok" : "";
    int code = bb__h1_reply_start(&encode.reply, &encode.out, atoi(digits));
    assert((code == BB_OK) == (atoi(digits) >= 100 && atoi(digits) <= 999));
    if (code == BB_OK) {
        encode_fields(&encode, &model, &input);
        uint64_t body_length = has(switches, 'l') ? joined_length(input) : BB_LENGTH_UNKNOWN;
        code = bb__h1_reply_head(&encode.reply, &encode.out, body_length, &encode.date, server);
        assert(code == BB_OK);
        check_head(&encode, &model, server);
        encode_and_check_body(&encode, input);
    }
    encode_free(&encode);
    bb__buf_free(&model.head);
    return 0;
}
