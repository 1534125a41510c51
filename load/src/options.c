/* options.c: see options.h. */
#include "options.h"
#include "clock.h"
#include "request.h"
#include "target.h"
#include "text.h"

#include <errno.h>
#include <getopt.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char options_usage[] =
    "Usage: bontebok bench [options] URL\n"
    "       bontebok bench --table [options] URL...\n"
    "\n"
    "Sends requests to an HTTP/1.1 server, and prints their results and latencies.\n"
    "URL: http://HOST:PORT/PATH, http://[V6]:PORT/PATH, unix:/SOCKET:/PATH or unix:@NAME:/PATH\n"
    "\n"
    "  -n, --requests N       send exactly N requests\n"
    "  -d, --duration SECONDS send requests for this time, then wait for the last responses (default 10);\n"
    "                         1s, 500ms and 2m are times, too\n"
    "  -c, --connections N    connections at the same time, over all threads (default 10)\n"
    "  -t, --threads N        threads (default 1)\n"
    "      --close            a new connection for each request\n"
    "      --rate R           R requests are due per second, evenly spaced; latency counts from the due "
    "time\n"
    "      --poisson          with --rate: due at random times, as from many independent users\n"
    "      --also SHARE:PATH  that share of the requests, chosen at random, goes to PATH; may be repeated\n"
    "      --paths FILE       the paths of a file, one per line, take turns; the URL's path is not used\n"
    "      --seed N           seed of the random values (default 1); the same N gives the same requests\n"
    "      --timeout SECONDS  for one request, connecting included (default 10)\n"
    "  -H, --header FIELD     add \"Name: value\"; may be repeated\n"
    "  -m, --method METHOD    (default GET; POST with --body)\n"
    "      --body FILE        send the file's bytes as the body\n"
    "      --until-errors N   stop the run after N failed requests\n"
    "      --timeline         print a line for each second while the run lasts\n"
    "      --json             the result as one JSON object\n"
    "      --table            several URLs, one after the other, one line for each\n"
    "      --dry-run          with --rate: prints each request's due time and path; sends nothing\n"
    "  -h, --help             this text\n"
    "\n"
    "Exit status: 0 when every request was answered with a status of 200 to 399, 1 when one was not,\n"
    "2 for a wrong option.\n";

enum long_option {
    CLOSE = 256,
    RATE,
    POISSON,
    ALSO,
    PATHS,
    SEED,
    TIMEOUT,
    BODY,
    UNTIL_ERRORS,
    TIMELINE,
    JSON,
    TABLE,
    DRY_RUN
};

static const struct option long_options[] = {
    {"requests", required_argument, NULL, 'n'},
    {"duration", required_argument, NULL, 'd'},
    {"connections", required_argument, NULL, 'c'},
    {"threads", required_argument, NULL, 't'},
    {"close", no_argument, NULL, CLOSE},
    {"rate", required_argument, NULL, RATE},
    {"poisson", no_argument, NULL, POISSON},
    {"also", required_argument, NULL, ALSO},
    {"paths", required_argument, NULL, PATHS},
    {"seed", required_argument, NULL, SEED},
    {"timeout", required_argument, NULL, TIMEOUT},
    {"header", required_argument, NULL, 'H'},
    {"method", required_argument, NULL, 'm'},
    {"body", required_argument, NULL, BODY},
    {"until-errors", required_argument, NULL, UNTIL_ERRORS},
    {"timeline", no_argument, NULL, TIMELINE},
    {"json", no_argument, NULL, JSON},
    {"table", no_argument, NULL, TABLE},
    {"dry-run", no_argument, NULL, DRY_RUN},
    {"help", no_argument, NULL, 'h'},
    {NULL, 0, NULL, 0},
};

__attribute__((format(printf, 2, 3))) static bool wrong(char *message, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(message, OPTIONS_MESSAGE_MAX, format, arguments);
    va_end(arguments);
    return false;
}

static bool read_count(const char *name, const char *text, uint64_t max, uint64_t *count, char *message)
{
    char *end;
    errno = 0;
    unsigned long long value = strtoull(text, &end, 10);
    if (*text < '0' || *text > '9' || *end || errno || value < 1 || value > max) {
        return wrong(message, "%s: a whole number from 1 to %llu is needed, not \"%s\"", name,
                     (unsigned long long)max, text);
    }
    *count = value;
    return true;
}

static bool read_unsigned(const char *name, const char *text, unsigned max, unsigned *count, char *message)
{
    uint64_t value;
    if (!read_count(name, text, max, &value, message)) return false;
    *count = (unsigned)value;
    return true;
}

static bool read_decimal(const char *name, const char *text, double min, double max, double *number,
                         char *message)
{
    char *end;
    double value = strtod(text, &end);
    /* The negation also rejects "nan", which compares false with every number. */
    if (end == text || *end || !(value >= min && value <= max)) {
        return wrong(message, "%s: a number from %g to %g is needed, not \"%s\"", name, min, max, text);
    }
    *number = value;
    return true;
}

/* The seconds of a unit; 0: no such unit. */
static double seconds_of(const char *unit)
{
    static const struct {
        const char *name;
        double seconds;
    } units[] = {{"", 1}, {"s", 1}, {"ms", 0.001}, {"m", 60}, {"h", 3600}};
    for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
        if (strcmp(unit, units[i].name) == 0) return units[i].seconds;
    }
    return 0;
}

static bool read_time(const char *name, const char *text, uint64_t *ns, char *message)
{
    char *unit;
    double seconds = strtod(text, &unit) * seconds_of(unit);
    /* The negation also rejects "nan". */
    if (unit == text || !(seconds >= 0.001 && seconds <= 1e6)) {
        return wrong(message, "%s: a time such as 10, 0.5, 500ms, 30s or 2m is needed, not \"%s\"", name,
                     text);
    }
    *ns = (uint64_t)(seconds * (double)NS_PER_SECOND);
    return true;
}

static bool is_path(const char *text)
{
    return *text == '/' && !strchr(text, '#') && target_is_printable(text);
}

static bool add_also(struct options *options, const char *text, char *message)
{
    char *colon;
    double share = strtod(text, &colon), sum = share;
    const char *resource = *colon == ':' ? colon + 1 : "";
    if (colon == text || !is_path(resource)) {
        return wrong(message, "--also: SHARE:/PATH is needed, not \"%s\"", text);
    }
    for (size_t i = 0; i < options->also_count; i++) sum += options->also[i].share;
    if (!(share > 0 && sum <= 1)) {
        return wrong(message, "--also: each share must be above 0, and their sum at most 1, not \"%s\"",
                     text);
    }
    options->also[options->also_count++] = (struct also){.share = share, .resource = resource};
    return true;
}

/* Splits the text of the --paths file, whose lines take the place of --also. */
static bool split_paths(struct options *options, size_t line_max, char *message)
{
    free(options->also);
    options->also = calloc(line_max, sizeof *options->also);
    if (!options->also) return wrong(message, "out of memory");
    char *rest = options->paths;
    while (rest && *rest) {
        char *line = strsep(&rest, "\n");
        if (!is_path(line)) {
            return wrong(message, "--paths: %s: line %zu: a path is needed, not \"%s\"", options->paths_file,
                         options->also_count + 1, line);
        }
        options->also[options->also_count++] = (struct also){.resource = line};
    }
    return options->also_count > 0 || wrong(message, "--paths: %s has no path", options->paths_file);
}

static bool read_paths(struct options *options, char *message)
{
    struct body file;
    int error = body_read(&file, options->paths_file);
    options->paths = file.bytes;
    if (error) return wrong(message, "--paths: %s: %s", options->paths_file, strerror(error));
    if (memchr(file.bytes, '\0', file.len)) {
        return wrong(message, "--paths: %s has a NUL byte", options->paths_file);
    }
    size_t line_max = 1;
    for (size_t i = 0; i < file.len; i++) line_max += file.bytes[i] == '\n';
    return split_paths(options, line_max, message);
}

/* Only this tool sets the framing fields. If a request's body did not end where the head says, the server
 * would misread the next request, and the results of all later requests would be wrong. */
static bool add_field(struct options *options, const char *field, char *message)
{
    const char *colon = strchr(field, ':');
    size_t name_len = colon ? (size_t)(colon - field) : 0;
    if (!text_is_token(field, name_len) || !text_is_value(colon, strlen(colon))) {
        return wrong(message, "-H: \"Name: value\" is needed, not \"%s\"", field);
    }
    if (text_is_word(field, name_len, "content-length") ||
        text_is_word(field, name_len, "transfer-encoding")) {
        return wrong(message, "-H: %.*s is set by --body", (int)name_len, field);
    }
    options->fields[options->field_count++] = field;
    return true;
}

static bool set_method(struct options *options, const char *method, char *message)
{
    if (!text_is_token(method, strlen(method))) {
        return wrong(message, "-m: a method is needed, not \"%s\"", method);
    }
    if (strcmp(method, "CONNECT") == 0) return wrong(message, "-m: CONNECT is not supported");
    options->method = method;
    return true;
}

static bool set_output(struct options *options, enum output output, char *message)
{
    if (options->output != OUTPUT_TEXT && options->output != output) {
        return wrong(message, "--json, --table and --dry-run exclude each other");
    }
    options->output = output;
    return true;
}

static bool set_option(struct options *options, int option, const char *value, char *message)
{
    switch (option) {
    case 'n':
        return read_count("-n", value, 1ULL << 48, &options->requests, message);
    case 'd':
        return read_time("-d", value, &options->duration_ns, message);
    case 'c':
        return read_unsigned("-c", value, 100000, &options->connections, message);
    case 't':
        return read_unsigned("-t", value, 1024, &options->threads, message);
    case 'H':
        return add_field(options, value, message);
    case 'm':
        return set_method(options, value, message);
    case CLOSE:
        options->close = true;
        return true;
    case RATE:
        return read_decimal("--rate", value, 0.001, 1e7, &options->rate, message);
    case POISSON:
        options->is_poisson = true;
        return true;
    case ALSO:
        return add_also(options, value, message);
    case PATHS:
        options->paths_file = value;
        return true;
    case SEED:
        options->has_seed = true;
        return read_count("--seed", value, UINT64_MAX, &options->seed, message);
    case TIMEOUT:
        return read_time("--timeout", value, &options->timeout_ns, message);
    case BODY:
        options->body_file = value;
        return true;
    case UNTIL_ERRORS:
        return read_count("--until-errors", value, 1ULL << 48, &options->until_errors, message);
    case TIMELINE:
        options->has_timeline = true;
        return true;
    case JSON:
        return set_output(options, OUTPUT_JSON, message);
    case TABLE:
        return set_output(options, OUTPUT_TABLE, message);
    default:
        return set_output(options, OUTPUT_PLAN, message);
    }
}

/* Checks options that are valid alone but not together. */
static bool check(struct options *options, char *message)
{
    if (options->url_count == 0) return wrong(message, "a URL is needed");
    if (options->url_count > 1 && options->output != OUTPUT_TABLE) {
        return wrong(message, "several URLs need --table: %s", options->urls[1]);
    }
    if (options->has_timeline && (options->output == OUTPUT_TABLE || options->output == OUTPUT_PLAN)) {
        return wrong(message, "--timeline excludes --table and --dry-run");
    }
    if (options->requests && options->duration_ns) return wrong(message, "-n and -d exclude each other");
    if (options->threads > options->connections) {
        return wrong(message, "-t must not be larger than -c: -t is %u, -c is %u", options->threads,
                     options->connections);
    }
    if (options->rate == 0) {
        if (options->is_poisson) return wrong(message, "--poisson needs --rate");
        if (options->output == OUTPUT_PLAN) return wrong(message, "--dry-run needs --rate");
    }
    if (options->has_seed && !options->is_poisson && options->also_count == 0) {
        return wrong(message, "--seed needs --poisson or --also");
    }
    if (!options->requests && !options->duration_ns) options->duration_ns = 10 * NS_PER_SECOND;
    if (!options->method) options->method = options->body_file ? "POST" : "GET";
    if (options->paths_file && options->also_count > 0) {
        return wrong(message, "--paths and --also exclude each other");
    }
    return !options->paths_file || read_paths(options, message);
}

enum options_outcome options_parse(struct options *options, int argc, char **argv,
                                   char message[OPTIONS_MESSAGE_MAX])
{
    *options = (struct options){.connections = 10, .threads = 1, .seed = 1, .timeout_ns = 10 * NS_PER_SECOND};
    options->fields = calloc((size_t)argc + 1, sizeof *options->fields);
    options->also = calloc((size_t)argc + 1, sizeof *options->also);
    if (!options->fields || !options->also) return wrong(message, "out of memory"), OPTIONS_WRONG;

    optind = 0; /* restarts getopt, with glibc and with musl */
    int option;
    while ((option = getopt_long(argc, argv, ":n:d:c:t:H:m:h", long_options, NULL)) != -1) {
        if (option == 'h') return OPTIONS_HELP;
        if (option == ':') return wrong(message, "%s needs a value", argv[optind - 1]), OPTIONS_WRONG;
        if (option == '?') {
            if (optopt > 0 && optopt < 256)
                return wrong(message, "unknown option -%c", optopt), OPTIONS_WRONG;
            return wrong(message, "unknown option %s", argv[optind - 1]), OPTIONS_WRONG;
        }
        if (!set_option(options, option, optarg, message)) return OPTIONS_WRONG;
    }
    options->urls = argv + optind;
    options->url_count = argc - optind;
    return check(options, message) ? OPTIONS_RUN : OPTIONS_WRONG;
}

void options_free(struct options *options)
{
    free(options->fields);
    free(options->also);
    free(options->paths);
}
