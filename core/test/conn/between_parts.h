/* between_parts.h: runs a function of the test while bb_reply_write() adds a part of a body. A test that
 * includes this header is linked with --wrap (see the Makefile). */
#ifndef BB_TEST_BETWEEN_PARTS_H
#define BB_TEST_BETWEEN_PARTS_H

#include "http/h1_reply.h"

unsigned __real_bb__h1_reply_part(struct bb__h1_reply *reply, const char *at, size_t len, char *chunk_head,
                                  struct bb_slice *spans, size_t *used);
unsigned __wrap_bb__h1_reply_part(struct bb__h1_reply *reply, const char *at, size_t len, char *chunk_head,
                                  struct bb_slice *spans, size_t *used);

static void (*between_parts)(void); /* called once, at the next part; NULL: nothing happens */

unsigned __wrap_bb__h1_reply_part(struct bb__h1_reply *reply, const char *at, size_t len, char *chunk_head,
                                  struct bb_slice *spans, size_t *used)
{
    void (*now)(void) = between_parts;
    between_parts = NULL;
    if (now) now();
    return __real_bb__h1_reply_part(reply, at, len, chunk_head, spans, used);
}

#endif
