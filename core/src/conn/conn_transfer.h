/* conn_transfer.h: how a connection moves to another lane, of this process or of another one, through the
 * shared queue: with its request, if that is complete. Used by I/O thread and lane. */
#ifndef BB_CONN_TRANSFER_H
#define BB_CONN_TRANSFER_H

#include "conn/conn.h"
#include "system/shared_queue.h"

/* Sends a connection that owes its client nothing: idle, or its request complete and not served yet. No
 * poller knows it any more: the socket goes on living, and its events would go on coming. addresses: those of
 * the listeners, by number. BB_OK: it is
 * somebody else's, what is left is to be ended with BB_CONN_END_ABANDON. BB_AGAIN: not now; BB_ESYSTEM: not
 * at all. */
int bb__conn_transfer(const struct bb__conn *conn, const uint64_t *addresses,
                      const struct bb__shared_queue *shared_queue);

/* Whether a message has a connection that can be served here: the sender may be of another version, or listen
 * somewhere else. */
bool bb__conn_is_for_us(const struct bb__conn_context *context, const char *bytes,
                        const struct bb__shared_message *message);

/* Makes one of a message. If it cannot be served here, bb__conn_resume() answers with 503. NULL: the message
 * is not whole, or out of memory, and the client finds its connection reset. bb__conn_resume() is next. */
struct bb__conn *bb__conn_receive(struct bb__conn_context *context, const char *bytes,
                                  const struct bb__shared_message *message);

#endif
