/* log_line.h: a line of the access log, made of what is known of a request and its answer. Reads no clock and
 * writes to no file: access_log.c collects the lines. */
#ifndef BB_LOG_LINE_H
#define BB_LOG_LINE_H

#include "base/buf.h"
#include "log/log_format.h"
#include "log/log_time.h"

#define BB_LOG_UNKNOWN UINT64_MAX

/* What is not known is empty, 0 where that is no value, or BB_LOG_UNKNOWN. Borrowed for one call. */
struct bb__log_entry {
    const struct bb_head *head;
    struct bb_slice line; /* as it came, of a request that was not understood; else empty */
    const char *peer;     /* NUL-terminated */
    int status;
    uint64_t body_length;
    uint64_t time;                  /* microseconds since 1970, when the request had come */
    uint64_t duration;              /* microseconds */
    uint64_t queued, proxy_queued;  /* microseconds, here and since a proxy had it */
    const struct bb__buf *response; /* bb__log_keep()'s */
    uint16_t port;                  /* of the listener */
    int pid;
    char connection; /* '+' it is kept, '-' it is closed, 'X' it was aborted */
};

/* Writes the line with its line feed, at most max (BB_LOG_LINE_MIN or more) bytes. Returns its length. */
size_t bb__log_line(const struct bb__log_format *format, const struct bb__log_entry *entry,
                    struct bb__log_time *time, char *to, size_t max);

/* Keeps the fields that the format asks for, of the head of a response: its status line, lines and the empty
 * one. Without memory for them there are fewer. */
void bb__log_keep(const struct bb__log_format *format, struct bb__buf *kept, const char *head, size_t len);

#endif
