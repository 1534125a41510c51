/* deadline.c: see deadline.h. */
#include "system/deadline.h"

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>

/* ms */
#define LOOK_EVERY 1000

void bb__deadline_clear(struct bb__deadlines *deadlines, struct bb__deadline *deadline)
{
    if (deadline->kind == BB_DEADLINE_NONE) return;
    if (deadline->previous)
        deadline->previous->next = deadline->next;
    else
        deadlines->kinds[deadline->kind].first = deadline->next;
    if (deadline->next)
        deadline->next->previous = deadline->previous;
    else
        deadlines->kinds[deadline->kind].last = deadline->previous;
    deadline->previous = deadline->next = NULL;
    deadline->kind = BB_DEADLINE_NONE;
}

void bb__deadline_set(struct bb__deadlines *deadlines, struct bb__deadline *deadline,
                      enum bb__deadline_kind kind, uint64_t now)
{
    bb__deadline_clear(deadlines, deadline);
    uint64_t duration = deadlines->kinds[kind].duration;
    deadline->kind = (uint8_t)kind;
    deadline->since = now;
    deadline->due = duration > 0 ? now + duration : UINT64_MAX;
    deadline->previous = deadlines->kinds[kind].last;
    if (deadline->previous)
        deadline->previous->next = deadline;
    else
        deadlines->kinds[kind].first = deadline;
    deadlines->kinds[kind].last = deadline;
}

struct bb__deadline *bb__deadline_take_due(struct bb__deadlines *deadlines, uint64_t now)
{
    for (int kind = BB_DEADLINE_NONE + 1; kind < BB_DEADLINE_KINDS; kind++) {
        struct bb__deadline *first = deadlines->kinds[kind].first;
        if (first && first->due <= now) {
            bb__deadline_clear(deadlines, first);
            return first;
        }
    }
    return NULL;
}

struct bb__deadline *bb__deadline_oldest(const struct bb__deadlines *deadlines, enum bb__deadline_kind kind)
{
    return deadlines->kinds[kind].first;
}

void bb__deadline_shorten(struct bb__deadlines *deadlines, enum bb__deadline_kind kind, uint64_t duration,
                          uint64_t now)
{
    uint64_t *usual = &deadlines->kinds[kind].duration;
    if (*usual == 0 || duration < *usual) *usual = duration;
    for (struct bb__deadline *each = deadlines->kinds[kind].first; each; each = each->next) {
        uint64_t from = each->since > now ? each->since : now;
        if (each->due > from + duration) each->due = from + duration;
    }
}

void bb__deadline_put_off(struct bb__deadlines *deadlines, uint64_t time)
{
    for (int kind = BB_DEADLINE_NONE + 1; kind < BB_DEADLINE_KINDS; kind++) {
        if (kind == BB_DEADLINE_KEEPALIVE) continue;
        for (struct bb__deadline *each = deadlines->kinds[kind].first; each; each = each->next) {
            each->since += time;
            if (each->due < UINT64_MAX) each->due += time;
        }
    }
}

/* A client that has sent nothing, or has its response, loses nothing by a stop of the process. */
static bool loses_time(int kind)
{
    return kind == BB_DEADLINE_HEADER || kind == BB_DEADLINE_BODY || kind == BB_DEADLINE_WRITE;
}

int bb__deadline_wait(const struct bb__deadlines *deadlines, uint64_t now)
{
    uint64_t next = UINT64_MAX;
    bool somebody_is_waited_for = false;
    for (int kind = BB_DEADLINE_NONE + 1; kind < BB_DEADLINE_KINDS; kind++) {
        const struct bb__deadline *first = deadlines->kinds[kind].first;
        if (!first || first->due == UINT64_MAX) continue;
        if (first->due < next) next = first->due;
        if (loses_time(kind)) somebody_is_waited_for = true;
    }
    if (somebody_is_waited_for && next > now + LOOK_EVERY) next = now + LOOK_EVERY;
    if (next == UINT64_MAX) return -1;
    if (next <= now) return 0;
    return next - now > INT_MAX ? INT_MAX : (int)(next - now);
}
