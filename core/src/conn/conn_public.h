/* conn_public.h: requests for files of `public`, to which the core itself responds (bontebok_public.h). Used
 * by conn.c and conn_request.c. The files are in files/. */
#ifndef BB_CONN_PUBLIC_H
#define BB_CONN_PUBLIC_H

#include "conn/conn.h"

/* Looks for the file of a connection whose head is context->head. The connection is in HEAD or SERVED, and
 * has no unsent bytes. Call this only if context->files. True: the response is sent or is being sent, or the
 * connection waits for the disk in LOOK; *next is the next step. False: the request is for the host. */
bool bb__conn_send_public(struct bb__conn *conn, struct bb__conn_context *context, enum bb__conn_next *next);

/* The timeout of a connection in LOOK has expired. True: look again. False: the disk has not answered yet,
 * and *next is the next step. */
bool bb__conn_is_answered(struct bb__conn *conn, struct bb__conn_context *context, enum bb__conn_next *next);

#endif
