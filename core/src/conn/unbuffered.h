/* unbuffered.h: a request body that the host (the program that calls the core) reads while the body comes
 * (unbuffered_bodies). The host's reading sets the pace: the kernel's buffer becomes full, and TCP slows the
 * client down. Used by conn, and by stream, which reads for the host. conn_body.c is for all other bodies. */
#ifndef BB_UNBUFFERED_H
#define BB_UNBUFFERED_H

#include "base/buf.h"
#include "bontebok.h"
#include "http/h1_body.h"

/* ms, the longest time between two reads that counts as one wait for the client. */
#define BB_UNBUFFERED_WAIT_MAX 1000

struct bb__conn;

struct bb__unbuffered {
    struct bb__body decoder;
    struct bb__buf rest;    /* bytes that have come, but are not decoded */
    uint64_t received;      /* bytes on the wire, with the framing of chunks */
    uint64_t given;         /* bytes, decoded, that the host has read */
    uint64_t waited;        /* ms that the host has waited for the client */
    uint64_t stalled;       /* ms of `waited` since bytes last came */
    uint64_t asked_at;      /* ms, when a read found no bytes; 0: the last read found bytes */
    enum bb__reason reason; /* why the body is rejected */
    bool open;              /* the end of the body has not been decoded */
    bool awaits_continue;   /* the client waits for "100 Continue" */
};

/* Returns NULL when out of memory. The caller owns the result, and starts its decoder. */
struct bb__unbuffered *bb__unbuffered_new(bool awaits_continue);

/* NULL is allowed. */
void bb__unbuffered_free(struct bb__unbuffered *body);

/* Reads decoded bytes from `rest`, then from the socket fd. Never waits. Bytes behind the body stay in
 * `rest`. BB_OK with *got > 0; BB_EOF: the body is complete; BB_AGAIN; BB_EGONE: the client has closed the
 * connection; BB_EBODY: the body is rejected with body->reason; BB_ENOMEM. */
int bb__unbuffered_read(struct bb__unbuffered *body, int fd, const struct bb_settings *settings, char *bytes,
                        size_t len, size_t *got);

/* Returns whether the host has read all bytes of the body, and its end has come. Reads a little from the
 * socket if `rest` is empty. */
bool bb__unbuffered_is_complete(struct bb__unbuffered *body, int fd);

/* ---- the connection, whose `unbuffered` is set ---- */

/* Moves the bytes after the head from `in` to `rest`. Call this before the functions above. BB_OK or
 * BB_ENOMEM. */
int bb__conn_move_rest(struct bb__conn *conn);

/* Returns whether the whole body was read, so that the connection may be kept alive. */
bool bb__conn_has_read_body(struct bb__conn *conn);

/* Call this when the response is complete, and `in` has no head any more. If the body is incomplete, the
 * connection is not kept alive. */
void bb__conn_end_unbuffered(struct bb__conn *conn);

#endif
