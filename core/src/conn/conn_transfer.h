/* conn_transfer.h: moves a connection to another lane, in this process or another one, through the shared
 * queue. A complete request moves with its connection. Used by lanes, the I/O thread and worker_drain.c. */
#ifndef BB_CONN_TRANSFER_H
#define BB_CONN_TRANSFER_H

#include "conn/conn.h"
#include "system/shared_queue.h"

/* Sends a connection that owes its client nothing: it is idle, or its request is complete and not served
 * yet. No poller may watch it any more: the socket stays open elsewhere, and its events would go on.
 * addresses: those of the listeners, by number. BB_OK: another lane will have it; end it here with
 * BB_CONN_END_ABANDON. BB_AGAIN: not now; BB_ESYSTEM: not at all. */
int bb__conn_transfer(const struct bb__conn *conn, const uint64_t *addresses,
                      const struct bb__shared_queue *shared_queue);

/* Returns whether the connection in a message can be served here. The sender may be of another version, or
 * have other listeners. */
bool bb__conn_is_for_us(const struct bb__conn_context *context, const char *bytes,
                        const struct bb__shared_message *message);

/* Makes a connection from a message; call bb__conn_resume() next. If the connection cannot be served here,
 * bb__conn_resume() sends 503. Returns NULL if the message is incomplete, or when out of memory: then the
 * connection is reset. */
struct bb__conn *bb__conn_receive(struct bb__conn_context *context, const char *bytes,
                                  const struct bb__shared_message *message);

#endif
