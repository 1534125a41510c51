/* conn_proxy_time.c: how long a request has waited since a trusted proxy got it, by the proxy's clock. See
 * conn.h. */
#include "conn/conn.h"
#include "http/h1_request_start.h"

/* us: one hour. A longer time counts as unknown, because the client has given up by then, or the proxy's
 * clock differs from ours. */
#define BELIEVED UINT64_C(3600000000)

uint64_t bb__conn_proxy_time(const struct bb__conn *conn, const struct bb__conn_context *context)
{
    if (!bb__trusted_proxies_includes(context->trusted, conn->tcp ? conn->peer.address : NULL)) return 0;
    uint64_t time = bb__elapsed(bb__clock_real_us(), bb__request_start(&context->head));
    return time <= BELIEVED ? time : 0; /* 0 also if the start time is missing, or is in the future */
}
