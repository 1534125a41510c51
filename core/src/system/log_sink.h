/* log_sink.h: the target of an access log: a file, a pipe, standard output, standard error or syslog. Each
 * worker has one sink, and its threads may write to the sink at the same time. No write waits for a reader,
 * with one exception: push_shared(). Used by access_log.c and the worker. log_line.h makes the lines. */
#ifndef BB_LOG_SINK_H
#define BB_LOG_SINK_H

#include "bontebok.h"

#include <stdatomic.h>
#include <sys/un.h>

#define BB_LOG_TAG_MAX 48

enum bb__log_sink_kind {
    BB_LOG_SINK_FILE,   /* takes all bytes unless the disk is full */
    BB_LOG_SINK_PIPE,   /* writes up to PIPE_BUF bytes completely or not at all; may be a terminal */
    BB_LOG_SINK_SOCKET, /* a stream socket */
    BB_LOG_SINK_SHARED, /* a pipe or terminal that stays blocking, because other processes share it */
    BB_LOG_SINK_SYSLOG, /* one datagram per line */
};

struct bb__log_syslog {
    struct sockaddr_un address;
    int priority; /* facility * 8 + severity */
    char tag[BB_LOG_TAG_MAX];
};

struct bb__log_sink {
    atomic_int fd; /* -1: not opened yet; an open descriptor keeps its number, so writers need no lock */
    enum bb__log_sink_kind kind;
    const char *path; /* the path of the target; NULL: it was not opened by path */
    int standard;     /* 1: the target is standard output; 2: standard error; else 0 */
    size_t line_max;  /* bytes of the longest line; never changes */
    struct bb__log_syslog syslog;

    const char *target;
    atomic_bool opening; /* true: a thread opens the target, uses `retry` and sets the fields above */
    uint64_t retry;      /* ms, when the next attempt is allowed */
    atomic_int error;    /* errno of the last attempt */
};

/* ms between two attempts to open the target. A thread that wants to write makes the attempt. */
#define BB_LOG_RETRY 1000

/* target: the setting access_log; it must outlive the sink. BB_OK; BB_EFORMAT with the reason in
 * `fault`; BB_ESYSTEM with errno: bb__log_sink_write() tries to open the target again. */
int bb__log_sink_open(struct bb__log_sink *sink, const char *target, char fault[BB_FAULT_MAX]);

/* Opens the path again, or opens a target that could not be opened before. If standard output or error was a
 * file and is now another file, lines go to the new file. BB_OK, also if nothing had to change; BB_ESYSTEM:
 * nothing has changed. */
int bb__log_sink_reopen(struct bb__log_sink *sink);

/* Returns the length of the whole lines at the front of the bytes. */
size_t bb__log_whole_lines(const char *bytes, size_t len);

/* Writes lines, each with its line feed. Returns how many bytes were written. If some bytes were not written,
 * *error is the errno. Only a file or a socket can take a part of a line. */
size_t bb__log_sink_write(struct bb__log_sink *sink, const char *lines, size_t len, int *error);

void bb__log_sink_close(struct bb__log_sink *sink);

/* In log_syslog.c: parse, open and write for syslog. options: the text after "syslog:". */
int bb__log_syslog_parse(struct bb__log_syslog *syslog, const char *options, char fault[BB_FAULT_MAX]);
int bb__log_syslog_open(const struct bb__log_syslog *syslog); /* returns a descriptor, or -1 */
size_t bb__log_syslog_write(const struct bb__log_sink *sink, const char *lines, size_t len, int *error);

#endif
