/* main.c: bontebok-bench, the program behind `bontebok bench`: reads the command line, then one run for each
 * URL. */
#include "options.h"
#include "report.h"
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
    setrlimit(RLIMIT_NOFILE, &limit); /* when it cannot be raised, `local` tells */
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

/* Runs and reports one URL. Returns an exit status. */
static int bench(const struct options *options, const struct target *target, int signals,
                 struct result *result)
{
    struct request request;
    int error = request_build(&request, options, target);
    if (error && options->body_file) {
        fprintf(stderr, NAME "%s: %s\n", options->body_file, strerror(error));
    } else if (!error) {
        error = run(options, target, &request, signals, result);
        if (error) fprintf(stderr, NAME "%s\n", strerror(error));
    }
    request_free(&request);
    if (error) return EXIT_FAILURE;

    if (options->output == OUTPUT_TEXT) report_text(stdout, options, target->url, result);
    if (options->output == OUTPUT_JSON) report_json(stdout, result);
    if (options->output == OUTPUT_TABLE) report_table_row(stdout, url_width(options), target->url, result);
    fflush(stdout);
    return result->fates[FATE_OK] == result->requests ? EXIT_SUCCESS : EXIT_FAILURE;
}

static int bench_all(const struct options *options, struct target *targets)
{
    static struct result result; /* large for a stack */
    int status = EXIT_SUCCESS, signals = run_catch_signals();
    if (signals < 0) {
        fprintf(stderr, NAME "%s\n", strerror(errno));
        return EXIT_FAILURE;
    }
    if (options->output == OUTPUT_TABLE) report_table_head(stdout, url_width(options));
    for (int i = 0; i < options->url_count && !result.is_interrupted; i++) {
        const char *failed = target_resolve(&targets[i]);
        if (failed) {
            fprintf(stderr, NAME "%s: %s\n", targets[i].host, failed);
            return EXIT_FAILURE;
        }
        if (bench(options, &targets[i], signals, &result) != EXIT_SUCCESS) status = EXIT_FAILURE;
    }
    return status;
}

/* Returns the targets of all URLs, or NULL with what is wrong in `message`. */
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

    if (targets) {
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
