/* access_log.c: see access_log.h. */
#include "system/access_log.h"

#include <stdlib.h>
#include <unistd.h>

struct bb__access_log *bb__access_log_new(const struct bb__log_format *format, struct bb__log_sink *sink)
{
    struct bb__access_log *log = calloc(1, sizeof *log);
    if (!log) return NULL;
    log->format = format;
    log->sink = sink;
    log->pid = getpid();
    log->lines = malloc(BB_LOG_BUFFER);
    if (log->lines) return log;
    free(log);
    return NULL;
}

void bb__access_log_free(struct bb__access_log *log)
{
    if (!log) return;
    bb__buf_free(&log->response);
    free(log->lines);
    free(log);
}

/* If the disk was full, the target may have only the beginning of a line. Writes a line feed after this
 * beginning. The whole line is then written again. */
static bool end_cut_line(struct bb__access_log *log, int *error)
{
    if (log->cut && bb__log_sink_write(log->sink, "\n", 1, error) == 1) log->cut = false;
    return !log->cut;
}

/* Returns the ms until the next attempt: BB_LOG_PAUSE at first. If the target takes nothing again, returns
 * twice the last time, at most BB_LOG_AGE. */
static uint64_t next_rest(const struct bb__access_log *log, size_t taken)
{
    if (taken > 0 || !log->stuck) return BB_LOG_PAUSE;
    return 2 * log->rest < BB_LOG_AGE ? 2 * log->rest : BB_LOG_AGE;
}

void bb__access_log_flush(struct bb__access_log *log, uint64_t now)
{
    if (log->len == 0) return;
    log->tried = now;
    int error = 0;
    size_t taken =
        end_cut_line(log, &error) ? bb__log_sink_write(log->sink, log->lines, log->len, &error) : 0;
    size_t done = bb__log_whole_lines(log->lines, taken);
    if (taken < log->len) {
        if (done < taken) log->cut = true;
        log->error = error;
        log->rest = next_rest(log, taken);
        log->due = now + log->rest;
        memmove(log->lines, log->lines + done, log->len - done);
    }
    log->stuck = taken < log->len;
    log->len -= done;
}

void bb__access_log_drop(struct bb__access_log *log)
{
    for (const char *at = log->lines, *end = at + log->len; at < end; log->lost++)
        at = (const char *)memchr(at, '\n', (size_t)(end - at)) + 1;
    log->len = 0;
}

static bool has_room(const struct bb__access_log *log)
{
    return BB_LOG_BUFFER - log->len >= log->sink->line_max;
}

void bb__access_log_add(struct bb__access_log *log, const struct bb__log_entry *entry, uint64_t now)
{
    /* Before a line is lost, tries to write the lines again, but at most once per ms. */
    if (!has_room(log) && (!log->stuck || now > log->tried)) bb__access_log_flush(log, now);
    if (!has_room(log)) {
        log->lost++;
        return;
    }
    if (log->len == 0) log->due = now + BB_LOG_AGE;
    log->len += bb__log_line(log->format, entry, &log->time, log->lines + log->len, log->sink->line_max);
}

int bb__access_log_wait(const struct bb__access_log *log, uint64_t now)
{
    if (log->len == 0) return -1;
    int left = log->due > now ? (int)(log->due - now) : 0;
    return log->stuck || left < BB_LOG_PAUSE ? left : BB_LOG_PAUSE;
}
