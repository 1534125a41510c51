/* log_time.c: see log_time.h. It does not use strftime(), whose output depends on the locale. */
#include "log/log_time.h"

#include <stdio.h>
#include <stdlib.h>

static const char months[12][4] = {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                   "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};

static size_t fit(int len)
{
    if (len < 0) return 0;
    return len < BB_LOG_TIME_MAX ? (size_t)len : BB_LOG_TIME_MAX - 1;
}

void bb__log_time_set(struct bb__log_time *time, int64_t unix_seconds)
{
    if (time->second == unix_seconds && time->local_len > 0) return;
    time_t seconds = (time_t)unix_seconds;
    struct tm utc;
    if (!localtime_r(&seconds, &time->local) || !gmtime_r(&seconds, &utc)) return;

    const struct tm *local = &time->local;
    int offset = (int)(local->tm_gmtoff / 60);
    time->local_len = fit(
        snprintf(time->local_text, BB_LOG_TIME_MAX, "[%02d/%s/%04d:%02d:%02d:%02d %c%02d%02d]",
                 local->tm_mday, months[local->tm_mon], local->tm_year + 1900, local->tm_hour, local->tm_min,
                 local->tm_sec, offset < 0 ? '-' : '+', abs(offset) / 60, abs(offset) % 60));
    time->utc_len =
        fit(snprintf(time->utc_text, BB_LOG_TIME_MAX, "%04d-%02d-%02dT%02d:%02d:%02d", utc.tm_year + 1900,
                     utc.tm_mon + 1, utc.tm_mday, utc.tm_hour, utc.tm_min, utc.tm_sec));
    time->second = unix_seconds;
}

size_t bb__log_time_syslog(char *to, int64_t unix_seconds)
{
    time_t seconds = (time_t)unix_seconds;
    struct tm local;
    if (!localtime_r(&seconds, &local)) return 0;
    return fit(snprintf(to, BB_LOG_TIME_MAX, "%s %2d %02d:%02d:%02d", months[local.tm_mon], local.tm_mday,
                        local.tm_hour, local.tm_min, local.tm_sec));
}
