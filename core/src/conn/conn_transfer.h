/* conn_transfer.h: moves a connection through the shared queue to another lane of any process. A complete
 * request moves with its connection. Used by lanes, the I/O thread and worker_drain.c. */
#ifndef BB_CONN_TRANSFER_H
#define BB_CONN_TRANSFER_H

#include "conn/conn.h"
#include "system/shared_queue.h"

/* Sends a connection that has no unsent response bytes. It is idle, or it has a complete request that the
 * host (the program that calls the core) has not seen. The caller first removes the connection from its
 * poller. Otherwise the poller would still report events, because the receiver has the socket open.
 * addresses: bb__sock_address() of each listener, by number. BB_OK: another lane will receive the connection,
 * and the caller ends it with BB_CONN_END_ABANDON; BB_AGAIN: the queue has no room now; BB_ESYSTEM. */
int bb__conn_transfer(const struct bb__conn *conn, const uint64_t *addresses,
                      const struct bb__shared_queue *shared_queue);

/* Returns whether the message of an idle connection needs a file. If no file can be created, only such a
 * connection cannot be sent. */
bool bb__conn_needs_file(const struct bb__conn *conn);

/* Returns whether this worker can serve the connection in a message. The sender may be of another version, or
 * have other listeners. */
bool bb__conn_is_for_us(const struct bb__conn_context *context, const char *bytes,
                        const struct bb__shared_message *message);

/* Returns whether a connection in a message is for the lanes of another group (canary.h). */
bool bb__conn_is_for_others(const struct bb__conn_context *context, const char *bytes,
                            const struct bb__shared_message *message);

/* Makes a connection from a message. The caller then calls bb__conn_resume(), which sends 503 if this worker
 * cannot serve the request. Returns NULL if the message is incomplete or memory runs out. Then the connection
 * is reset. */
struct bb__conn *bb__conn_receive(struct bb__conn_context *context, const char *bytes,
                                  const struct bb__shared_message *message);

#endif
