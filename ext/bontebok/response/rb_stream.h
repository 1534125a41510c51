/* rb_stream.h: what the files of a Stream share: rb_stream_object.c (lowest), rb_stream_io.c and rb_stream.c.
 * Not for other files. */
#ifndef RB_STREAM_H
#define RB_STREAM_H

#include "rb_bontebok.h"

struct stream {
    struct bb_stream *core;        /* NULL: the connection is gone, or the lane has it again */
    struct bbr_worker *worker;     /* held, because the core's stream must not outlive its worker */
    struct bbr_exchange *exchange; /* NULL: the request has ended */
    VALUE input;                   /* rack.input, for read */
    VALUE rest;                    /* nil, or the work that is left after the response (rb_finish.c) */
    VALUE lock;                    /* a Mutex: the parts of two threads must not mix */
    unsigned waiting;              /* threads and fibers that wait for the client; they use `core` */
    bool is_upgrade;
    bool body_read; /* `read` has returned the whole body of the request */
    bool read_closed, write_closed;
    bool broken;  /* a part was not sent completely, so the response can only be reset */
    bool dropped; /* the last waiting thread frees `core` */
};

struct stream *bbr_stream_of(VALUE self);

/* Returns a Stream without a connection. */
VALUE bbr_stream_allocate(void);

/* Returns the class. */
VALUE bbr_init_stream_object(VALUE core);

/* Sends a part: a String, or nil for no bytes. last: ends the body. Waits for a slow client. Raises
 * ClientGone, or IOError if the stream is closed. */
void bbr_stream_put(VALUE self, VALUE part, bool last);

/* Reads as IO#read, or if `partial` as IO#readpartial, but returns nil at the end. */
VALUE bbr_stream_receive(int argc, VALUE *argv, VALUE self, bool partial);

/* Reads the unbuffered body of the request from a Stream. */
extern const struct bbr_body_source bbr_stream_source;

/* Whether no byte can follow in any direction. */
bool bbr_stream_is_over(const struct stream *stream);

/* Frees the core's stream. An unfinished response is reset. */
void bbr_stream_drop(struct stream *stream);

#endif
