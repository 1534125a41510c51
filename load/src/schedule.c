/* schedule.c: see schedule.h. */
#include "schedule.h"
#include "clock.h"
#include "random.h"

#include <math.h>

/* Each request uses two places of the seed's random sequence (see random.h). */
enum chance { CHANCE_GAP, CHANCE_WHICH, CHANCES };

static double chance(const struct plan *plan, uint64_t number, enum chance chance)
{
    return random_at(plan->seed, number * CHANCES + chance);
}

static uint64_t next_number(const struct schedule *schedule)
{
    return schedule->index * schedule->plan->threads + schedule->thread;
}

/* The gap between two arrivals of a Poisson process is -ln(u) times the mean gap, with u evenly
 * distributed. Each thread also adds up the gaps of the other threads, so that the times do not depend on
 * the number of threads. */
static double random_offset(struct schedule *schedule)
{
    const struct plan *plan = schedule->plan;
    while (schedule->gaps <= next_number(schedule)) {
        schedule->offset_ns +=
            -log(chance(plan, schedule->gaps++, CHANCE_GAP)) * (double)NS_PER_SECOND / plan->rate;
    }
    return schedule->offset_ns;
}

/* Evenly spaced times are computed from the number and not summed up, because the rounding error of a sum
 * would grow with the run. */
static void set_due(struct schedule *schedule)
{
    const struct plan *plan = schedule->plan;
    double offset_ns = plan->is_poisson ? random_offset(schedule)
                                        : (double)next_number(schedule) * (double)NS_PER_SECOND / plan->rate;
    schedule->due_ns = plan->start_ns + (uint64_t)offset_ns;
}

static size_t choose(const struct plan *plan, uint64_t number)
{
    if (plan->is_rotating) return 1 + number % plan->also_count;
    double at = plan->also_count > 0 ? chance(plan, number, CHANCE_WHICH) : 0;
    for (size_t i = 0; i < plan->also_count; i++) {
        at -= plan->also[i].share;
        if (at <= 0) return i + 1;
    }
    return 0;
}

void plan_init(struct plan *plan, const struct options *options, uint64_t start_ns)
{
    *plan = (struct plan){
        .start_ns = start_ns,
        .end_ns = options->duration_ns ? start_ns + options->duration_ns : UINT64_MAX,
        .rate = options->rate,
        .is_poisson = options->is_poisson,
        .seed = options->seed,
        .also = options->also,
        .also_count = options->also_count,
        .is_rotating = options->paths_file != NULL,
        .threads = options->threads,
        .requests = options->requests ? options->requests : UINT64_MAX,
        .until_errors = options->until_errors ? options->until_errors : UINT64_MAX,
    };
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
    uint64_t number = UINT64_MAX;
    if (now_ns < plan->end_ns) number = atomic_fetch_add_explicit(&plan->drawn, 1, memory_order_relaxed);
    if (number < plan->requests) {
        schedule->which = choose(plan, number);
        return SCHEDULE_DUE;
    }
    schedule->is_over = true;
    return SCHEDULE_OVER;
}

static enum schedule_news draw_open(struct schedule *schedule, uint64_t now_ns, uint64_t *due_ns)
{
    struct plan *plan = schedule->plan;
    uint64_t number = next_number(schedule);
    *due_ns = schedule->due_ns;
    if (schedule->due_ns >= plan->end_ns || number >= plan->requests) {
        schedule->is_over = true;
        return SCHEDULE_OVER;
    }
    if (schedule->due_ns > now_ns) return SCHEDULE_LATER;
    schedule->which = choose(plan, number);
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
