/* log_time.h: the time of a request in the forms of access logs. Each thread has its own struct bb__log_time.
 * bb__log_time_set() renders the time only when the second has changed. Used by log_line.c and by the syslog
 * target. */
#ifndef BB_LOG_TIME_H
#define BB_LOG_TIME_H

#include <stddef.h>
#include <stdint.h>
#include <time.h>

#define BB_LOG_TIME_MAX 48

struct bb__log_time {
    int64_t second; /* 0: never rendered */
    struct tm local;
    size_t local_len, utc_len;
    char local_text[BB_LOG_TIME_MAX]; /* "[06/Nov/1994:09:49:37 +0100]" */
    char utc_text[BB_LOG_TIME_MAX];   /* "1994-11-06T08:49:37": RFC 3339, but no fraction and no "Z" */
};

void bb__log_time_set(struct bb__log_time *time, int64_t unix_seconds);

/* Writes "Nov  6 09:49:37" (RFC 3164 4.1.2) to BB_LOG_TIME_MAX bytes at `to`. Returns the length. */
size_t bb__log_time_syslog(char *to, int64_t unix_seconds);

#endif
