/* encode.h: drives the response encoder in tests and fuzz targets, and keeps all bytes that would be sent. */
#ifndef BB_TEST_ENCODE_H
#define BB_TEST_ENCODE_H

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "http/h1_reply.h"

struct encode {
    struct bb__h1_reply reply;
    struct bb__buf out;   /* the head */
    struct bb__buf wire;  /* head and body */
    struct bb__date date; /* value of the Date field */
};

/* Returns an encoder for a 200 response to a GET with HTTP/1.1. The connection is persistent, and chunked
 * transfer is allowed. */
static inline struct encode encode_new(void)
{
    struct encode encode = {.reply = {.minor_version = 1, .keep_alive = true, .chunked_transfer = true}};
    int code = bb__h1_reply_start(&encode.reply, &encode.out, 200);
    assert(code == BB_OK);
    (void)code;
    return encode;
}

static inline void encode_free(struct encode *encode)
{
    bb__buf_free(&encode->out);
    bb__buf_free(&encode->wire);
}

static inline int encode_bytes(struct encode *encode, const char *name, const char *value, size_t value_len)
{
    return bb__h1_reply_field(&encode->reply, &encode->out, name, strlen(name), value, value_len);
}

static inline int encode_field(struct encode *encode, const char *name, const char *value)
{
    return encode_bytes(encode, name, value, strlen(value));
}

static inline int encode_head(struct encode *encode, uint64_t body_length)
{
    int code = bb__h1_reply_head(&encode->reply, &encode->out, body_length, &encode->date, "");
    if (code != BB_OK) return code;
    return bb__buf_append(&encode->wire, bb__buf_bytes(&encode->out), bb__buf_len(&encode->out));
}

/* Returns false if a byte of the part is no part of a chunk. */
static inline bool encode_part(struct encode *encode, const char *bytes, size_t len)
{
    size_t offset = 0, used;
    do {
        char chunk_head[BB_CHUNK_HEAD_MAX];
        struct bb_slice spans[BB_PART_SPANS];
        unsigned count =
            bb__h1_reply_part(&encode->reply, bytes + offset, len - offset, chunk_head, spans, &used);
        assert((used > 0 || count == 0) && used <= len - offset && count <= BB_PART_SPANS);
        for (unsigned i = 0; i < count; ++i) {
            assert(spans[i].len > 0);
            int code = bb__buf_append(&encode->wire, spans[i].at, spans[i].len);
            assert(code == BB_OK);
            (void)code;
        }
        if (used == 0 && len > 0) return false;
        offset += used;
    } while (offset < len);
    return true;
}

static inline int encode_end(struct encode *encode)
{
    struct bb_slice last;
    int ended = bb__h1_reply_end(&encode->reply, &last);
    int code = bb__buf_append(&encode->wire, last.at, last.len);
    assert(code == BB_OK);
    (void)code;
    return ended;
}

/* All sent bytes as a string; valid until the next call with this fixture. */
static inline const char *encode_text(struct encode *encode)
{
    int code = bb__buf_reserve(&encode->wire, 1);
    assert(code == BB_OK);
    (void)code;
    encode->wire.data[encode->wire.end] = '\0';
    return bb__buf_bytes(&encode->wire);
}

/* The head as a string, with "@" in place of the date; valid until the next call. */
static inline const char *encode_head_text(const struct encode *encode)
{
    static char text[4096];
    size_t len = bb__buf_len(&encode->out);
    assert(len < sizeof text);
    if (len > 0) memcpy(text, bb__buf_bytes(&encode->out), len);
    text[len] = '\0';
    char *date = encode->date.second != 0 ? memmem(text, len, encode->date.text, BB_DATE_LEN) : NULL;
    if (date != NULL) {
        *date = '@';
        memmove(date + 1, date + BB_DATE_LEN, strlen(date + BB_DATE_LEN) + 1);
    }
    return text;
}

#endif
