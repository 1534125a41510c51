/* rb_input.h: the parts of rack.input that rb_input.c and rb_input_lines.c share. Not for other files. */
#ifndef RB_INPUT_H
#define RB_INPUT_H

#include "rb_bontebok.h"

struct input {
    const char *memory; /* the body, or NULL if it is in the spool */
    int fd;
    uint64_t size, position; /* the position may be beyond the end, as in an IO */
    long lineno;
    const char *ended; /* why the body can no longer be read, or NULL */
    char *window;      /* window_len bytes of the spool from window_start on; NULL until needed */
    uint64_t window_start;
    size_t window_len;
    char *kept;   /* a copy of the body, which outlives the request; or NULL */
    bool owns_fd; /* fd outlives the request */
};

struct input *bbr_input_of(VALUE self);

/* Raises IOError if the request has ended or the input is closed. */
struct input *bbr_input_readable(VALUE self);

/* Returns bytes that begin at the position. These may be fewer than the rest of the body. The result is empty
 * only at the end of the body. */
struct bb_slice bbr_input_ahead(struct input *input);

/* Input#read([length, [buffer]]). */
VALUE bbr_input_read(int argc, VALUE *argv, VALUE self);

/* Returns the value. Raises EOFError if the value is nil. */
VALUE bbr_input_or_eof(VALUE value);

static inline uint64_t bbr_input_left(const struct input *input)
{
    return input->position < input->size ? input->size - input->position : 0;
}

#endif
