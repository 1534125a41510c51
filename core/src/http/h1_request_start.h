/* h1_request_start.h: parses X-Request-Start, the time at which a proxy received the request. A client can
 * send this field, too. The caller (conn_proxy_time.c) decides whether to believe the time. */
#ifndef BB_H1_REQUEST_START_H
#define BB_H1_REQUEST_START_H

#include "bontebok.h"

/* Returns microseconds since 1970. The field holds a time of this century in seconds, milliseconds,
 * microseconds or nanoseconds. A fraction and a leading "t=" are allowed. Returns 0 if there is no field, if
 * there are several, or if the value is not a time. */
uint64_t bb__request_start(const struct bb_head *head);

#endif
