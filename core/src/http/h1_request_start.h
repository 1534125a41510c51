/* h1_request_start.h: since when a request waits, as the proxy in front of us tells it in X-Request-Start.
 * What a client sends is no better than a client is: who is asked decides whether to believe it. */
#ifndef BB_H1_REQUEST_START_H
#define BB_H1_REQUEST_START_H

#include "bontebok.h"

/* Microseconds since 1970 of a head that has_start: seconds, or whole milli-, micro- or nanoseconds of this
 * century, each with a fraction or without; "t=" before them or not. 0: it is no time, or there are several.
 */
uint64_t bb__request_start(const struct bb_head *head);

#endif
