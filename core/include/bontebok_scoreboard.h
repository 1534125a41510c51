/* bontebok_scoreboard.h: the part of bontebok.h that shows what the lanes of all processes of a server do.
 * Lanes write the scoreboard. A host reads it. bontebok.h includes this file. */
#ifndef BONTEBOK_SCOREBOARD_H
#define BONTEBOK_SCOREBOARD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Memory that processes share, with a slot for each lane. Create the scoreboard before the processes are
 * forked. A process that has the scoreboard may have overwritten the memory with any bytes. No function fails
 * for this reason, but what they return is wrong then. */
struct bb_scoreboard;

/* Creates a scoreboard with `lanes` slots for this process and the processes that it forks. The caller owns
 * *scoreboard and frees it with bb_scoreboard_free(). A lane without a slot serves requests, but is not
 * shown. Errors: BB_ENOMEM. */
int bb_scoreboard_new(struct bb_scoreboard **scoreboard, unsigned lanes);

/* Creates a file in memory (memfd_create(2)) with an empty scoreboard, which an executed process can use as
 * well. Returns the descriptor, which the caller owns; close-on-exec is set. Errors: BB_ESYSTEM; errno is
 * ENOSYS on systems without memfd_create. */
int bb_scoreboard_file(unsigned lanes);

/* Maps the scoreboard of bb_scoreboard_file(). If fd is open for reading only, so is the memory
 * (bb_scoreboard_is_writable()). Then only the functions that take a const struct bb_scoreboard are allowed.
 * The caller owns *scoreboard, and still owns fd. Errors: BB_ENOMEM; BB_ESYSTEM; BB_ELAYOUT: the file is no
 * scoreboard, or another version of this library has made it, with another layout of the scoreboard or of the
 * messages in the shared queue. */
int bb_scoreboard_attach(struct bb_scoreboard **scoreboard, int fd);

bool bb_scoreboard_is_writable(const struct bb_scoreboard *scoreboard);

/* The layout of this version's scoreboards and of the messages in the shared queue. If it is the layout of
 * another version, both can use the same scoreboard. */
unsigned bb_scoreboard_layout(void);

/* Clears the slots of a process that has ended. Lanes of a killed process have not cleared their slots, and a
 * new connection may have woken one of these lanes. For each slot that this call clears, a message to `in`
 * wakes another lane. in: as in bb_worker_share_queue(); -1: no message. counter: as in
 * bb_worker_queue_counter(); without that call, the same scoreboard. */
void bb_scoreboard_clear(struct bb_scoreboard *scoreboard, int pid, int in, struct bb_scoreboard *counter);

struct bb_worker;

/* Several servers can share a queue (bb_worker_share_queue()), although each has a scoreboard of its own. All
 * of them count the requests in the queue on the scoreboard of one server. Call this after
 * bb_worker_scoreboard(). The caller owns the counter and frees it after the worker's lanes. */
void bb_worker_queue_counter(struct bb_worker *worker, struct bb_scoreboard *counter);

/* Reads how many requests wait in the shared queue. counter: the scoreboard that counts them. out: as in
 * bb_worker_share_queue(). Any process that has both may call this. Any thread. Receives no message, opens no
 * descriptor, never blocks, and leaves the flags of `out` as they are. Returns BB_OK with *count, at least 1,
 * and *oldest: us since the first of these requests began to wait. If a message that only wakes a lane comes
 * first, *oldest is the age of this message. BB_AGAIN: no request waits; `out` is not such a socket; or what
 * a process has written there cannot be true. Any process of the server can write both, so do not trust the
 * numbers. */
int bb_scoreboard_waiting(const struct bb_scoreboard *counter, int out, uint64_t *count, uint64_t *oldest);

#define BB_SCOREBOARD_LABEL_MAX 176

/* Why a request holds its lane for long, although the host does not compute. */
enum bb_held {
    BB_HELD_NOT,
    BB_HELD_BODY,   /* the lane waits for the request's unbuffered body */
    BB_HELD_STREAM, /* a part of the response was sent, and the host has not ended it */
};

/* The state of a lane. If idle and has_request are both false, the lane is between two requests, or its host
 * works out of band. The fields are read one after another, so they may belong to different moments. */
struct bb_scoreboard_lane {
    int pid;             /* more than 0, but perhaps of a process that has no lane, if the memory is wrong */
    bool idle;           /* the lane waits for something to do */
    bool has_request;    /* the host has a request */
    bool leaves;         /* the worker drains */
    bool paused;         /* the lane accepts nothing: no descriptor is free, or max_connections is reached */
    uint64_t requests;   /* number of requests that the host has got */
    uint64_t errors;     /* number of responses 5xx of the host, and of requests past request_timeout */
    uint64_t taken;      /* ms since the host got the current request */
    uint64_t queue_time; /* us; bb_request.queue_time of the current or last request */
    unsigned detached;   /* bb_worker_show_detached(); 0 in all lanes but one of a worker */
    bool waits;          /* bb_worker_show_detached(), in all lanes of a worker */
    uint64_t silent;     /* ms since the host's last bb_worker_beat(); UINT64_MAX: there was none */
    enum bb_held held;   /* of the current request */
    char label[BB_SCOREBOARD_LABEL_MAX]; /* NUL-terminated method and path of a request that takes long or is
                                            held, cut to this size; without control bytes; empty: no label */
};

/* Numbers of slow clients that were disconnected to make room for others. The count begins when the
 * scoreboard is created. */
struct bb_scoreboard_slow {
    uint64_t readers; /* clients that read a response too slowly: the connection was reset */
    uint64_t senders; /* clients that sent a request too slowly: they got 408 */
};
struct bb_scoreboard_slow bb_scoreboard_slow(const struct bb_scoreboard *scoreboard);

/* Reads a slot. number: 0 is the first slot. Any process that has the scoreboard may call this. Returns BB_OK
 * with *lane, which the caller owns; BB_AGAIN: no lane has the slot now; BB_EOF: no lane has ever had this
 * slot or a later one. */
int bb_scoreboard_look(const struct bb_scoreboard *scoreboard, unsigned number,
                       struct bb_scoreboard_lane *lane);

/* Announces the end of the server to its clients. While `draining` is true, the workers of all processes
 * serve as before, but the last response of each connection is the next one: it has "Connection: close".
 * Requests for ready_path get 503. Any process that has the scoreboard may call these two. Any thread. */
void bb_scoreboard_set_draining(struct bb_scoreboard *scoreboard, bool draining);
bool bb_scoreboard_is_draining(const struct bb_scoreboard *scoreboard);

/* Announces that another server takes connections from the shared queue. Set this before the workers drain.
 * Then they put their idle connections into the queue, and responses have no "Connection: close". */
void bb_scoreboard_set_taken_over(struct bb_scoreboard *scoreboard, bool taken_over);

/* Lets two groups of processes serve, to compare them: the canary, and all others. pids: the processes of the
 * canary. For the next second, each group gets a share of the requests on kept-alive connections, in
 * proportion to its lanes: lanes put idle connections into the shared queue for the other group. Without a
 * shared queue, nothing moves. Call this again in time, also when processes have ended or begun. Any process
 * that has the scoreboard may call this. Any thread. */
void bb_scoreboard_share_with(struct bb_scoreboard *scoreboard, const int *pids, size_t count);

/* Probes: the core itself responds to requests for the paths `ready_path` and `live_path` (struct
 * bb_settings), also while the host works in all lanes of all processes. This needs the I/O thread and a
 * scoreboard. A path is compared without its query, and is not decoded. GET and HEAD get 200 or 503, other
 * methods get 405.
 *
 *     ready_path   503 while bb_scoreboard_is_draining()
 *     live_path    503 if no worker is alive. A worker is not alive if one of its lanes has had a request for
 *                  worker_timeout, and the last bb_worker_beat() was as long ago. It is not alive either if
 *                  one of its lanes waits, but did not take a request (SIGSTOP), unless the worker itself
 *                  responds. A worker that has never called bb_worker_beat() counts as alive. If
 *                  worker_timeout is 0, all workers do */

/* Frees the scoreboard in this process only. No worker of this process may use the scoreboard any more. NULL
 * is allowed. */
void bb_scoreboard_free(struct bb_scoreboard *scoreboard);

#endif
