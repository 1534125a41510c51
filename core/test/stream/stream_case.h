/* stream_case.h: support for tests of streams: the stream of the test, and what the host writes to it. */
#ifndef BB_TEST_STREAM_CASE_H
#define BB_TEST_STREAM_CASE_H

#include "support/client.h"

static struct bb_stream *stream;

static inline int put(const char *text, size_t len, bool last, uint64_t *taken)
{
    const struct bb_slice part = {text, len};
    return bb_stream_write(stream, &part, 1, last, taken);
}

static inline void put_text(const char *text, bool last)
{
    uint64_t taken;
    assert_int_equal(put(text, strlen(text), last, &taken), BB_OK);
    assert_int_equal(taken, strlen(text));
}

#endif
