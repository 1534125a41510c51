/* schedule.c: see schedule.h. */
#include "schedule.h"
#include "clock.h"

/* Computed from the number, not summed up: an error would grow with the run. */
static void set_due(struct schedule *schedule)
{
    const struct plan *plan = schedule->plan;
    double number = (double)(schedule->index * plan->threads + schedule->thread);
    schedule->due_ns = plan->start_ns + (uint64_t)(number * (double)NS_PER_SECOND / plan->rate);
}

void schedule_init(struct schedule *schedule, struct plan *plan, unsigned thread)
{
    *schedule = (struct schedule){.plan = plan, .thread = thread};
    if (plan->rate > 0) set_due(schedule);
}

static enum schedule_news draw_closed(struct schedule *schedule, uint64_t now_ns, uint64_t *due_ns)
{
    struct plan *plan = schedule->plan;
    *due_ns = now_ns;
    if (now_ns < plan->end_ns &&
        atomic_fetch_add_explicit(&plan->drawn, 1, memory_order_relaxed) < plan->requests) {
        return SCHEDULE_DUE;
    }
    schedule->is_over = true;
    return SCHEDULE_OVER;
}

static enum schedule_news draw_open(struct schedule *schedule, uint64_t now_ns, uint64_t *due_ns)
{
    struct plan *plan = schedule->plan;
    *due_ns = schedule->due_ns;
    if (schedule->due_ns >= plan->end_ns ||
        schedule->index * plan->threads + schedule->thread >= plan->requests) {
        schedule->is_over = true;
        return SCHEDULE_OVER;
    }
    if (schedule->due_ns > now_ns) return SCHEDULE_LATER;
    schedule->index++;
    set_due(schedule);
    return SCHEDULE_DUE;
}

enum schedule_news schedule_draw(struct schedule *schedule, uint64_t now_ns, uint64_t *due_ns)
{
    if (schedule->is_over) return SCHEDULE_OVER;
    enum schedule_news news = schedule->plan->rate > 0 ? draw_open(schedule, now_ns, due_ns)
                                                       : draw_closed(schedule, now_ns, due_ns);
    if (news == SCHEDULE_DUE) schedule->last_ns = *due_ns;
    return news;
}
