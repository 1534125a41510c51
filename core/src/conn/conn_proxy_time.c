/* conn_proxy_time.c: for how long a request has waited by the clock of the proxy in front of us. Only where
 * one tells. See conn.h. */
#include "conn/conn.h"
#include "http/h1_request_start.h"

/* us; an hour. Who waits for longer is not waiting any more, or has another idea of the time than we. */
#define BELIEVED UINT64_C(3600000000)

uint64_t bb__conn_proxy_time(const struct bb__conn *conn, const struct bb__conn_context *context)
{
    if (!bb__trusted_proxies_includes(context->trusted, conn->tcp ? conn->peer : NULL)) return 0;
    uint64_t time = bb__clock_real_us() - bb__request_start(&context->head);
    return time <= BELIEVED ? time : 0; /* what was in 1970, and what is to come, is far beyond */
}
