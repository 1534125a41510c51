/* conn.h: one connection to the server, and its current request. It connects, sends, receives, and decides
 * the request's fate (the outcome, see fate.h). It uses no poller and no clock. Each function returns the
 * event that the connection needs next, and the loader waits for this event. */
#ifndef CONN_H
#define CONN_H

#include "list.h"
#include "report/fate.h"
#include "request.h"
#include "response.h"
#include "target.h"

/* Connections to 127.0.0.0/8 use the source addresses 127.0.0.x in turn. Each address has its own ports. */
#define CONN_FIRST_SOURCE 2
#define CONN_LAST_SOURCE  250

/* The state that the connections of one thread share. */
struct conn_setup {
    const struct target *target;
    unsigned next_source; /* last byte of the next 127.0.0.x to connect from */
    uint64_t resent;      /* requests that were sent again, after some of their bytes had been sent */
    char *buffer;         /* for received bytes; the content is not needed after a call */
    size_t buffer_size;
};

enum conn_wants {
    CONN_READ,  /* the response */
    CONN_WRITE, /* room to send, or the end of connect(), or an early response */
    CONN_ROOM,  /* room in the unix socket's accept queue, which no poller reports: try again */
    CONN_ENDED, /* nothing: the request has a fate */
};

struct conn {
    int fd;                        /* -1: not open */
    bool is_connected;             /* connect() has succeeded or is in progress */
    bool was_open;                 /* the connection was opened at least once */
    uint64_t responses;            /* complete responses on this connection */
    const struct request *request; /* the current or last request */
    size_t sent;                   /* bytes of the request that were sent */
    struct response response;

    /* about the current request, valid when CONN_ENDED */
    enum fate fate;
    int error; /* errno that led to the fate, or 0 */

    /* used by the loader */
    bool is_busy;         /* a request is in flight */
    struct link place;    /* in the list `idle` or `in_flight` */
    struct link knocking; /* in the list `knocking`, if CONN_ROOM */
    uint32_t watched;     /* epoll events; 0: the poller does not know the descriptor */
    uint64_t due_ns, deadline_ns;
};

/* Begins a request on an idle connection, or on a new one. */
enum conn_wants conn_begin(struct conn *conn, struct conn_setup *setup, const struct request *request);

/* Continues after CONN_WRITE or CONN_ROOM. */
enum conn_wants conn_send(struct conn *conn, struct conn_setup *setup);

/* Continues when there is something to read. */
enum conn_wants conn_receive(struct conn *conn, struct conn_setup *setup);

/* Ends the current request with this fate, and closes the connection. */
void conn_give_up(struct conn *conn, enum fate fate, int error);

void conn_close(struct conn *conn);

#endif
