/* log_start.h: since when a request waits, as the proxy in front of us tells. For the queue time in the
 * access log: what a client sends is no better than a client is. */
#ifndef BB_LOG_START_H
#define BB_LOG_START_H

#include "bontebok.h"

/* Microseconds since 1970 by X-Request-Start: seconds with a fraction, or whole milli-, micro- or
 * nanoseconds; "t=" before them or not. 0 when there is none, or it is no time. */
uint64_t bb__log_request_start(const struct bb_head *head);

#endif
