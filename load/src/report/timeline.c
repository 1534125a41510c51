/* timeline.c: see timeline.h. */
#include "report/timeline.h"
#include "clock.h"

#include <inttypes.h>

void timeline_start(struct timeline *timeline, FILE *out, bool is_json, uint64_t start_ns)
{
    *timeline = (struct timeline){.out = out, .is_json = is_json, .start_ns = start_ns, .line_ns = start_ns};
    if (!is_json)
        fprintf(out, "%8s %10s %10s %10s %10s\n", "second", "requests", "req/s", "max ms", "failed");
    fflush(out);
}

uint64_t timeline_due_ns(const struct timeline *timeline)
{
    uint64_t seconds = (timeline->line_ns - timeline->start_ns) / NS_PER_SECOND;
    return timeline->start_ns + (seconds + 1) * NS_PER_SECOND;
}

static void print_json(FILE *out, double second, double rate, const uint64_t fates[FATE_COUNT],
                       uint64_t slowest_ns)
{
    fprintf(out, "{\"second\":%.1f,", second);
    fates_print_json(out, fates);
    fprintf(out, ",\"requests_per_second\":%.1f,\"latency_us\":{\"max\":", rate);
    if (slowest_ns > 0) {
        fprintf(out, "%.1f}}\n", (double)slowest_ns / (double)NS_PER_US);
    } else {
        fputs("null}}\n", out);
    }
}

static void print_text(FILE *out, double second, double rate, const uint64_t fates[FATE_COUNT],
                       uint64_t slowest_ns)
{
    uint64_t requests = fates_sum(fates);
    fprintf(out, "%8.1f %10" PRIu64 " %10.1f ", second, requests, rate);
    if (slowest_ns > 0) {
        fprintf(out, "%10.1f", (double)slowest_ns / (double)NS_PER_MS);
    } else {
        fprintf(out, "%10s", "-");
    }
    fprintf(out, " %10" PRIu64, requests - fates[FATE_OK]);
    fates_print_failures(out, fates, NULL);
    fputs("\n", out);
}

void timeline_print(struct timeline *timeline, uint64_t now_ns, const uint64_t fates[FATE_COUNT],
                    uint64_t slowest_ns)
{
    uint64_t since[FATE_COUNT];
    for (int fate = 0; fate < FATE_COUNT; fate++) since[fate] = fates[fate] - timeline->fates[fate];
    double second = (double)(now_ns - timeline->start_ns) / (double)NS_PER_SECOND;
    double rate = (double)since[FATE_OK] * (double)NS_PER_SECOND / (double)(now_ns - timeline->line_ns);
    (timeline->is_json ? print_json : print_text)(timeline->out, second, rate, since, slowest_ns);
    fflush(timeline->out);
    timeline->line_ns = now_ns;
    for (int fate = 0; fate < FATE_COUNT; fate++) timeline->fates[fate] = fates[fate];
}
