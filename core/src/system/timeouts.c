/* timeouts.c: see timeouts.h. */
#include "system/timeouts.h"
#include "base/clock.h"

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>

/* ms, the longest wait while a client is in the middle of a request or a response. */
#define LOOK_EVERY 1000

void bb__timeout_clear(struct bb__timeouts *timeouts, struct bb__timeout *timeout)
{
    if (timeout->kind == BB_TIMEOUT_NONE) return;
    if (timeout->previous)
        timeout->previous->next = timeout->next;
    else
        timeouts->kinds[timeout->kind].first = timeout->next;
    if (timeout->next)
        timeout->next->previous = timeout->previous;
    else
        timeouts->kinds[timeout->kind].last = timeout->previous;
    timeouts->kinds[timeout->kind].count--;
    timeout->previous = timeout->next = NULL;
    timeout->kind = BB_TIMEOUT_NONE;
}

void bb__timeout_set(struct bb__timeouts *timeouts, struct bb__timeout *timeout, enum bb__timeout_kind kind,
                     uint64_t now)
{
    bb__timeout_clear(timeouts, timeout);
    uint64_t duration = timeouts->kinds[kind].duration;
    timeout->kind = (uint8_t)kind;
    timeout->since = now;
    timeout->due = duration > 0 ? now + duration : UINT64_MAX;
    timeout->previous = timeouts->kinds[kind].last;
    if (timeout->previous)
        timeout->previous->next = timeout;
    else
        timeouts->kinds[kind].first = timeout;
    timeouts->kinds[kind].last = timeout;
    timeouts->kinds[kind].count++;
}

struct bb__timeout *bb__timeout_take_due(struct bb__timeouts *timeouts, uint64_t now)
{
    for (int kind = BB_TIMEOUT_NONE + 1; kind < BB_TIMEOUT_KINDS; kind++) {
        struct bb__timeout *first = timeouts->kinds[kind].first;
        if (first && first->due <= now) {
            bb__timeout_clear(timeouts, first);
            return first;
        }
    }
    return NULL;
}

struct bb__timeout *bb__timeout_oldest(const struct bb__timeouts *timeouts, enum bb__timeout_kind kind)
{
    return timeouts->kinds[kind].first;
}

void bb__timeout_shorten(struct bb__timeouts *timeouts, enum bb__timeout_kind kind, uint64_t duration,
                         uint64_t now)
{
    uint64_t *usual = &timeouts->kinds[kind].duration;
    if (*usual == 0 || duration < *usual) *usual = duration;
    for (struct bb__timeout *each = timeouts->kinds[kind].first; each; each = each->next) {
        uint64_t from = each->since > now ? each->since : now;
        if (each->due > from + duration) each->due = from + duration;
    }
}

void bb__timeout_put_off(struct bb__timeouts *timeouts, uint64_t from, uint64_t now)
{
    for (int kind = BB_TIMEOUT_NONE + 1; kind < BB_TIMEOUT_KINDS; kind++) {
        if (kind == BB_TIMEOUT_KEEPALIVE) continue;
        for (struct bb__timeout *each = timeouts->kinds[kind].first; each; each = each->next) {
            uint64_t since = bb__excused(each->since, from, now);
            if (each->due < UINT64_MAX) each->due += bb__elapsed(since, each->since);
            each->since = since;
        }
    }
}

/* Returns whether a client with this kind of timeout is in the middle of a request or a response. Such a
 * client loses time if the process is frozen (SIGSTOP). */
static bool loses_time(int kind)
{
    return kind == BB_TIMEOUT_HEADER || kind == BB_TIMEOUT_BODY || kind == BB_TIMEOUT_WRITE;
}

int bb__timeout_wait(const struct bb__timeouts *timeouts, uint64_t now)
{
    uint64_t next = UINT64_MAX;
    bool somebody_is_waited_for = false;
    for (int kind = BB_TIMEOUT_NONE + 1; kind < BB_TIMEOUT_KINDS; kind++) {
        const struct bb__timeout *first = timeouts->kinds[kind].first;
        if (!first || first->due == UINT64_MAX) continue;
        if (first->due < next) next = first->due;
        if (loses_time(kind)) somebody_is_waited_for = true;
    }
    if (somebody_is_waited_for && next > now + LOOK_EVERY) next = now + LOOK_EVERY;
    if (next == UINT64_MAX) return -1;
    if (next <= now) return 0;
    return next - now > INT_MAX ? INT_MAX : (int)(next - now);
}
