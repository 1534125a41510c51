/* h1_status.c: see h1_status.h. The table has a whole status line for each status of the IANA registry, so
 * one memcpy() writes a line. */
#include "http/h1_status.h"

#include <stdbool.h>
#include <string.h>

#define VERSION "HTTP/1.1 "

static const struct {
    const char *text; /* without CRLF */
    size_t len;
} lines[] = {
#define LINE(status, reason)                                                                                 \
    [(status)-100] = {VERSION #status " " reason, sizeof(VERSION #status " " reason) - 1}
    LINE(100, "Continue"),
    LINE(101, "Switching Protocols"),
    LINE(102, "Processing"),
    LINE(103, "Early Hints"),
    LINE(200, "OK"),
    LINE(201, "Created"),
    LINE(202, "Accepted"),
    LINE(203, "Non-Authoritative Information"),
    LINE(204, "No Content"),
    LINE(205, "Reset Content"),
    LINE(206, "Partial Content"),
    LINE(207, "Multi-Status"),
    LINE(208, "Already Reported"),
    LINE(226, "IM Used"),
    LINE(300, "Multiple Choices"),
    LINE(301, "Moved Permanently"),
    LINE(302, "Found"),
    LINE(303, "See Other"),
    LINE(304, "Not Modified"),
    LINE(305, "Use Proxy"),
    LINE(307, "Temporary Redirect"),
    LINE(308, "Permanent Redirect"),
    LINE(400, "Bad Request"),
    LINE(401, "Unauthorized"),
    LINE(402, "Payment Required"),
    LINE(403, "Forbidden"),
    LINE(404, "Not Found"),
    LINE(405, "Method Not Allowed"),
    LINE(406, "Not Acceptable"),
    LINE(407, "Proxy Authentication Required"),
    LINE(408, "Request Timeout"),
    LINE(409, "Conflict"),
    LINE(410, "Gone"),
    LINE(411, "Length Required"),
    LINE(412, "Precondition Failed"),
    LINE(413, "Content Too Large"),
    LINE(414, "URI Too Long"),
    LINE(415, "Unsupported Media Type"),
    LINE(416, "Range Not Satisfiable"),
    LINE(417, "Expectation Failed"),
    LINE(421, "Misdirected Request"),
    LINE(422, "Unprocessable Content"),
    LINE(423, "Locked"),
    LINE(424, "Failed Dependency"),
    LINE(425, "Too Early"),
    LINE(426, "Upgrade Required"),
    LINE(428, "Precondition Required"),
    LINE(429, "Too Many Requests"),
    LINE(431, "Request Header Fields Too Large"),
    LINE(451, "Unavailable For Legal Reasons"),
    LINE(500, "Internal Server Error"),
    LINE(501, "Not Implemented"),
    LINE(502, "Bad Gateway"),
    LINE(503, "Service Unavailable"),
    LINE(504, "Gateway Timeout"),
    LINE(505, "HTTP Version Not Supported"),
    LINE(506, "Variant Also Negotiates"),
    LINE(507, "Insufficient Storage"),
    LINE(508, "Loop Detected"),
    LINE(511, "Network Authentication Required"),
#undef LINE
};

#define LINES (sizeof lines / sizeof *lines)

static bool is_known(int status)
{
    return status >= 100 && (size_t)(status - 100) < LINES && lines[status - 100].text != NULL;
}

size_t bb__h1_put_status_line(char to[BB_STATUS_LINE_MAX], int status)
{
    size_t len;
    if (is_known(status)) {
        len = lines[status - 100].len;
        memcpy(to, lines[status - 100].text, len);
    } else {
        /* The reason phrase may be empty, but the space before it is required (RFC 9112 4). */
        const char digits[] = {(char)('0' + status / 100), (char)('0' + status / 10 % 10),
                               (char)('0' + status % 10), ' '};
        memcpy(to, VERSION, BB_STATUS_LINE_CODE);
        memcpy(to + BB_STATUS_LINE_CODE, digits, sizeof digits);
        len = BB_STATUS_LINE_CODE + sizeof digits;
    }
    memcpy(to + len, "\r\n", 2);
    return len + 2;
}
