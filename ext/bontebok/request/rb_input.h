/* rb_input.h: what the files of rack.input share: rb_input_receive.c (lowest), rb_input.c,
 * rb_input_read.c and rb_input_lines.c. Not for other files. */
#ifndef RB_INPUT_H
#define RB_INPUT_H

#include "rb_bontebok.h"

/* Bytes of the window of an unbuffered body. One read from the socket asks for this many. */
#define BBR_RECEIVE_WINDOW (64 * 1024)

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

    /* An unbuffered body: see rb_input_receive.c. The window has bytes that were received. */
    bool unbuffered;
    bool complete; /* the end of the body was received */
    bool has_size; /* the client has told the size */
    bool moved;    /* the position was set to moved_to, where nothing can be read */
    uint64_t moved_to;
    struct bbr_exchange *exchange;        /* the request, until another object has the connection */
    const struct bbr_body_source *source; /* reads from `from`; NULL: the lane reads */
    VALUE from;
};

struct input *bbr_input_of(VALUE self);

/* Raises IOError if the request has ended or the input is closed. */
struct input *bbr_input_readable(VALUE self);

/* For an unbuffered body. bbr_input_try_receive() does not wait, and returns BB_OK: the window has bytes at
 * the position; BB_EOF: the body has ended; BB_AGAIN. bbr_input_received() waits, and returns the window's
 * bytes, which are empty at the end. bbr_input_take_received() appends bytes to the String until it has
 * `wanted` bytes or, if `partial`, until it has any. All raise if the body breaks off. */
int bbr_input_try_receive(struct input *input);
struct bb_slice bbr_input_received(struct input *input);
VALUE bbr_input_take_received(struct input *input, VALUE string, long wanted, bool partial);

/* Returns the bytes of the window that are at the position or behind it. */
static inline struct bb_slice bbr_input_window(const struct input *input)
{
    uint64_t end = input->window_start + input->window_len;
    if (input->position >= end) return (struct bb_slice){"", 0};
    const char *at = input->window + (input->position - input->window_start);
    return (struct bb_slice){at, (size_t)(end - input->position)};
}

/* Returns bytes that begin at the position. These may be fewer than the rest of the body. The result is empty
 * only at the end of the body. */
struct bb_slice bbr_input_ahead(struct input *input);

/* Copies exactly len bytes from an offset. The caller has checked that the body has them. */
void bbr_input_copy_out(const struct input *input, uint64_t offset, char *into, size_t len);

static inline size_t bbr_input_at_most(uint64_t available, size_t wanted)
{
    return available < wanted ? (size_t)available : wanted;
}

/* Returns the value. Raises EOFError if the value is nil. */
VALUE bbr_input_or_eof(VALUE value);

static inline uint64_t bbr_input_left(const struct input *input)
{
    return input->position < input->size ? input->size - input->position : 0;
}

#endif
