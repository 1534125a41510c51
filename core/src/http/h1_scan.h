/* h1_scan.h: finds the first byte that ends a run of allowed bytes. Used by the head parser and the reply
 * encoder. It uses SSE2 on x86-64, NEON on arm64, and a table elsewhere or with -DBB_SCAN_PLAIN. No variant
 * reads at or past `end`. */
#ifndef BB_H1_SCAN_H
#define BB_H1_SCAN_H

#include "bontebok.h"

#include <stdbool.h>
#include <stddef.h>

/* Returns the first byte that a field value must not contain (RFC 9110 5.5): DEL, or a control byte other
 * than HTAB. obs-text is allowed. */
const char *bb__scan_value(const char *at, const char *end);

/* Returns the first byte that a request target must not contain: SP, control bytes, DEL, "#". */
const char *bb__scan_target(const char *at, const char *end);

/* As bb__scan_target(), but also stops at "?", where the query begins. */
const char *bb__scan_path(const char *at, const char *end);

/* Returns the first byte that is not a tchar (RFC 9110 5.6.2). Every variant uses a table, because names are
 * short. */
const char *bb__scan_token(const char *at, const char *end);

extern const bool bb__is_tchar[256];

/* OWS (RFC 9110 5.6.3). */
static inline bool bb__is_blank(char byte)
{
    return byte == ' ' || byte == '\t';
}

/* Returns the bytes without surrounding white space. */
static inline struct bb_slice bb__trim(const char *at, const char *end)
{
    while (at < end && bb__is_blank(*at)) at++;
    while (at < end && bb__is_blank(end[-1])) end--;
    return (struct bb_slice){at, (size_t)(end - at)};
}

/* True if at[0..len) is `word` in any letter case. `word` is in lower case. */
bool bb__is_word(const char *at, size_t len, const char *word);

#endif
