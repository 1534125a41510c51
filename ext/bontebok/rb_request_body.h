/* rb_request_body.h: the part of rb_bontebok.h about rack.input, the body of a request. rb_bontebok.h
 * includes this file. */
#ifndef RB_REQUEST_BODY_H
#define RB_REQUEST_BODY_H

struct bb_request;
struct bbr_exchange;

/* ---- rb_input_receive.c, rb_input.c, rb_input_read.c, rb_input_lines.c ---- */

/* Returns rack.input of a request with a body. The Input borrows the bytes of the request until it is
 * detached. If the body is unbuffered, the Input reads it from the client. */
VALUE bbr_input_new(struct bbr_exchange *exchange);
VALUE bbr_input_empty(void);
void bbr_input_detach(VALUE input);

/* Called at a hijack, when the socket gets the rest of an unbuffered body. The Input ends. Returns the bytes
 * that were received, but not read. They live as long as the Input. */
struct bb_slice bbr_input_hand_over(VALUE input);

/* Called if a stream outlives the request. Returns the Input for the stream: the same one, with a copy of the
 * body; or if the body is unbuffered, another one, and the given one ends. */
VALUE bbr_input_keep(VALUE input);

/* Tells the Input that a Stream has the connection, and so the rest of an unbuffered body. read: returns as
 * bb_request_read(). await: waits for bytes, at most about a second. Has no effect on other bodies. */
struct bbr_body_source {
    int (*read)(VALUE from, char *bytes, size_t len, size_t *got);
    void (*await)(VALUE from);
};
void bbr_input_follow(VALUE input, const struct bbr_body_source *source, VALUE from);

void bbr_init_input(VALUE core);
void bbr_init_input_read(VALUE core);
void bbr_init_input_lines(VALUE core);

#endif
