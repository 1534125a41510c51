/* stream.h: what lane_detach.c uses of a stream. The contracts for the host are in bontebok_stream.h. */
#ifndef BB_STREAM_H
#define BB_STREAM_H

#include "lane/lane.h"

/* Makes a stream with another descriptor of the connection's socket. unread: bytes that the client has sent
 * after its request; the stream copies them. Returns BB_OK; BB_ENOMEM; BB_ESYSTEM: no descriptor is left. */
int bb__stream_new(struct bb_stream **stream, struct bb_worker *worker, const struct bb__conn *conn,
                   const struct bb__h1_reply *encoder, struct bb_slice unread);

/* Moves the head of the response into the stream, behind a copy of the bytes of an interim response that the
 * client has not taken. BB_OK or BB_ENOMEM. */
int bb__stream_put_head(struct bb_stream *stream, const struct bb__buf *interim, struct bb__buf *head);

/* Moves the unbuffered body of the request into the stream, and out of it. NULL: there is none. */
void bb__stream_put_body(struct bb_stream *stream, struct bb__unbuffered *body);
struct bb__unbuffered *bb__stream_take_body(struct bb_stream *stream);

/* Returns whether the body has ended as announced, and the socket has taken all of it. */
bool bb__stream_is_complete(const struct bb_stream *stream);

/* Copies the state of the encoder, and the number of body bytes. */
void bb__stream_facts(struct bb_stream *stream, struct bb__h1_reply *encoder, uint64_t *body_length);

/* Returns how fast the client takes bytes, in bytes per second, as bb__conn_taking_rate(). */
uint64_t bb__stream_taking_rate(const struct bb_stream *stream);

/* The lane has the connection (again), so the stream closes only its own descriptor. Later calls on the
 * stream return BB_EGONE. */
void bb__stream_leave(struct bb_stream *stream);

#endif
