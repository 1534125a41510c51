/* h1_status.h: status lines and reason phrases, from one table. Used by the reply encoder. */
#ifndef BB_H1_STATUS_H
#define BB_H1_STATUS_H

#include <stddef.h>

/* Maximum number of bytes that bb__h1_put_status_line() writes. */
#define BB_STATUS_LINE_MAX 64

/* Offset of the status code in the status line. The reason phrase begins four bytes later. */
#define BB_STATUS_LINE_CODE (sizeof "HTTP/1.1 " - 1)

/* Writes the status line for a status 100..999, CRLF included. The version is always HTTP/1.1, for every
 * client (RFC 9110 2.5). Returns the length. */
size_t bb__h1_put_status_line(char to[BB_STATUS_LINE_MAX], int status);

#endif
