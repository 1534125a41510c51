/* log_sink.h: where an access log goes: a file, a pipe, standard output, standard error or syslog. Each
 * worker has one sink, and its lanes write to it at the same time. Wraps the system calls: no write waits for
 * a reader. Used by access_log.c and the worker. Knows lines, not their contents. */
#ifndef BB_LOG_SINK_H
#define BB_LOG_SINK_H

#include "bontebok.h"

#include <stdatomic.h>
#include <sys/un.h>

#define BB_LOG_TAG_MAX 48

enum bb__log_sink_kind {
    BB_LOG_SINK_FILE,   /* takes all bytes unless the disk is full */
    BB_LOG_SINK_PIPE,   /* takes up to PIPE_BUF bytes completely or not at all; may be a terminal */
    BB_LOG_SINK_SOCKET, /* a stream socket */
    BB_LOG_SINK_SHARED, /* a pipe or a terminal that we must not make non-blocking */
    BB_LOG_SINK_SYSLOG, /* one datagram per line */
};

struct bb__log_syslog {
    struct sockaddr_un address;
    int priority; /* facility * 8 + severity */
    char tag[BB_LOG_TAG_MAX];
};

struct bb__log_sink {
    atomic_int fd; /* -1: not opened yet. Once opened, it never changes, so writers need no lock */
    enum bb__log_sink_kind kind;
    const char *path; /* if the target was opened by name, else NULL */
    int standard;     /* 1 or 2, if the target is standard output or error */
    size_t line_max;  /* the longest line that may be written; never changes */
    struct bb__log_syslog syslog;

    const char *target;
    atomic_bool opening; /* one thread opens the target; it alone uses `retry` and the fields above */
    uint64_t retry;      /* ms, when the next attempt is allowed */
    atomic_int error;    /* errno of the last attempt */
};

/* ms between two attempts to open the target. Writers try, one at a time. */
#define BB_LOG_RETRY 1000

/* target: at most BB_ACCESS_LOG_MAX bytes, must live as long as the sink. BB_OK; BB_EFORMAT with the
 * reason in `fault`; BB_ESYSTEM with errno: writers will try again. */
int bb__log_sink_open(struct bb__log_sink *sink, const char *target, char fault[BB_FAULT_MAX]);

/* Opens the path again, or a target that could not be opened before. If standard output or error was a file
 * and is now another file, lines go to the new file. BB_OK, also if there is nothing to do; BB_ESYSTEM:
 * nothing has changed. */
int bb__log_sink_reopen(struct bb__log_sink *sink);

/* Writes lines, each with its line feed. Returns how many bytes were taken. If some were not, *error is
 * the errno. Only a file and a socket may take a part of a line. */
size_t bb__log_sink_write(struct bb__log_sink *sink, const char *lines, size_t len, int *error);

void bb__log_sink_close(struct bb__log_sink *sink);

/* In log_syslog.c: the same for syslog. options: the text behind "syslog:". */
int bb__log_syslog_parse(struct bb__log_syslog *syslog, const char *options, char fault[BB_FAULT_MAX]);
int bb__log_syslog_open(const struct bb__log_syslog *syslog); /* returns a descriptor, or -1 */
size_t bb__log_syslog_write(const struct bb__log_sink *sink, const char *lines, size_t len, int *error);

#endif
