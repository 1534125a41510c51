/* log_escape.h: makes client data harmless in a log line. No byte of the data can end the line, close a quote
 * or control a terminal that shows the log. Used by log_line.c. */
#ifndef BB_LOG_ESCAPE_H
#define BB_LOG_ESCAPE_H

#include "bontebok.h"

/* Both functions write at most *spare bytes to `to` and subtract the number of written bytes from *spare. If
 * a value does not fit, the value is cut, "..." is added beyond *spare, and *spare becomes 0. Both functions
 * return the end of the written bytes. */

/* Writes control bytes, bytes beyond ASCII, quotes and backslashes as \xHH. */
char *bb__log_escape(char *to, size_t *spare, struct bb_slice bytes);

/* Writes the inside of a JSON string (RFC 8259 7). Valid UTF-8 stays as it is. An invalid byte becomes
 * U+FFFD. */
char *bb__log_escape_json(char *to, size_t *spare, struct bb_slice bytes);

#endif
