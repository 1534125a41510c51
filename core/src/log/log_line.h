/* log_line.h: makes a line of the access log from the facts about a request and its response. Reads no
 * clock and writes to no file: access_log.c collects the lines. */
#ifndef BB_LOG_LINE_H
#define BB_LOG_LINE_H

#include "base/buf.h"
#include "log/log_format.h"
#include "log/log_time.h"

#define BB_LOG_UNKNOWN UINT64_MAX

/* The facts about one request. An unknown fact is empty or BB_LOG_UNKNOWN, or 0 where 0 is not a possible
 * value. The pointers must stay valid during the call. */
struct bb__log_entry {
    const struct bb_head *head;
    struct bb_slice line; /* the request line as it came, if the parser rejected it; else empty */
    const char *peer;     /* NUL-terminated */
    const char *reason;   /* why the server has rejected the request; NULL: it has not */
    int status;
    uint64_t body_length;
    uint64_t time;     /* when the request came; microseconds since 1970 */
    uint64_t duration; /* microseconds */
    uint64_t queued,
        proxy_queued; /* us; queued: in the server's queue; proxy_queued: since the proxy got the request */
    const struct bb__buf *response; /* filled by bb__log_keep() */
    uint16_t port;                  /* of the listener */
    int pid;
    char connection; /* '+': kept, '-': closed, 'X': aborted */
};

/* Writes the line and its line feed, at most `max` bytes (BB_LOG_LINE_MIN or more). Returns the length. */
size_t bb__log_line(const struct bb__log_format *format, const struct bb__log_entry *entry,
                    struct bb__log_time *time, char *to, size_t max);

/* Copies fields from a response head to `kept`, but only fields that the format needs. The head consists of
 * status line, field lines and empty line. If memory runs out, some fields are missing. */
void bb__log_keep(const struct bb__log_format *format, struct bb__buf *kept, const char *head, size_t len);

#endif
