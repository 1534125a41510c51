/* log_format.h: an access log's format, compiled from Apache's notation into a list of small steps. Compiled
 * once, then shared, read-only, by all lanes; log_line.c makes lines of it. Knows no file and no clock.
 *
 *     "%h %{Referer}i\n"      PEER  TEXT " "  REQUEST_FIELD "Referer"  TEXT "\n"
 */
#ifndef BB_LOG_FORMAT_H
#define BB_LOG_FORMAT_H

#include "bontebok.h"

enum bb__log_kind {
    BB_LOG_TEXT, /* as it stands */
    BB_LOG_NOTHING,
    BB_LOG_PEER,
    BB_LOG_TIME,
    BB_LOG_TIME_AS,      /* strftime()'s notation */
    BB_LOG_TIME_SECONDS, /* since 1970, and so the next two */
    BB_LOG_TIME_MILLISECONDS,
    BB_LOG_TIME_MICROSECONDS,
    BB_LOG_TIME_THOUSANDTHS, /* of its second, three digits */
    BB_LOG_TIME_MILLIONTHS,  /* six */
    BB_LOG_REQUEST_LINE,
    BB_LOG_METHOD,
    BB_LOG_PATH,
    BB_LOG_QUERY,
    BB_LOG_PROTOCOL,
    BB_LOG_STATUS,
    BB_LOG_BYTES,         /* "-" when there are none */
    BB_LOG_BYTES_OR_ZERO, /* "0" */
    BB_LOG_MICROSECONDS,
    BB_LOG_MILLISECONDS,
    BB_LOG_SECONDS,
    BB_LOG_QUEUE, /* microseconds */
    BB_LOG_PROXY_QUEUE,
    BB_LOG_HOST,
    BB_LOG_AUTHORITY,
    BB_LOG_PORT,
    BB_LOG_PID,
    BB_LOG_CONNECTION,
    BB_LOG_REQUEST_FIELD,
    BB_LOG_RESPONSE_FIELD,
    BB_LOG_REQUEST_ID,
};

struct bb__log_step {
    uint8_t kind;     /* enum bb__log_kind */
    uint16_t at, len; /* in bb__log_format.text: what stands there, or a name */
};

#define BB_LOG_STEPS_MAX 128

/* What a time in strftime()'s notation may take. */
#define BB_LOG_TIME_AS_MAX 128

/* A line has room for this much of what clients send, whatever else is in it. */
#define BB_LOG_VALUES_MIN 1024

/* The shortest line that a target may be limited to. */
#define BB_LOG_LINE_MIN 4096

struct bb__log_format {
    struct bb__log_step steps[BB_LOG_STEPS_MAX];
    unsigned count;
    bool json;               /* each value is one of JSON: a quoted string, a number, null */
    bool wants_clock;        /* times to the microsecond */
    unsigned response_count; /* steps that want a field of the response */
    uint8_t response_steps[BB_LOG_STEPS_MAX];
    size_t fixed; /* bytes of the longest line, but for values that are escaped */
    size_t text_len;
    char text[BB_ACCESS_LOG_FORMAT_MAX + BB_LOG_STEPS_MAX]; /* names end with NUL */
};

/* notation: NUL-terminated, or the name of a format. BB_OK, or BB_EFORMAT with what is wrong in fault. */
int bb__log_format_compile(struct bb__log_format *format, const char *notation, char fault[BB_FAULT_MAX]);

#endif
