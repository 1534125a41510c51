/* log_sink.h: where an access log goes: a file, a pipe, standard output or syslog. One per worker; its lanes
 * write at the same time. The system calls, wrapped once: no write waits for a reader. Knows lines, not what
 * is in them. */
#ifndef BB_LOG_SINK_H
#define BB_LOG_SINK_H

#include "bontebok.h"

#include <stdatomic.h>
#include <sys/un.h>

#define BB_LOG_TAG_MAX 48

enum bb__log_sink_kind {
    BB_LOG_SINK_FILE,   /* takes all of it, or the disk is full */
    BB_LOG_SINK_PIPE,   /* takes up to PIPE_BUF bytes whole or not at all; so may a terminal */
    BB_LOG_SINK_SOCKET, /* a stream */
    BB_LOG_SINK_SHARED, /* a pipe or a terminal that is not ours to make non-blocking */
    BB_LOG_SINK_SYSLOG, /* a datagram each line */
};

struct bb__log_syslog {
    struct sockaddr_un address;
    int priority; /* facility * 8 + severity */
    char tag[BB_LOG_TAG_MAX];
};

struct bb__log_sink {
    atomic_int fd; /* -1: it could not be opened yet; then the same number for life: no writer needs a lock */
    enum bb__log_sink_kind kind;
    const char *path; /* of what is opened by name, else NULL */
    int standard;     /* standard output or error, of what is one of these */
    size_t line_max;  /* the longest line that it is to be given, for life */
    struct bb__log_syslog syslog;

    const char *target;
    atomic_bool opening; /* somebody tries, and has the fields above and the next one to himself */
    uint64_t retry;      /* ms, while it is not open: when somebody may try again */
    atomic_int error;    /* why it is not open */
};

/* While it is not open writers try again, one at a time. */
#define BB_LOG_RETRY 1000

/* target: BB_ACCESS_LOG_MAX bytes at most, must live as long. BB_OK; BB_EFORMAT with the reason in fault;
 * BB_ESYSTEM with errno: it is tried again when there are lines to write. */
int bb__log_sink_open(struct bb__log_sink *sink, const char *target, char fault[BB_FAULT_MAX]);

/* Opens the path anew, or what could not be opened; follows a file that standard output or error has become.
 * BB_OK, also when there is nothing to do; BB_ESYSTEM: nothing has changed. */
int bb__log_sink_reopen(struct bb__log_sink *sink);

/* Writes lines, each with its line feed. Returns how many bytes were taken; when that is not all of them,
 * *error is why. Only a file and a socket may take a part of a line. */
size_t bb__log_sink_write(struct bb__log_sink *sink, const char *lines, size_t len, int *error);

void bb__log_sink_close(struct bb__log_sink *sink);

/* log_syslog.c: the same for syslog. options: what follows "syslog:". */
int bb__log_syslog_parse(struct bb__log_syslog *syslog, const char *options, char fault[BB_FAULT_MAX]);
int bb__log_syslog_open(const struct bb__log_syslog *syslog); /* a descriptor, or -1 */
size_t bb__log_syslog_write(const struct bb__log_sink *sink, const char *lines, size_t len, int *error);

#endif
