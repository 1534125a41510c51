/* access_log.h: the lines of one lane, on their way to the target that all lanes of the worker share. They
 * are collected and written together; what the target does not take waits here, and beyond that is lost.
 *
 *     lines                          len             BB_LOG_BUFFER
 *       |  whole lines, oldest first  |     room      |
 */
#ifndef BB_ACCESS_LOG_H
#define BB_ACCESS_LOG_H

#include "log/log_line.h"
#include "system/log_sink.h"

#define BB_LOG_BUFFER (64 * 1024)

/* ms. Nothing has come for so long: it is written. */
#define BB_LOG_PAUSE 20
/* The oldest line waits no longer. */
#define BB_LOG_AGE 1000
/* A lane that has nothing else to do any more waits so long for a target that does not take all. */
#define BB_LOG_LAST 200

struct bb__access_log {
    const struct bb__log_format *format;
    struct bb__log_sink *sink;
    struct bb__log_time time;
    struct bb__buf response; /* fields of the current one that the format asks for */
    char *lines;
    size_t len;
    uint64_t due;   /* ms, while there are lines: when they are to be written */
    bool stuck;     /* the target took nothing, or not all, the last time */
    uint64_t rest;  /* ms, for which it is left alone then: BB_LOG_PAUSE to BB_LOG_AGE */
    uint64_t tried; /* ms, when it was last written to */
    bool cut;       /* the target has the beginning of a line that it will not get the rest of */
    unsigned lost;  /* lines; the owner tells of them, and sets it to 0 */
    int error;      /* why */
    int pid;
    uint64_t ready_at,
        handed_out; /* microseconds, of the request in hand: bb__clock_us(), when it had come */
};

/* NULL when out of memory. */
struct bb__access_log *bb__access_log_new(const struct bb__log_format *format, struct bb__log_sink *sink);

/* Without a word about what was not written. NULL is allowed. */
void bb__access_log_free(struct bb__access_log *log);

/* now: bb__clock_ms(). */
void bb__access_log_add(struct bb__access_log *log, const struct bb__log_entry *entry, uint64_t now);
void bb__access_log_flush(struct bb__access_log *log, uint64_t now);

/* What is still there will not be written: it is lost. */
void bb__access_log_drop(struct bb__access_log *log);

/* Writes what is old enough. */
static inline void bb__access_log_tick(struct bb__access_log *log, uint64_t now)
{
    if (log->len > 0 && now >= log->due) bb__access_log_flush(log, now);
}

/* How long nothing may come, in ms, before it is to be flushed; -1: there is nothing to write. */
int bb__access_log_wait(const struct bb__access_log *log, uint64_t now);

#endif
