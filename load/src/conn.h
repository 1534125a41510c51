/* conn.h: one connection to the server, and the request under way on it. It opens, sends, receives and
 * decides the request's fate; it knows no poller and no clock: it returns what it waits for, and the loader
 * does the waiting. */
#ifndef CONN_H
#define CONN_H

#include "list.h"
#include "report/fate.h"
#include "request.h"
#include "response.h"
#include "target.h"

/* Connections to 127.0.0.0/8 come from these addresses 127.0.0.x in turns, each with ports of its own. */
#define CONN_FIRST_SOURCE 2
#define CONN_LAST_SOURCE  250

/* What the connections of one thread share. */
struct conn_setup {
    const struct target *target;
    unsigned next_source; /* last byte of the next 127.0.0.x to connect from */
    uint64_t resent;      /* requests of which bytes were sent a second time */
    char *buffer;         /* what is received; nobody needs it afterwards */
    size_t buffer_size;
};

enum conn_wants {
    CONN_READ,  /* the answer */
    CONN_WRITE, /* to send (or to be connected), or an answer that comes early */
    CONN_ROOM,  /* room in the unix socket's accept queue, which no poller reports: try again */
    CONN_ENDED, /* nothing: the request has met its fate */
};

struct conn {
    int fd;                        /* -1: not open */
    bool is_connected;             /* or on the way: connect() need not be called again */
    bool was_open;                 /* at some time before */
    uint64_t answers;              /* that came over this connection */
    const struct request *request; /* under way, or the last one */
    size_t sent;                   /* bytes of it */
    struct response response;

    /* of the request under way, valid when CONN_ENDED */
    enum fate fate;
    int error; /* errno that led to the fate, or 0 */

    /* the loader's */
    bool is_busy;         /* a request is under way */
    struct link place;    /* among the idle ones, or those in flight */
    struct link knocking; /* among those that want CONN_ROOM */
    uint32_t watched;     /* epoll events; 0: the poller does not know the descriptor */
    uint64_t due_ns, deadline_ns;
};

/* Begins a request on an idle connection, or on a new one. */
enum conn_wants conn_begin(struct conn *conn, struct conn_setup *setup, const struct request *request);

/* Goes on after CONN_WRITE or CONN_ROOM. */
enum conn_wants conn_send(struct conn *conn, struct conn_setup *setup);

/* Goes on when there is something to read. */
enum conn_wants conn_receive(struct conn *conn, struct conn_setup *setup);

/* Ends the request under way with this fate. */
void conn_give_up(struct conn *conn, enum fate fate, int error);

void conn_close(struct conn *conn);

#endif
