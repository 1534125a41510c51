/* log_format.h: the format of an access log, compiled from Apache's notation into a list of small steps. The
 * format is compiled once and then never changes. All lanes share the format. log_line.c makes lines with it.
 * Uses no files and no clocks.
 *
 *     "%h %{Referer}i\n"      PEER  TEXT " "  REQUEST_FIELD "Referer"  TEXT "\n"
 */
#ifndef BB_LOG_FORMAT_H
#define BB_LOG_FORMAT_H

#include "bontebok.h"

enum bb__log_kind {
    BB_LOG_TEXT, /* a fixed text */
    BB_LOG_NOTHING,
    BB_LOG_PEER,
    BB_LOG_TIME,
    BB_LOG_TIME_AS,      /* strftime()'s notation */
    BB_LOG_TIME_SECONDS, /* since 1970; also the next two */
    BB_LOG_TIME_MILLISECONDS,
    BB_LOG_TIME_MICROSECONDS,
    BB_LOG_TIME_THOUSANDTHS, /* of the current second, three digits */
    BB_LOG_TIME_MILLIONTHS,  /* of the current second, six digits */
    BB_LOG_REQUEST_LINE,
    BB_LOG_METHOD,
    BB_LOG_PATH,
    BB_LOG_QUERY,
    BB_LOG_PROTOCOL,
    BB_LOG_STATUS,
    BB_LOG_BYTES,         /* "-" for 0 bytes */
    BB_LOG_BYTES_OR_ZERO, /* "0" for 0 bytes */
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
    BB_LOG_REASON,
};

struct bb__log_step {
    uint8_t kind;     /* enum bb__log_kind */
    uint16_t at, len; /* a fixed text or a name: its place in bb__log_format.text */
};

#define BB_LOG_STEPS_MAX 128

/* Maximum number of bytes that strftime() may write for one step. */
#define BB_LOG_TIME_AS_MAX 128

/* Each line has room for at least this many bytes of client data. */
#define BB_LOG_VALUES_MIN 1024

/* Bytes. Each target accepts lines of up to this length. Some targets accept longer lines. */
#define BB_LOG_LINE_MIN 4096

struct bb__log_format {
    struct bb__log_step steps[BB_LOG_STEPS_MAX];
    unsigned count;
    bool json;               /* each value is a JSON value: a quoted string, a number or null */
    bool wants_clock;        /* needs times in microseconds */
    unsigned response_count; /* number of steps that need a field of the response */
    uint8_t response_steps[BB_LOG_STEPS_MAX];
    size_t fixed; /* length of the longest line, without the escaped values */
    size_t text_len;
    char text[BB_ACCESS_LOG_FORMAT_MAX + BB_LOG_STEPS_MAX]; /* names end with NUL */
};

/* Compiles a format. notation: the name of a format, or a text with directives; NUL-terminated. Returns
 * BB_OK, or BB_EFORMAT with the reason in `fault`. */
int bb__log_format_compile(struct bb__log_format *format, const char *notation, char fault[BB_FAULT_MAX]);

#endif
