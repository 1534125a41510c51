/* conn_probe.h: requests for ready_path and live_path, to which the core itself responds.
 * bontebok_scoreboard.h has the contract. Used by conn. Health checks to which the host responds
 * (health_paths) are in conn_admission.h. */
#ifndef BB_CONN_PROBE_H
#define BB_CONN_PROBE_H

#include "conn/conn.h"

static inline bool bb__has_probe_paths(const struct bb_settings *settings)
{
    return settings->ready_path[0] != '\0' || settings->live_path[0] != '\0';
}

/* Whether context->head is the head of a probe. Call this only if context->has_probes. */
bool bb__conn_is_probe(const struct bb__conn_context *context);

/* Responds to the probe of a connection in HEAD, whose head is context->head. If the probe has a body, the
 * body is not read, and the connection ends. */
enum bb__conn_next bb__conn_answer_probe(struct bb__conn *conn, struct bb__conn_context *context);

#endif
