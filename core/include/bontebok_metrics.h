/* bontebok_metrics.h: the part of bontebok.h with totals over all processes of a server: responses, bytes,
 * times, rejections. Totals never fall: they survive a worker that is killed, and a deploy. Lanes and the
 * host (the program that calls the core) count. Any process that has the memory may read it. bontebok.h
 * includes this file. */
#ifndef BONTEBOK_METRICS_H
#define BONTEBOK_METRICS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Memory that processes share: a block of counters for each slot of a scoreboard, and a common block. A block
 * keeps its counts when its lane ends, and the slot's next lane adds to them. */
struct bb_metrics;

/* Creates metrics for this process and the processes that it forks. lanes: as in bb_scoreboard_new(). The
 * caller owns *metrics and frees it with bb_metrics_free(). Errors: BB_ENOMEM. */
int bb_metrics_new(struct bb_metrics **metrics, unsigned lanes);

/* Creates a file in memory (memfd_create(2), mode 0600) with empty metrics, which an executed process can use
 * as well. Returns the descriptor, which the caller owns; close-on-exec is set. Errors: BB_ESYSTEM; errno is
 * ENOSYS on systems without memfd_create. */
int bb_metrics_file(unsigned lanes);

/* Maps the metrics of bb_metrics_file(). If fd is open for reading only, so is the memory
 * (bb_metrics_is_writable()). Then only the functions that take a const struct bb_metrics are allowed. The
 * caller owns *metrics, and still owns fd.
 * Errors: BB_ESYSTEM; BB_ENOMEM; BB_ELAYOUT: the file has no metrics, or those of a version of this library
 * with another layout. */
int bb_metrics_attach(struct bb_metrics **metrics, int fd);

/* The layout of this version's metrics, as bb_scoreboard_layout(). */
unsigned bb_metrics_layout(void);

bool bb_metrics_is_writable(const struct bb_metrics *metrics);

/* Frees the metrics in this process only. No worker of this process may use the metrics any more. NULL is
 * allowed. */
void bb_metrics_free(struct bb_metrics *metrics);

/* ---- counting ---- */

struct bb_worker;

/* Lets the worker's lanes count. number, generation: shown by bb_metrics_look(). The memory has a block for
 * each slot of the worker's scoreboard, so both have the same number of lanes. The caller owns the metrics
 * and frees it after the worker. Call this before bb_worker_start_io_thread() and the first bb_lane_new(). */
void bb_worker_metrics(struct bb_worker *worker, struct bb_metrics *metrics, unsigned number,
                       unsigned generation);

struct bb_lane;

/* Shows that this thread is the thread of the lane. */
void bb_lane_show_thread(struct bb_lane *lane);

/* Adds the host's garbage collections since the last call to the totals of this worker. time: us. One thread
 * at a time. */
void bb_worker_count_gc(struct bb_worker *worker, uint64_t runs, uint64_t time);

#define BB_METRICS_NAME_MAX 48
#define BB_METRICS_NAMES    128
#define BB_METRICS_NOTE_MAX 184
#define BB_METRICS_NOTES    20

/* Adds to the total with this name. The first call for a name creates the total. For rare events. At most
 * BB_METRICS_NAMES names of at most BB_METRICS_NAME_MAX - 1 bytes exist; others are not counted. The core
 * itself uses the names "rejected REASON", "probe ready_path STATUS", "probe live_path STATUS" and "log lines
 * lost" (of the access log). Any thread. */
void bb_metrics_count(struct bb_metrics *metrics, const char *name, uint64_t number);

/* The subjects of notes. */
enum bb_note_kind {
    BB_NOTE_DEPLOY, /* a deploy has ended */
    BB_NOTE_END,    /* a worker has ended */
    BB_NOTE_KINDS,
};

/* Keeps a text of at most BB_METRICS_NOTE_MAX - 1 bytes with the present time. The last BB_METRICS_NOTES
 * notes of each kind are kept. Any thread. */
void bb_metrics_note(struct bb_metrics *metrics, enum bb_note_kind kind, const char *text, size_t len);

/* ---- reading ---- */

/* Workers can write the memory, and code of the application may damage it. So the values may be anything. No
 * function here reads outside of the memory. */

/* A row for each counter of a lane: code, name. Add rows only at the end: processes of two versions share the
 * memory. */
#define BB_COUNTERS(X)                                                                                       \
    X(RESPONSES_1XX, "responses_1xx") /* interim responses, and 101 */                                       \
    X(RESPONSES_2XX, "responses_2xx")                                                                        \
    X(RESPONSES_3XX, "responses_3xx")                                                                        \
    X(RESPONSES_4XX, "responses_4xx")                                                                        \
    X(RESPONSES_5XX, "responses_5xx")                                                                        \
    X(ABORTED, "aborted")     /* responses that ended before they were complete, or never began */           \
    X(HIJACKED, "hijacked")   /* requests whose response the core has not seen */                            \
    X(BYTES_IN, "bytes_in")   /* of request bodies, decoded */                                               \
    X(BYTES_OUT, "bytes_out") /* of response bodies, without framing */                                      \
    X(ACCEPTED, "accepted")   /* connections */                                                              \
    X(PASSED_ON, "passed_on") /* connections that went to the shared queue */                                \
    X(GC_RUNS, "gc_runs")                                                                                    \
    X(GC_TIME, "gc_time") /* us */                                                                           \
    X(FILES, "files")     /* responses whose body is a file of public, also 304, 206 and so on; they are in  \
                             the classes too */

enum bb_counter {
#define BB_COUNTER_ENUM(code, name) BB_COUNT_##code,
    BB_COUNTERS(BB_COUNTER_ENUM)
#undef BB_COUNTER_ENUM
        BB_COUNTERS_END
};

extern const char *const bb_counter_names[BB_COUNTERS_END];

/* Kinds of connections: what a connection waits for. */
#define BB_CONNECTIONS(X)                                                                                    \
    X(FRESH, "fresh")         /* accepted, no byte yet */                                                    \
    X(HEADER, "header")       /* a part of a head has come */                                                \
    X(BODY, "body")           /* a part of a body has come */                                                \
    X(WRITE, "write")         /* the client takes its response */                                            \
    X(KEEPALIVE, "keepalive") /* idle between two requests */                                                \
    X(LINGER, "linger")       /* the response is sent */                                                     \
    X(DISK, "disk")           /* the disk reads the next bytes of the response */                            \
    X(SERVED, "served")       /* its request waits for a lane, or the host has it */

enum bb_connection {
#define BB_CONNECTION_ENUM(code, name) BB_CONNECTION_##code,
    BB_CONNECTIONS(BB_CONNECTION_ENUM)
#undef BB_CONNECTION_ENUM
        BB_CONNECTIONS_END
};

extern const char *const bb_connection_names[BB_CONNECTIONS_END];

/* Counts of times: one for each microsecond below 10, then 90 of the same width in each decade (10 to 11 us,
 * 100 to 110 us, and so on), and a last one for 1,000 s or more. The bounds 10 us, 100 us, 0.005 s, 0.01 s,
 * 0.025 s and so on are exact. */
#define BB_METRICS_TIMES 731

struct bb_metrics_sum {
    uint64_t counters[BB_COUNTERS_END];
    uint64_t queue_time[BB_METRICS_TIMES];   /* from the complete request to the host's call */
    uint64_t service_time[BB_METRICS_TIMES]; /* from the host's call to the end of the request */
};

/* Adds up all blocks. The caller owns *sum. */
void bb_metrics_sum(const struct bb_metrics *metrics, struct bb_metrics_sum *sum);

/* A lane. The times and the texts of a lane whose process has ended stay until the slot's next lane begins.
 */
struct bb_metrics_lane {
    int pid;                            /* 0: the slot was never used */
    int thread;                         /* gettid(2) of the lane; 0: unknown */
    unsigned worker, generation;        /* see bb_worker_metrics() */
    uint64_t began;                     /* ms since 1970 */
    uint64_t counters[BB_COUNTERS_END]; /* since the lane has begun */
    uint64_t connections[BB_CONNECTIONS_END];
};

/* Reads the block of a slot. number: as in bb_scoreboard_look(). Returns BB_OK with *lane, which the caller
 * owns; BB_EOF: no lane has ever had this slot or a later one. */
int bb_metrics_look(const struct bb_metrics *metrics, unsigned number, struct bb_metrics_lane *lane);

/* A total of bb_metrics_count(). name: NUL-terminated. */
struct bb_metrics_name {
    char name[BB_METRICS_NAME_MAX];
    uint64_t count;
};

/* Returns BB_OK with *found; BB_AGAIN: this place is not used; BB_EOF: there are no more places. */
int bb_metrics_name(const struct bb_metrics *metrics, unsigned place, struct bb_metrics_name *found);

/* time: ms since 1970. text: NUL-terminated. */
struct bb_metrics_note {
    uint64_t time;
    char text[BB_METRICS_NOTE_MAX];
};

/* Returns the notes of this kind, the oldest first, and their number. The caller owns `notes`. */
unsigned bb_metrics_notes(const struct bb_metrics *metrics, enum bb_note_kind kind,
                          struct bb_metrics_note notes[BB_METRICS_NOTES]);

/* The requests for ready_path or live_path. in_a_row: responses 503 since the last 200. last: ms since 1970,
 * 0: none. */
struct bb_metrics_probe {
    uint64_t in_a_row, last;
};
enum bb_probe { BB_PROBE_READY, BB_PROBE_LIVE, BB_PROBES_END };
struct bb_metrics_probe bb_metrics_probe(const struct bb_metrics *metrics, enum bb_probe probe);

#endif
