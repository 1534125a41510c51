/* h1_body.c: see h1_body.h. The decoder is a state machine. It reads framing byte by byte. It takes many body
 * bytes at once (a run). A transition that is not in the table is rejected.
 *
 * Request smuggling needs two parsers that read the same bytes in different ways. Examples of such bytes are
 * the chunk sizes "0x5", "+5", " 5" and "5 ", a size that overflows, a bare LF in an extension, and data
 * without a following CRLF. All of these end in the state REFUSED. */
#include "http/h1_body.h"
#include "http/h1_scan.h"

#include <string.h>

/* RFC 9112 7.1. Each arrow stands for one byte, except "last byte": DATA and LENGTH take runs of bytes.
 *
 *   LENGTH --last byte--> DONE
 *
 *   START --hex--> SIZE --CR--> SIZE_LF --LF--> DATA --last byte--> DATA_CR --CR--> DATA_LF --LF--> START
 *                 (hex)            |
 *                                  '-- LF, size 0 --> LINE --CR--> END_LF --LF--> DONE
 *
 *   LINE --tchar--> NAME --":"--> VALUE --CR--> LINE_LF --LF--> LINE
 *                 (tchar)       (text)
 *
 * Extensions, 7.1.1: *( BWS ";" BWS token [ BWS "=" BWS ( token / quoted-string ) ] ). A blank is allowed
 * only beside a ";" or "=", so a blank at the end of the line is rejected. CR leads to SIZE_LF from every
 * state marked *.
 *
 *   SIZE*, EXT_TOKEN*, EXT_QUOTED_END*, EXT_NAME* --";"--> EXT_START --tchar--> EXT_NAME --"="--> EXT_VALUE
 *   SIZE, EXT_TOKEN, EXT_QUOTED_END --blank--> EXT_PAUSE --";"--> EXT_START
 *   EXT_NAME --blank--> EXT_NAME_PAUSE --";"--> EXT_START, or --"="--> EXT_VALUE
 *   EXT_VALUE --tchar--> EXT_TOKEN, or --DQUOTE--> EXT_QUOTED --DQUOTE--> EXT_QUOTED_END
 *   EXT_QUOTED --"\"--> EXT_ESCAPED --text--> EXT_QUOTED
 */
enum state {
    REFUSED, /* body->reason; every transition that is not in the table leads here */
    DONE,
    LENGTH,
    DATA,
    DATA_CR,
    DATA_LF,
    START,
    SIZE,
    SIZE_LF,
    EXT_PAUSE,
    EXT_START,
    EXT_NAME,
    EXT_NAME_PAUSE,
    EXT_VALUE,
    EXT_TOKEN,
    EXT_QUOTED,
    EXT_ESCAPED,
    EXT_QUOTED_END,
    LINE,
    NAME,
    VALUE,
    LINE_LF,
    END_LF,
    STATES
};

/* Each byte belongs to one class. TEXT: bytes that are allowed only in quoted strings and field values. */
enum byte_class {
    CONTROL,
    CR,
    LF,
    BLANK,
    HEX,
    TCHAR,
    SEMICOLON,
    EQUALS,
    COLON,
    DQUOTE,
    BACKSLASH,
    TEXT,
    CLASSES
};

#define ON_TOKEN(to) [HEX] = (to), [TCHAR] = (to)
#define ON_UNQUOTED(to)                                                                                      \
    ON_TOKEN(to), [BLANK] = (to), [SEMICOLON] = (to), [EQUALS] = (to), [COLON] = (to), [TEXT] = (to)
#define ON_TEXT(to) ON_UNQUOTED(to), [DQUOTE] = (to), [BACKSLASH] = (to)

/* clang-format off */
static const uint8_t next_state[STATES][CLASSES] = {
    [START]          = {[HEX] = SIZE},
    [SIZE]           = {[HEX] = SIZE, [CR] = SIZE_LF, [BLANK] = EXT_PAUSE, [SEMICOLON] = EXT_START},
    [SIZE_LF]        = {[LF] = DATA},
    [EXT_PAUSE]      = {[BLANK] = EXT_PAUSE, [SEMICOLON] = EXT_START},
    [EXT_START]      = {[BLANK] = EXT_START, ON_TOKEN(EXT_NAME)},
    [EXT_NAME]       = {ON_TOKEN(EXT_NAME), [CR] = SIZE_LF, [BLANK] = EXT_NAME_PAUSE, [SEMICOLON] = EXT_START,
                        [EQUALS] = EXT_VALUE},
    [EXT_NAME_PAUSE] = {[BLANK] = EXT_NAME_PAUSE, [SEMICOLON] = EXT_START, [EQUALS] = EXT_VALUE},
    [EXT_VALUE]      = {[BLANK] = EXT_VALUE, ON_TOKEN(EXT_TOKEN), [DQUOTE] = EXT_QUOTED},
    [EXT_TOKEN]      = {ON_TOKEN(EXT_TOKEN), [CR] = SIZE_LF, [BLANK] = EXT_PAUSE, [SEMICOLON] = EXT_START},
    [EXT_QUOTED]     = {ON_UNQUOTED(EXT_QUOTED), [BACKSLASH] = EXT_ESCAPED, [DQUOTE] = EXT_QUOTED_END},
    [EXT_ESCAPED]    = {ON_TEXT(EXT_QUOTED)},
    [EXT_QUOTED_END] = {[CR] = SIZE_LF, [BLANK] = EXT_PAUSE, [SEMICOLON] = EXT_START},
    [DATA_CR]        = {[CR] = DATA_LF},
    [DATA_LF]        = {[LF] = START},
    [LINE]           = {ON_TOKEN(NAME), [CR] = END_LF}, /* a blank here would be obs-fold (RFC 9112 5.2) */
    [NAME]           = {ON_TOKEN(NAME), [COLON] = VALUE},
    [VALUE]          = {ON_TEXT(VALUE), [CR] = LINE_LF},
    [LINE_LF]        = {[LF] = LINE},
    [END_LF]         = {[LF] = DONE},
};
/* clang-format on */

/* Returns 16 for a byte that is not a hex digit. */
static unsigned hex_value(unsigned char byte)
{
    if (byte >= '0' && byte <= '9') return byte - '0';
    unsigned char lower = byte | 0x20;
    return lower >= 'a' && lower <= 'f' ? lower - 'a' + 10U : 16;
}

static enum byte_class class_of(unsigned char byte)
{
    switch (byte) {
    case '\r':
        return CR;
    case '\n':
        return LF;
    case ' ':
    case '\t':
        return BLANK;
    case ';':
        return SEMICOLON;
    case '=':
        return EQUALS;
    case ':':
        return COLON;
    case '"':
        return DQUOTE;
    case '\\':
        return BACKSLASH;
    }
    if (hex_value(byte) < 16) return HEX;
    if (bb__is_tchar[byte]) return TCHAR;
    return byte < ' ' || byte == 0x7f ? CONTROL : TEXT;
}

void bb__body_start_length(struct bb__body *body, uint64_t length)
{
    *body = (struct bb__body){.remaining = length, .state = length > 0 ? LENGTH : DONE};
}

void bb__body_start_chunked(struct bb__body *body, uint32_t trailer_bytes_max, uint32_t trailers_max)
{
    *body = (struct bb__body){
        .trailer_bytes_max = trailer_bytes_max,
        .trailers_max = trailers_max,
        .state = START,
    };
}

static enum state refuse(struct bb__body *body, enum bb__reason reason)
{
    body->reason = (uint8_t)reason;
    return REFUSED;
}

/* 16 hex digits hold every 64-bit size. A longer number has leading zeros or overflows. */
static enum state add_digit(struct bb__body *body, unsigned digit)
{
    if (body->state == START) body->digits = 0;
    if (++body->digits > 16) return refuse(body, BB_REASON_BAD_CHUNK_SIZE);
    body->remaining = body->remaining << 4 | digit;
    return SIZE;
}

/* Limits the bytes of chunk extensions, which are ignored. Without a limit a client could send gigabytes of
 * extensions with a small body. */
static enum state count_extension(struct bb__body *body, enum state to)
{
    bool fits = ++body->extension <= BB_CHUNK_EXTENSION_MAX && ++body->extensions <= BB_CHUNK_EXTENSIONS_MAX;
    return fits ? to : refuse(body, BB_REASON_LONG_CHUNK_EXTENSION);
}

static enum state begin_data(struct bb__body *body)
{
    body->extension = 0;
    if (body->remaining == 0) return LINE;
    if (body->remaining > UINT64_MAX - body->announced) return refuse(body, BB_REASON_BAD_CHUNK_SIZE);
    body->announced += body->remaining;
    return DATA;
}

static enum state count_trailer(struct bb__body *body, enum state to)
{
    bool fits = (body->state != LINE || ++body->trailers <= body->trailers_max) &&
                ++body->trailer_bytes <= body->trailer_bytes_max;
    return fits ? to : refuse(body, BB_REASON_LARGE_TRAILERS);
}

/* The reason to reject a byte for which `state` has no transition. */
static enum bb__reason unexpected(enum state state, char byte)
{
    if (byte == '\n') return BB_REASON_BARE_LF;
    switch (state) {
    case SIZE_LF:
    case DATA_LF:
    case LINE_LF:
    case END_LF:
        return BB_REASON_BARE_CR;
    case DATA_CR:
        return BB_REASON_BAD_CHUNK_END;
    case START:
    case SIZE:
        return BB_REASON_BAD_CHUNK_SIZE;
    case LINE:
    case NAME:
    case VALUE:
        return BB_REASON_BAD_TRAILER;
    default:
        return BB_REASON_BAD_CHUNK_EXTENSION;
    }
}

static enum state step(struct bb__body *body, unsigned char byte)
{
    enum state to = next_state[body->state][class_of(byte)];
    if (to == SIZE) return add_digit(body, hex_value(byte));
    if (to == DATA) return begin_data(body);
    if (to >= EXT_PAUSE && to <= EXT_QUOTED_END) return count_extension(body, to);
    if (to >= LINE && to <= LINE_LF) return count_trailer(body, to);
    return to;
}

/* Sets *out to the next run of body bytes, up to the end of the chunk or of the body. Returns its length. */
static size_t take_run(struct bb__body *body, const char *at, size_t len, struct bb_slice *out)
{
    *out = (struct bb_slice){at, body->remaining < len ? (size_t)body->remaining : len};
    body->remaining -= out->len;
    if (body->remaining == 0) body->state = body->state == LENGTH ? DONE : DATA_CR;
    return out->len;
}

int bb__body_decode(struct bb__body *body, const char *in, size_t len, size_t *used, struct bb_slice *out)
{
    size_t taken = 0;
    *out = (struct bb_slice){0};
    while (taken < len && body->state > DONE) {
        if (body->state == LENGTH || body->state == DATA) {
            if (out->at != NULL) break; /* one run per call */
            taken += take_run(body, in + taken, len - taken, out);
            continue;
        }
        enum state before = body->state;
        body->state = step(body, (unsigned char)in[taken]);
        if (body->state >= DONE)
            ++taken;
        else if (body->reason == 0)
            body->reason = (uint8_t)unexpected(before, in[taken]);
    }
    *used = taken;
    switch (body->state) {
    case REFUSED:
        return body->reason;
    case DONE:
        return BB_OK;
    default:
        return BB_AGAIN;
    }
}

int bb__body_decode_all(struct bb__body *body, uint64_t max, char *in, size_t len, size_t *used,
                        struct bb_slice *out)
{
    char *first = in;
    size_t gathered = 0;
    int code;
    *used = 0;
    do {
        size_t step;
        struct bb_slice run;
        code = bb__body_decode(body, in + *used, len - *used, &step, &run);
        *used += step;
        if (bb__is_reason(code)) return code;
        if (max > 0 && body->announced > max) return BB_REASON_LARGE_BODY;
        if (run.len == 0) continue;
        if (gathered == 0) first = in + (run.at - in);
        memmove(first + gathered, run.at, run.len);
        gathered += run.len;
    } while (code != BB_OK && *used < len);
    *out = (struct bb_slice){first, gathered};
    return code;
}

bool bb__body_done(const struct bb__body *body)
{
    return body->state == DONE;
}

uint64_t bb__body_decoded(const struct bb__body *body)
{
    return body->state == DATA ? body->announced - body->remaining : body->announced;
}
