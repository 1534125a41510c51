/* access_log.h: a buffer for the access log lines of one lane or of the I/O thread. Several lines are written
 * at once to the worker's target (log_sink.h). Lines that the target does not take stay in the buffer. If the
 * buffer is full, new lines are lost. log_line.h makes the lines.
 *
 *     lines                          len             BB_LOG_BUFFER
 *       |  whole lines, oldest first  |     room      |
 */
#ifndef BB_ACCESS_LOG_H
#define BB_ACCESS_LOG_H

#include "log/log_line.h"
#include "system/log_sink.h"

#define BB_LOG_BUFFER (64 * 1024)

/* ms. The lines are written when no new line has come for this time. */
#define BB_LOG_PAUSE 20
/* ms. The oldest line waits no longer than this. */
#define BB_LOG_AGE 1000
/* ms. When a lane ends, it waits at most this long for a target that does not take all lines. */
#define BB_LOG_LAST 200

struct bb__access_log {
    const struct bb__log_format *format;
    struct bb__log_sink *sink;
    struct bb__log_time time;
    struct bb__buf response; /* the fields of the current response that the format needs */
    char *lines;
    size_t len;
    uint64_t due;   /* ms, when to write the lines */
    bool stuck;     /* the last attempt did not write all lines */
    uint64_t rest;  /* ms between two attempts while `stuck`: BB_LOG_PAUSE to BB_LOG_AGE */
    uint64_t tried; /* ms, time of the last attempt */
    bool cut;       /* the target has only the beginning of a line */
    unsigned lost;  /* lost lines; the owner logs their number, and sets it to 0 */
    int error;      /* errno of the last write that failed */
    int pid;
    uint64_t ready_at, /* us (bb__clock_us()), when the current request came */
        handed_out;    /* us, when the host (the program that calls the core) got the request */
};

/* Returns NULL when out of memory. The caller owns `format` and `sink`, which must outlive the log. */
struct bb__access_log *bb__access_log_new(const struct bb__log_format *format, struct bb__log_sink *sink);

/* Drops lines that were not written. They do not count as lost. NULL is allowed. */
void bb__access_log_free(struct bb__access_log *log);

/* Adds a line, or counts it as lost if there is no room. now: bb__clock_ms(). */
void bb__access_log_add(struct bb__access_log *log, const struct bb__log_entry *entry, uint64_t now);

/* Writes the lines. Lines that the target does not take stay in the buffer. */
void bb__access_log_flush(struct bb__access_log *log, uint64_t now);

/* Drops the lines that were not written, and counts them as lost. */
void bb__access_log_drop(struct bb__access_log *log);

/* Writes the lines if they are due. */
static inline void bb__access_log_tick(struct bb__access_log *log, uint64_t now)
{
    if (log->len > 0 && now >= log->due) bb__access_log_flush(log, now);
}

/* Returns the ms to wait for a new line before bb__access_log_flush() is called; -1: there are no lines. */
int bb__access_log_wait(const struct bb__access_log *log, uint64_t now);

#endif
