/* h1_body_fuzz.c: compares the body decoder with a second decoder. The second decoder gets the whole input at
 * once and follows the grammar of RFC 9112 7.1 by recursive descent. Both decoders must find the same bytes,
 * the same result code and the same end of the body, even if the first decoder gets the input in pieces.
 *
 * Input: "c" (chunked) or "l" (with a length), one byte for the size of the pieces or for the length, then
 * the body.
 */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "http/h1_body.h"

#define TRAILER_BYTES 64
#define TRAILERS      3

struct result {
    int code;
    size_t used; /* bytes of the body on the wire; not compared if more input is needed */
    size_t len;
    char bytes[4096];
};

/* ---- the second decoder ---- */

struct reader {
    const unsigned char *at, *end;
    size_t trailer_bytes;
};

/* Returns from the function unless the call returns BB_OK. */
#define TRY(call)                                                                                            \
    do {                                                                                                     \
        int tried = (call);                                                                                  \
        if (tried != BB_OK) return tried;                                                                    \
    } while (0)

static bool is_blank(int byte)
{
    return byte == ' ' || byte == '\t';
}

static bool is_hex(int byte)
{
    return byte > 0 && byte < 128 && strchr("0123456789abcdefABCDEF", byte) != NULL;
}

static bool is_tchar(int byte)
{
    return (byte >= '0' && byte <= '9') || (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') ||
           (byte > 0 && byte < 128 && strchr("!#$%&'*+-.^_`|~", byte) != NULL);
}

static bool is_text(int byte)
{
    return byte == '\t' || (byte >= ' ' && byte != 0x7f);
}

/* The next byte, or -1 at the end. */
static int peek(const struct reader *reader)
{
    return reader->at < reader->end ? *reader->at : -1;
}

static int expect(struct reader *reader, int byte)
{
    if (reader->at == reader->end) return BB_AGAIN;
    if (*reader->at != byte) return 400;
    ++reader->at;
    return BB_OK;
}

static void skip_blanks(struct reader *reader)
{
    while (is_blank(peek(reader))) ++reader->at;
}

static int read_token(struct reader *reader)
{
    if (peek(reader) >= 0 && !is_tchar(peek(reader))) return 400;
    while (is_tchar(peek(reader))) ++reader->at;
    return peek(reader) < 0 ? BB_AGAIN : BB_OK;
}

static int read_quoted(struct reader *reader)
{
    TRY(expect(reader, '"'));
    while (peek(reader) != '"') {
        if (peek(reader) == '\\') ++reader->at;
        if (peek(reader) < 0) return BB_AGAIN;
        if (!is_text(peek(reader))) return 400;
        ++reader->at;
    }
    return expect(reader, '"');
}

static int read_extensions(struct reader *reader)
{
    while (peek(reader) != '\r') {
        skip_blanks(reader);
        TRY(expect(reader, ';'));
        skip_blanks(reader);
        TRY(read_token(reader));
        const unsigned char *name_end = reader->at;
        skip_blanks(reader);
        if (peek(reader) < 0) return BB_AGAIN;
        if (peek(reader) == ';') continue;
        if (peek(reader) != '=') {
            if (reader->at > name_end) return 400;
            continue;
        }
        ++reader->at;
        skip_blanks(reader);
        TRY(peek(reader) == '"' ? read_quoted(reader) : read_token(reader));
    }
    return BB_OK;
}

/* Valid and invalid bytes of the extensions count towards the limit. */
static int read_bounded_extensions(struct reader *reader)
{
    const unsigned char *start = reader->at;
    int code = read_extensions(reader);
    if (reader->at - start <= BB_CHUNK_EXTENSION_MAX) return code;
    reader->at = start + BB_CHUNK_EXTENSION_MAX;
    return 400;
}

static int read_size(struct reader *reader, uint64_t *size)
{
    unsigned digits = 0;
    for (*size = 0; is_hex(peek(reader)) && digits < 16; ++digits, ++reader->at) {
        const char digit[2] = {(char)*reader->at};
        *size = *size * 16 + strtoull(digit, NULL, 16);
    }
    if (digits == 0) return peek(reader) < 0 ? BB_AGAIN : 400;
    TRY(read_bounded_extensions(reader));
    return expect(reader, '\r');
}

static int read_data(struct reader *reader, uint64_t size, struct result *result)
{
    size_t left = (size_t)(reader->end - reader->at);
    size_t len = size < left ? (size_t)size : left;
    memcpy(result->bytes + result->len, reader->at, len);
    result->len += len;
    reader->at += len;
    if (len < size) return BB_AGAIN;
    TRY(expect(reader, '\r'));
    return expect(reader, '\n');
}

/* Reads one byte of a field line. right: the grammar allows this byte. */
static int take_trailer(struct reader *reader, bool right)
{
    if (peek(reader) < 0) return BB_AGAIN;
    if (!right) return 400;
    if (++reader->trailer_bytes > TRAILER_BYTES) return 431;
    ++reader->at;
    return BB_OK;
}

static int read_trailers(struct reader *reader)
{
    for (unsigned lines = 1; peek(reader) != '\r'; ++lines) {
        if (is_tchar(peek(reader)) && lines > TRAILERS) return 431;
        TRY(take_trailer(reader, is_tchar(peek(reader))));
        while (is_tchar(peek(reader))) TRY(take_trailer(reader, true));
        TRY(take_trailer(reader, peek(reader) == ':'));
        while (is_text(peek(reader))) TRY(take_trailer(reader, true));
        TRY(take_trailer(reader, peek(reader) == '\r'));
        TRY(take_trailer(reader, peek(reader) == '\n'));
    }
    TRY(expect(reader, '\r'));
    return expect(reader, '\n');
}

static int read_chunked(struct reader *reader, struct result *result)
{
    uint64_t size, sum = 0;
    for (;;) {
        TRY(read_size(reader, &size));
        if (peek(reader) == '\n' && size > UINT64_MAX - sum) return 400;
        TRY(expect(reader, '\n'));
        if (size == 0) return read_trailers(reader);
        sum += size;
        TRY(read_data(reader, size, result));
    }
}

/* ---- the comparison ---- */

static void decode(struct bb__body body, const char *in, size_t len, size_t piece, struct result *result)
{
    *result = (struct result){.code = bb__body_done(&body) ? BB_OK : BB_AGAIN};
    for (size_t size; result->used < len && result->code == BB_AGAIN;) {
        size = piece < len - result->used ? piece : len - result->used;
        struct bb_slice run;
        size_t used;
        const char *at = in + result->used;
        int code = bb__body_decode(&body, at, size, &used, &run);
        result->code = bb__is_reason(code) ? bb__reasons[code].status : code;
        assert(used <= size && (used > 0 || result->code != BB_AGAIN));
        if (run.at != NULL) {
            assert(run.len > 0 && run.at >= at && run.at + run.len <= at + used);
            memcpy(result->bytes + result->len, run.at, run.len);
            result->len += run.len;
        }
        result->used += used;
        assert(bb__body_done(&body) == (result->code == BB_OK));
    }
}

static void check(struct bb__body body, const char *in, size_t len, size_t piece,
                  const struct result *expected)
{
    static struct result result;
    decode(body, in, len, piece, &result);
    assert(result.code == expected->code && result.len == expected->len);
    assert(memcmp(result.bytes, expected->bytes, result.len) == 0);
    assert(result.code == BB_AGAIN || result.used == expected->used);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 2 || size > 4096) return 0;
    const char *in = (const char *)data + 2;
    size_t len = size - 2;
    struct bb__body body;
    static struct result expected;
    expected.len = 0;
    if (data[0] & 1) {
        struct reader reader = {.at = data + 2, .end = data + size};
        bb__body_start_chunked(&body, TRAILER_BYTES, TRAILERS);
        expected.code = read_chunked(&reader, &expected);
        expected.used = (size_t)(reader.at - (data + 2));
    } else {
        bb__body_start_length(&body, data[1]);
        expected.len = expected.used = data[1] < len ? data[1] : len;
        expected.code = expected.len == data[1] ? BB_OK : BB_AGAIN;
        memcpy(expected.bytes, in, expected.len);
    }
    check(body, in, len, len, &expected);
    check(body, in, len, 1, &expected);
    check(body, in, len, 1 + data[1] % 29, &expected);
    return 0;
}
