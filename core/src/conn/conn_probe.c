/* conn_probe.c: see conn_probe.h. A lane is a thread that serves requests. */
#include "conn/conn_probe.h"
#include "conn/conn_admission.h"
#include "conn/conn_body.h"
#include "http/h1_reply.h"

#include <unistd.h>

static bool is(const struct bb_slice *text, const char *wanted)
{
    size_t len = strlen(wanted);
    return len > 0 && text->len == len && memcmp(text->at, wanted, len) == 0;
}

bool bb__conn_is_probe(const struct bb__conn_context *context)
{
    const struct bb_settings *settings = context->settings;
    return is(&context->head.path, settings->ready_path) || is(&context->head.path, settings->live_path);
}

static bool is_past(uint64_t since, uint64_t limit, uint64_t now)
{
    return since > 0 && now >= since + limit;
}

/* A lane of this process can be BB_IDLE_SILENT until its next event, for example after the whole machine was
 * busy. But this process responds, so it is not frozen. */
static bool is_stuck(const struct bb__slot *slot, uint64_t limit, uint64_t now)
{
    bool silent = atomic_load(&slot->idle) == BB_IDLE_SILENT && atomic_load(&slot->pid) != (int)getpid();
    return silent ||
           (is_past(atomic_load(&slot->began), limit, now) && is_past(atomic_load(&slot->beat), limit, now));
}

static bool has_stuck_lane(const struct bb_scoreboard *scoreboard, int pid, uint64_t limit, uint64_t now)
{
    unsigned used = bb__scoreboard_used(scoreboard);
    for (unsigned i = 0; i < used; i++) {
        const struct bb__slot *slot = bb__scoreboard_slot(scoreboard, i);
        if (atomic_load(&slot->pid) == pid && is_stuck(slot, limit, now)) return true;
    }
    return false;
}

/* Returns whether a worker of the server is alive. limit: worker_timeout. */
static bool is_alive(const struct bb_scoreboard *scoreboard, uint64_t limit, uint64_t now)
{
    unsigned used = limit > 0 ? bb__scoreboard_used(scoreboard) : 0;
    bool found = false;
    for (unsigned i = 0; i < used; i++) {
        int pid = atomic_load(&bb__scoreboard_slot(scoreboard, i)->pid);
        if (pid <= 0) continue;
        if (!has_stuck_lane(scoreboard, pid, limit, now)) return true;
        found = true;
    }
    return !found;
}

/* If both paths are the same, the path is ready_path. */
static enum bb_probe probe_of(const struct bb__conn_context *context)
{
    return is(&context->head.path, context->settings->ready_path) ? BB_PROBE_READY : BB_PROBE_LIVE;
}

static int status_of(const struct bb__conn_context *context)
{
    const struct bb_settings *settings = context->settings;
    const struct bb_scoreboard *scoreboard = context->admission->scoreboard;
    const struct bb_head *head = &context->head;
    if (!is(&head->method, "GET") && !is(&head->method, "HEAD")) return 405;
    bool good = probe_of(context) == BB_PROBE_READY
                    ? !bb__scoreboard_is_draining(scoreboard)
                    : is_alive(scoreboard, settings->worker_timeout, context->now);
    return good ? 200 : 503;
}

enum bb__conn_next bb__conn_answer_probe(struct bb__conn *conn, struct bb__conn_context *context)
{
    const struct bb__h1_error response = {.status = status_of(context), .head_method = conn->head_method};
    if (response.status != 405) bb__count_probe(&context->counts, probe_of(context), response.status == 200);
    if (context->head.chunked || context->head.content_length > 0)
        return bb__conn_reject_with(conn, context, &response);
    (void)bb__conn_serve(conn, context);
    return bb__conn_reply(conn, context, &response);
}
