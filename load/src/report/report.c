/* report.c: see report.h. */
#include "report/report.h"
#include "clock.h"
#include "schedule.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static const struct {
    const char *name;
    double fraction;
    bool in_table;
} percentiles[] = {
    {"p50", 0.5, true}, {"p90", 0.9, false}, {"p99", 0.99, true}, {"p999", 0.999, true}, {"max", 1.0, false},
};

#define PERCENTILES (sizeof percentiles / sizeof *percentiles)

static double latency_us(const struct result *result, double fraction)
{
    return (double)histogram_percentile(&result->latency, fraction) / (double)NS_PER_US;
}

#define TIME_MAX 24

/* Writes a time in the unit that fits it: "23.9 us", "1.23 ms", "2.00 s". */
static const char *fitting(char text[TIME_MAX], double us)
{
    if (us < 999.95) { /* 999.95 is shown as 1000.0 */
        snprintf(text, TIME_MAX, "%.1f us", us);
    } else if (us < 999995) {
        snprintf(text, TIME_MAX, "%.2f ms", us / 1e3);
    } else {
        snprintf(text, TIME_MAX, "%.2f s", us / 1e6);
    }
    return text;
}

static double per_second(const struct result *result)
{
    return result->seconds > 0 ? (double)result->fates[FATE_OK] / result->seconds : 0;
}

static double cpu_per_request(const struct result *result)
{
    return result->requests > 0 ? result->cpu_us / (double)result->requests : 0;
}

/* Why the run ended early, or NULL. */
static const char *ended_early(const struct result *result)
{
    if (result->is_interrupted) return "interrupted";
    if (result->nobody_listens) return "nobody listens: ended after a second";
    return result->reached_errors ? "stopped by --until-errors" : NULL;
}

void report_text(FILE *out, const struct options *options, const char *url, const struct result *result)
{
    fprintf(out, "%s %s\n", options->method, url);
    fprintf(out, "  %u connection%s%s, %u thread%s, ", options->connections,
            options->connections == 1 ? "" : "s", options->close ? ", a new one for each request" : "",
            options->threads, options->threads == 1 ? "" : "s");
    if (options->rate > 0) {
        fprintf(out, "%g requests due per second%s\n", options->rate,
                options->is_poisson ? ", at random" : "");
    } else {
        fputs("as fast as responses come\n", out);
    }
    for (size_t i = 0; i < options->also_count; i++) {
        fprintf(out, "  %g %% of them to %s\n", 100 * options->also[i].share, options->also[i].resource);
    }
    fprintf(out, "\n  requests    %" PRIu64 "\n", result->requests);
    fprintf(out, "  ok          %" PRIu64 "  %.1f per second\n", result->fates[FATE_OK], per_second(result));
    fprintf(out, "  failed      %" PRIu64, result->requests - result->fates[FATE_OK]);
    fates_print_failures(out, result->fates, result->first_error);
    fputs("\n", out);
    if (result->fates[FATE_OK] + result->fates[FATE_STATUS] > 0) {
        fputs("  statuses    ", out);
        statuses_print(out, &result->statuses);
        fputs("\n", out);
    }
    if (result->latency.count > 0) {
        char time[TIME_MAX];
        fputs("  latency", out);
        for (size_t i = 0; i < PERCENTILES; i++) {
            fprintf(out, "%s%s %s", i > 0 ? "  " : "     ", percentiles[i].name,
                    fitting(time, latency_us(result, percentiles[i].fraction)));
        }
        fputs("\n", out);
    }
    fprintf(out, "  this tool   %.2f us of CPU per request\n", cpu_per_request(result));
    if (result->resent > 0) {
        fprintf(out, "  sent again  %" PRIu64 ", a kept-alive connection had ended before they arrived\n",
                result->resent);
    }
    if (ended_early(result)) {
        fprintf(out, "  %s, %" PRIu64 " in flight are not counted\n", ended_early(result), result->abandoned);
    }
}

static void print_us(FILE *out, const struct result *result, double us)
{
    if (result->latency.count > 0) {
        fprintf(out, "%.1f", us);
    } else {
        fputs("null", out);
    }
}

void report_json(FILE *out, const struct result *result)
{
    fputs("{", out);
    fates_print_json(out, result->fates);
    fputs(",\"statuses\":", out);
    statuses_print_json(out, &result->statuses);
    fprintf(out, ",\"requests_per_second\":%.1f,\"latency_us\":{\"mean\":", per_second(result));
    print_us(out, result, histogram_mean(&result->latency) / (double)NS_PER_US);
    for (size_t i = 0; i < PERCENTILES; i++) {
        fprintf(out, ",\"%s\":", percentiles[i].name);
        print_us(out, result, latency_us(result, percentiles[i].fraction));
    }
    fprintf(out, "},\"resent\":%" PRIu64 "}\n", result->resent);
}

void report_table_head(FILE *out, int url_width)
{
    fprintf(out, "%-*s %10s %10s", url_width, "URL", "req/s", "CPU us/req");
    for (size_t i = 0; i < PERCENTILES; i++) {
        if (percentiles[i].in_table) fprintf(out, " %9s", percentiles[i].name);
    }
    fputs("  errors\n", out);
}

void report_table_row(FILE *out, int url_width, const char *url, const struct result *result)
{
    char time[TIME_MAX];
    fprintf(out, "%-*s %10.1f %10.2f", url_width, url, per_second(result), cpu_per_request(result));
    for (size_t i = 0; i < PERCENTILES; i++) {
        if (!percentiles[i].in_table) continue;
        if (result->latency.count > 0) {
            fprintf(out, " %9s", fitting(time, latency_us(result, percentiles[i].fraction)));
        } else {
            fprintf(out, " %9s", "-");
        }
    }
    if (result->fates[FATE_OK] == result->requests) fputs("  0", out);
    fates_print_failures(out, result->fates, result->first_error);
    if (result->resent > 0) fprintf(out, ", sent again %" PRIu64, result->resent);
    if (ended_early(result)) fprintf(out, "  %s", ended_early(result));
    fputs("\n", out);
}

void report_table_failure(FILE *out, int url_width, const char *url, const char *reason)
{
    fprintf(out, "%-*s %10s %10s", url_width, url, "-", "-");
    for (size_t i = 0; i < PERCENTILES; i++) {
        if (percentiles[i].in_table) fprintf(out, " %9s", "-");
    }
    fprintf(out, "  %s\n", reason);
}

void report_plan(FILE *out, const struct options *options, const struct target *target)
{
    struct plan plan;
    struct schedule schedule;
    uint64_t due_ns;
    plan_init(&plan, options, 0);
    plan.threads = 1; /* the plan is the same with any number; with one thread, it is in order */
    schedule_init(&schedule, &plan, 0);
    while (schedule_draw(&schedule, UINT64_MAX, &due_ns) == SCHEDULE_DUE) {
        fprintf(out, "%.3f\t", (double)due_ns / (double)NS_PER_US);
        if (schedule.which > 0) {
            fprintf(out, "%s\n", options->also[schedule.which - 1].resource);
        } else {
            fprintf(out, "%s%.*s\n", *target->resource == '/' ? "" : "/", target->resource_len,
                    target->resource);
        }
    }
}
