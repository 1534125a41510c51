/* bontebok_body.h: the part of bontebok.h about request bodies that the host (the program that calls the
 * core) reads while they come. bontebok.h includes this file. */
#ifndef BONTEBOK_BODY_H
#define BONTEBOK_BODY_H

#include <stddef.h>

struct bb_lane;

/* The setting unbuffered_bodies has paths. A path that ends with "/" also stands for all paths that begin
 * with it. If a request has one of these paths, and its body has not come with the head, the host gets the
 * request at once: bb_request.unbuffered is true. The exception is a request with Upgrade. The limits
 * max_body, body_timeout and min_body_rate apply while the host reads. Only time in which the host waits
 * counts. If the client expects "100 Continue", it gets it at the first read. If the host does not read the
 * whole body, the response ends the connection. */

/* Reads decoded bytes of the current request's unbuffered body. Sends unsent bytes first, because the client
 * may wait for a "100 Continue" among them. Never blocks. One thread at a time, and not beside other calls on
 * the lane. The exception is a thread that waits after BB_AGAIN, in bb_reply_wait() or
 * bb_reply_wait_until_sent(): that thread sends the unsent bytes. Returns BB_OK with *got > 0; BB_EOF: the
 * body is complete, or is not unbuffered; BB_AGAIN: no bytes have come: call bb_request_wait(), then this
 * function again. BB_EGONE: the client has closed the connection; BB_EBODY: the body is malformed, longer
 * than max_body, or too slow; until a byte of the response is sent, bb_reply_abort() sends the status (400,
 * 408, 413, 431). BB_ENOMEM. */
int bb_request_read(struct bb_lane *lane, char *bytes, size_t len, size_t *got);

/* Blocks until bytes come, the socket takes unsent bytes, bb_lane_wake() is called, or about a second has
 * passed. The time does not count for request_timeout. For the thread of the lane. Meanwhile another thread
 * may call bb_reply_write() and bb_reply_spool(). */
void bb_request_wait(struct bb_lane *lane);

/* Returns the descriptor of the connection, for another thread or another way to wait. -1: there is no
 * request. The core owns the descriptor. The host may duplicate it. While a duplicate is
 * open, the client may not see that the core has closed the connection. */
int bb_request_fd(const struct bb_lane *lane);

#endif
