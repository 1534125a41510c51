/* h1_request_start.h: parses X-Request-Start, in which a proxy in front says when it received the request. A
 * client can set the field as well: the caller (conn_proxy_time.c) decides whether to believe it. */
#ifndef BB_H1_REQUEST_START_H
#define BB_H1_REQUEST_START_H

#include "bontebok.h"

/* Returns microseconds since 1970, for a head that has_start. The field holds a time of this century in
 * seconds, milliseconds, microseconds or nanoseconds. A fraction and a leading "t=" are allowed. Returns 0 if
 * the value is not a time, or if there are several fields. */
uint64_t bb__request_start(const struct bb_head *head);

#endif
