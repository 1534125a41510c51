/* h1_request_start.h: since when a request waits, as X-Request-Start says, which a proxy in front sets. A
 * client can set the field as well: the caller (conn_proxy_time.c) decides whether to believe it. */
#ifndef BB_H1_REQUEST_START_H
#define BB_H1_REQUEST_START_H

#include "bontebok.h"

/* Returns microseconds since 1970, for a head that has_start. The field holds seconds, or milliseconds,
 * microseconds or nanoseconds of this century, with or without a fraction, with or without "t=" before
 * them. Returns 0 if the value is not a time, or if there are several fields. */
uint64_t bb__request_start(const struct bb_head *head);

#endif
