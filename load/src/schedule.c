/* schedule.c: see schedule.h. */
#include "schedule.h"
#include "clock.h"

#include <math.h>

/* splitmix64: the same times for the same seed on any machine, which rand() does not promise. */
static uint64_t next_random(uint64_t *state)
{
    uint64_t mixed = *state += 0x9e3779b97f4a7c15ULL;
    mixed = (mixed ^ mixed >> 30) * 0xbf58476d1ce4e5b9ULL;
    mixed = (mixed ^ mixed >> 27) * 0x94d049bb133111ebULL;
    return mixed ^ mixed >> 31;
}

/* A gap between two arrivals of a Poisson process: -ln(u) of the mean, u in (0, 1]. Arrivals of all threads
 * together are a Poisson process of the whole rate again. */
static double next_gap(struct schedule *schedule)
{
    double uniform = (double)((next_random(&schedule->random) >> 11) + 1) / (double)(1ULL << 53);
    return -log(uniform) * (double)schedule->plan->threads * (double)NS_PER_SECOND / schedule->plan->rate;
}

/* Evenly spaced times are computed from their number, not summed up: an error would grow with the run. */
static void set_due(struct schedule *schedule)
{
    const struct plan *plan = schedule->plan;
    if (plan->is_poisson) {
        schedule->offset_ns += next_gap(schedule);
    } else {
        double number = (double)(schedule->index * plan->threads + schedule->thread);
        schedule->offset_ns = number * (double)NS_PER_SECOND / plan->rate;
    }
    schedule->due_ns = plan->start_ns + (uint64_t)schedule->offset_ns;
}

void schedule_init(struct schedule *schedule, struct plan *plan, unsigned thread)
{
    *schedule = (struct schedule){.plan = plan, .thread = thread, .random = plan->seed};
    for (unsigned i = 0; i < thread; i++) schedule->random = next_random(&schedule->random);
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
