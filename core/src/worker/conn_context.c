/* conn_context.c: opens and closes the data that a lane or the I/O thread uses for all of its connections.
 * See worker.h. */
#include "conn/conn_probe.h"
#include "system/access_log.h"
#include "worker/worker.h"

#include <stdlib.h>

/* The parser counts these limits in 32 bits. Nobody needs higher limits. */
static uint32_t limit32(uint64_t setting)
{
    return setting < UINT32_MAX ? (uint32_t)setting : UINT32_MAX;
}

/* These settings need a scoreboard, because only the scoreboard shows which lanes are idle. */
static bool needs_admission(const struct bb_worker *worker)
{
    const struct bb_settings *settings = &worker->settings;
    return worker->files || settings->max_queue > 0 || settings->queue_timeout > 0 ||
           bb__has_probe_paths(settings);
}

int bb__conn_context_open(struct bb__conn_context *context, struct bb_worker *worker)
{
    const struct bb_settings *settings = &worker->settings;
    *context = (struct bb__conn_context){
        .settings = settings,
        .trusted = &worker->trusted,
        .spool_budget = &worker->spool_budget,
        .head_limits = {.max_target = settings->max_target,
                        .max_field_bytes = limit32(settings->max_field_bytes),
                        .max_fields = limit32(settings->max_fields),
                        .allow_underscores = settings->allow_underscore_headers != 0},
        .names = bb__field_names_new(),
        .scratch = malloc(BB_SCRATCH_SIZE),
        .admission = worker->scoreboard && needs_admission(worker) ? &worker->admission : NULL,
        .reports = &worker->reports,
        .counts = worker->metrics.counts,
        .ports = worker->listen.ports,
        .addresses = worker->listen.addresses,
        .listeners = &worker->listen.numbers,
        .now = bb__clock_ms(),
        .files = worker->files,
        .has_probes = worker->scoreboard && bb__has_probe_paths(settings),
    };
    context->fields = malloc(context->head_limits.max_fields * sizeof *context->fields);
    if (worker->settings.access_log[0] != '\0') {
        context->log = bb__access_log_new(&worker->log.format, &worker->log.sink);
        if (!context->log) return BB_ENOMEM;
    }
    return context->names && context->fields && context->scratch ? BB_OK : BB_ENOMEM;
}

void bb__conn_context_close(struct bb__conn_context *context)
{
    bb__buf_pool_free(&context->buf_pool);
    bb__buf_free(&context->answer);
    bb__field_names_free(context->names);
    bb__access_log_free(context->log);
    free(context->fields);
    free(context->scratch);
}
