/* log_escape.h: makes what a client sent harmless in a line of a log: nothing of it can end the line, close a
 * quote or reach a terminal that shows it. Bytes in, bytes out; used by log_line.c. */
#ifndef BB_LOG_ESCAPE_H
#define BB_LOG_ESCAPE_H

#include "bontebok.h"

/* Writes at most *spare bytes to `to`, and takes them off it; what is cut ends with "...", which is on top of
 * *spare and leaves 0 of it. Returns the end. */

/* Control bytes, those past ASCII, quotes and backslashes as \xHH. */
char *bb__log_escape(char *to, size_t *spare, struct bb_slice bytes);

/* The inside of a JSON string (RFC 8259 7). UTF-8 stays as it is, what is none becomes U+FFFD. */
char *bb__log_escape_json(char *to, size_t *spare, struct bb_slice bytes);

#endif
