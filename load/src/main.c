/* main.c: bontebok-bench, the program behind `bontebok bench`. It reads the command line, and does one run
 * for each URL. */
#include "options.h"
#include "report/report.h"
#include "request.h"
#include "run.h"
#include "target.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#define NAME              "bontebok bench: "
#define EXIT_WRONG_OPTION 2

static void raise_descriptor_limit(void)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) < 0) return;
    limit.rlim_cur = limit.rlim_max;
    setrlimit(RLIMIT_NOFILE, &limit); /* if this fails, requests without a descriptor get the fate `local` */
}

static int url_width(const struct options *options)
{
    int width = (int)strlen("URL");
    for (int i = 0; i < options->url_count; i++) {
        int len = (int)strlen(options->urls[i]);
        if (len > width) width = len;
    }
    return width;
}

/* Runs one URL. Returns NULL, or the reason of a failure. */
static const char *bench(const struct options *options, const struct body *body, struct target *target,
                         struct result *result)
{
    struct request *requests;
    const char *failed = target_resolve(target);
    if (failed) return failed;
    int error = requests_build(&requests, options, body, target);
    if (!error) error = run(options, target, requests, result);
    requests_free(requests, options);
    return error ? strerror(error) : NULL;
}

static void report(const struct options *options, const char *url, const struct result *result,
                   const char *failed)
{
    bool is_table = options->output == OUTPUT_TABLE;
    if (!failed && !is_table && result->nobody_listens) fprintf(stderr, NAME "%s: nobody listens\n", url);
    if (failed && is_table) {
        report_table_failure(stdout, url_width(options), url, failed);
    } else if (failed) {
        fprintf(stderr, NAME "%s: %s\n", url, failed);
    } else if (is_table) {
        report_table_row(stdout, url_width(options), url, result);
    } else if (options->output == OUTPUT_JSON) {
        report_json(stdout, result);
    } else {
        report_text(stdout, options, url, result);
    }
    fflush(stdout);
}

/* Returns EXIT_SUCCESS if every URL has a result and all requests were ok, else EXIT_FAILURE. */
static int bench_all(const struct options *options, struct target *targets)
{
    static struct result result; /* large for a stack */
    struct body body = {0};
    int good = 0, error = options->body_file ? body_read(&body, options->body_file) : 0;
    if (error) fprintf(stderr, NAME "%s: %s\n", options->body_file, strerror(error));
    if (!error && options->output == OUTPUT_TABLE) report_table_head(stdout, url_width(options));

    for (int i = 0; !error && i < options->url_count && !result.is_interrupted; i++) {
        const char *failed = bench(options, options->body_file ? &body : NULL, &targets[i], &result);
        report(options, targets[i].url, &result, failed);
        good += !failed && result.requests > 0 && result.fates[FATE_OK] == result.requests;
    }
    free(body.bytes);
    return good == options->url_count ? EXIT_SUCCESS : EXIT_FAILURE;
}

/* Returns the targets of all URLs, or NULL and the reason in `message`. */
static struct target *parse_urls(const struct options *options, char message[OPTIONS_MESSAGE_MAX])
{
    struct target *targets = calloc((size_t)options->url_count, sizeof *targets);
    if (!targets) snprintf(message, OPTIONS_MESSAGE_MAX, "out of memory");
    for (int i = 0; targets && i < options->url_count; i++) {
        const char *wrong = target_parse(&targets[i], options->urls[i]);
        if (!wrong) continue;
        snprintf(message, OPTIONS_MESSAGE_MAX, "%s %s", options->urls[i], wrong);
        free(targets);
        return NULL;
    }
    return targets;
}

int main(int argc, char **argv)
{
    struct options options;
    char message[OPTIONS_MESSAGE_MAX];
    int status = EXIT_SUCCESS;
    enum options_outcome outcome = options_parse(&options, argc, argv, message);
    struct target *targets = outcome == OPTIONS_RUN ? parse_urls(&options, message) : NULL;

    if (targets && options.output == OUTPUT_PLAN) {
        report_plan(stdout, &options, &targets[0]);
    } else if (targets) {
        raise_descriptor_limit();
        status = bench_all(&options, targets);
    } else if (outcome == OPTIONS_HELP) {
        fputs(options_usage, stdout);
    } else {
        fprintf(stderr, NAME "%s\n" NAME "--help lists the options\n", message);
        status = EXIT_WRONG_OPTION;
    }
    free(targets);
    options_free(&options);
    return status;
}
