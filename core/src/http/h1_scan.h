/* h1_scan.h: finds the first byte that ends a run of allowed ones. Used by the head parser and the reply
 * encoder. SSE2 on x86-64, NEON on arm64, a table elsewhere (or with -DBB_SCAN_PLAIN); no variant reads at or
 * past `end`. */
#ifndef BB_H1_SCAN_H
#define BB_H1_SCAN_H

#include <stdbool.h>
#include <stddef.h>

/* First byte that may not stand in a field value (RFC 9110 5.5): a control other than HTAB, or DEL; obs-text
 * passes. */
const char *bb__scan_value(const char *at, const char *end);

/* First byte that may not stand in a request target: SP, controls, DEL, "#". */
const char *bb__scan_target(const char *at, const char *end);

/* The same, or "?": where the part of a target ends that comes before its query. */
const char *bb__scan_path(const char *at, const char *end);

/* First byte that is no tchar (RFC 9110 5.6.2). By table in every variant: names are short. */
const char *bb__scan_token(const char *at, const char *end);

extern const bool bb__is_tchar[256];

/* OWS (RFC 9110 5.6.3). */
static inline bool bb__is_blank(char byte)
{
    return byte == ' ' || byte == '\t';
}

/* True when at[0..len) is `word`, which is in lower case, in any letter case. Not strncasecmp(): the host may
 * have set a locale, and in Turkish "I" is no "i". */
bool bb__is_word(const char *at, size_t len, const char *word);

#endif
