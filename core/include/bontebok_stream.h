/* bontebok_stream.h: the part of bontebok.h about connections that leave their lane: hijacked connections,
 * and streams, which are responses that may last longer than their request. bontebok.h includes this file. */
#ifndef BONTEBOK_STREAM_H
#define BONTEBOK_STREAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct bb_lane;
struct bb_slice;
struct bb_worker;

/* ---- hijack: the host takes the socket of the current request ---- */

/* Call this before bb_reply_begin(), or after the head was sent (BB_LENGTH_RAW). On BB_OK the host owns *fd,
 * which is non-blocking and close-on-exec. The core forgets the connection: no timeout and no limit applies.
 * The host still ends the request with bb_reply_end(), when it has no more use for the request. *unread:
 * bytes that the client has sent after the request. They are valid until the request ends. Returns BB_OK;
 * BB_AGAIN: the client has not taken the head yet: call bb_reply_wait_until_sent(), then this function again;
 * BB_EGONE: no request, the client is gone, or the response has begun; BB_ESYSTEM: no descriptor is left. */
int bb_lane_hijack(struct bb_lane *lane, int *fd, struct bb_slice *unread);

/* Blocks until the socket has taken all bytes that were written for the current request. Returns the codes of
 * bb_reply_wait(). */
int bb_reply_wait_until_sent(struct bb_lane *lane);

/* ---- streams ---- */

/* The rest of a response, and the client's bytes after an upgrade (101). Only one thread at a time may make
 * calls on a stream. bb_stream_wait() may run beside other calls, but not beside bb_stream_free(). Free the
 * stream before its worker. In a child of a later fork() the calls return BB_EGONE. */
struct bb_stream;

/* Takes the connection of the current request out of its lane, after bb_reply_head() and before
 * bb_reply_write(). On BB_OK the host owns *stream, and no bb_reply_*() call except bb_reply_end() and
 * bb_reply_abort() is allowed for this request. request_timeout still applies until the request ends, unless
 * the response is an upgrade. Errors: BB_ENOMEM; BB_ESYSTEM; BB_EGONE. */
int bb_lane_detach(struct bb_lane *lane, struct bb_stream **stream);

/* Call this before bb_reply_end(). If the stream has ended, the lane gets the connection back and keeps it
 * alive. Otherwise the stream outlives the request. */
void bb_lane_rejoin(struct bb_lane *lane, struct bb_stream *stream);

/* Sends parts of the body, after the head and the bytes that the socket has not taken yet. last: these parts
 * end the body. *taken: bytes of the parts that were sent or copied. The core copies little. Returns BB_OK:
 * all is sent; BB_AGAIN: call bb_stream_wait(), then this function again with the same `last` and the bytes
 * that were not taken (perhaps none). Errors: BB_ENOMEM; BB_ESHORT: the body is shorter than its
 * Content-Length; BB_ECHUNKS: as for bb_reply_write() and bb_reply_end(); BB_EGONE: the client is gone, has
 * taken nothing for write_timeout, takes less than min_body_rate, or the request is past request_timeout.
 * After an error the stream can only be freed. */
int bb_stream_write(struct bb_stream *stream, const struct bb_slice *parts, size_t count, bool last,
                    uint64_t *taken);

/* True: the response is an upgrade, and bb_stream_read() returns the client's bytes. */
bool bb_stream_is_upgrade(const struct bb_stream *stream);

/* Reads bytes of an upgraded connection, or of the request's unbuffered body. Returns BB_OK with *got > 0;
 * BB_AGAIN: no bytes have come, call bb_stream_wait(); BB_EOF: nothing follows; BB_EGONE; for an unbuffered
 * body also the errors of bb_request_read(). */
int bb_stream_read(struct bb_stream *stream, char *bytes, size_t len, size_t *got);

enum bb_stream_event { BB_STREAM_READABLE, BB_STREAM_WRITABLE };

/* Blocks until the event, a signal, or about a second has passed. */
void bb_stream_wait(struct bb_stream *stream, enum bb_stream_event event);

/* As bb_stream_wait(), for the thread of the lane while the request lasts. The time does not count for
 * request_timeout. While the lane waits for BB_STREAM_WRITABLE, the connection may be reset, as in
 * bb_reply_wait(). */
void bb_lane_wait_for_stream(struct bb_lane *lane, struct bb_stream *stream, enum bb_stream_event event);

/* Returns the descriptor, for a host that waits in its own way. The stream owns it. */
int bb_stream_fd(const struct bb_stream *stream);

/* Returns whether the client has closed or reset the connection. A client that has ended its sending counts
 * as gone, too, because over TCP nothing else shows a close until the server sends. After an upgrade it
 * counts only when bb_stream_read() has returned all of its bytes. The stream can still be written. */
bool bb_stream_client_gone(const struct bb_stream *stream);

/* Frees the stream. If the body has ended and the connection is kept alive, another lane serves the
 * connection. If the body has ended and the connection is not kept alive, a lane closes it when the client
 * has read the response. If the body has not ended, the connection is reset. Does not wait. NULL is
 * allowed. */
void bb_stream_free(struct bb_stream *stream);

/* Shows on the scoreboard how many connections of this worker have left their lanes and are still open. The
 * host counts them, because the core forgets them. waits: all lanes have ended, and the process only waits
 * for these connections, or has waited for them. Any thread. */
void bb_worker_show_detached(struct bb_worker *worker, unsigned count, bool waits);

#endif
