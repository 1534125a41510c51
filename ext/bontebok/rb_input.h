/* rb_input.h: what rb_input.c and rb_input_lines.c share of rack.input. */
#ifndef RB_INPUT_H
#define RB_INPUT_H

#include "rb_bontebok.h"

struct input {
    const char *memory; /* the body, or NULL: it is in the spool */
    int fd;
    uint64_t size, position; /* the position may be behind the end, as that of an IO */
    long lineno;
    const char *ended; /* why it can no longer be read, or NULL */
    char *window;      /* window_len bytes of the spool from window_start on; NULL until it is needed */
    uint64_t window_start;
    size_t window_len;
};

struct input *bbr_input_of(VALUE self);

/* Raises IOError if the request has ended or the input is closed. */
struct input *bbr_input_readable(VALUE self);

/* The bytes at the position, as many as are at hand; none only at the end. */
struct bb_slice bbr_input_ahead(struct input *input);

/* read([length, [buffer]]), and the same for those that raise EOFError in place of nil. */
VALUE bbr_input_read(int argc, VALUE *argv, VALUE self);
VALUE bbr_input_or_eof(VALUE value);

static inline uint64_t bbr_input_left(const struct input *input)
{
    return input->position < input->size ? input->size - input->position : 0;
}

/* rb_input_lines.c's methods. */

#endif
