/* options_test.c: valid command lines, and command lines that are rejected with a reason. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "clock.h"
#include "options.h"
#include "support/files.h"

#include <string.h>
#include <unistd.h>

#define ARGUMENTS_MAX 40

static struct options options;
static char message[OPTIONS_MESSAGE_MAX];
static char copy[512];
static char *arguments[ARGUMENTS_MAX];

static int free_options(void **state)
{
    (void)state;
    options_free(&options);
    options = (struct options){0};
    return 0;
}

/* Splits the command line at "|", and puts the program's name before the arguments. */
static enum options_outcome parse(const char *line)
{
    int count = 0;
    options_free(&options);
    strcpy(copy, line);
    arguments[count++] = "bontebok-bench";
    for (char *word = strtok(copy, "|"); word; word = strtok(NULL, "|")) arguments[count++] = word;
    arguments[count] = NULL;
    message[0] = '\0';
    return options_parse(&options, count, arguments, message);
}

static void assert_runs(const char *line)
{
    if (parse(line) != OPTIONS_RUN) fail_msg("%s: %s", line, message);
}

static void assert_wrong(const char *line, const char *reason)
{
    if (parse(line) != OPTIONS_WRONG) fail_msg("%s is not refused", line);
    if (!strstr(message, reason)) fail_msg("%s: \"%s\" does not say \"%s\"", line, message, reason);
}

static void has_defaults(void **state)
{
    (void)state;
    assert_runs("http://h/");
    assert_int_equal(options.output, OUTPUT_TEXT);
    assert_int_equal(options.requests, 0);
    assert_int_equal(options.duration_ns, 10 * NS_PER_SECOND);
    assert_int_equal(options.connections, 10);
    assert_int_equal(options.threads, 1);
    assert_int_equal(options.timeout_ns, 10 * NS_PER_SECOND);
    assert_false(options.close);
    assert_int_equal(options.until_errors, 0);
    assert_false(options.has_timeline);
    assert_true(options.rate == 0);
    assert_int_equal(options.seed, 1);
    assert_string_equal(options.method, "GET");
    assert_int_equal(options.url_count, 1);
    assert_string_equal(options.urls[0], "http://h/");
}

static void reads_times_with_units(void **state)
{
    (void)state;
    static const struct {
        const char *line;
        uint64_t ns;
    } times[] = {{"-d|1s|http://h/", NS_PER_SECOND},
                 {"-d|500ms|http://h/", NS_PER_SECOND / 2},
                 {"-d|2m|http://h/", 120 * NS_PER_SECOND},
                 {"-d|1h|http://h/", 3600 * NS_PER_SECOND}};
    for (size_t i = 0; i < sizeof times / sizeof *times; i++) {
        assert_runs(times[i].line);
        assert_int_equal(options.duration_ns, times[i].ns);
    }
}

static void reads_every_option(void **state)
{
    (void)state;
    assert_runs(
        "-n|1000|-c|20|-t|4|--close|--rate|99.5|--poisson|--also|0.01:/slow?a|--also|.5:/b|"
        "--seed|7|--timeout|0.25|-H|A: b|--header|C:|-m|PUT|--body|f|--until-errors|3|--timeline|--json|"
        "http://h/");
    assert_int_equal(options.requests, 1000);
    assert_int_equal(options.duration_ns, 0);
    assert_int_equal(options.connections, 20);
    assert_int_equal(options.threads, 4);
    assert_true(options.close);
    assert_true(options.rate == 99.5);
    assert_true(options.is_poisson);
    assert_int_equal(options.also_count, 2);
    assert_true(options.also[0].share == 0.01 && options.also[1].share == 0.5);
    assert_string_equal(options.also[0].resource, "/slow?a");
    assert_string_equal(options.also[1].resource, "/b");
    assert_int_equal(options.seed, 7);
    assert_int_equal(options.timeout_ns, NS_PER_SECOND / 4);
    assert_int_equal(options.field_count, 2);
    assert_string_equal(options.fields[0], "A: b");
    assert_string_equal(options.fields[1], "C:");
    assert_string_equal(options.method, "PUT");
    assert_string_equal(options.body_file, "f");
    assert_int_equal(options.until_errors, 3);
    assert_true(options.has_timeline);
    assert_int_equal(options.output, OUTPUT_JSON);

    assert_runs("--requests=5|--connections=2|--threads=2|http://h/|--method=GET");
    assert_int_equal(options.requests, 5);
    assert_runs("--duration|1.5|--table|http://a/|unix:b");
    assert_int_equal(options.duration_ns, 3 * NS_PER_SECOND / 2);
    assert_int_equal(options.url_count, 2);
    assert_runs("--body|f|http://h/");
    assert_string_equal(options.method, "POST");
    assert_runs("--also|1:/b|--seed|2|u");
    assert_runs("--dry-run|--rate|5|u");
    assert_int_equal(options.output, OUTPUT_PLAN);
    assert_int_equal(parse("-n|x|--help"), OPTIONS_WRONG);
    assert_int_equal(parse("--help"), OPTIONS_HELP);
    assert_int_equal(parse("-h"), OPTIONS_HELP);
}

/* Writes a file, and parses a command line with it. */
static enum options_outcome parse_with_paths(const char *bytes, size_t len, const char *more)
{
    char path[TEMPORARY_PATH], line[TEMPORARY_PATH + 64];
    int fd = mkstemp(temporary_path(path));
    assert_true(fd >= 0 && write(fd, bytes, len) == (ssize_t)len);
    close(fd);
    (void)snprintf(line, sizeof line, "--paths|%s|%su", path, more);
    enum options_outcome outcome = parse(line);
    unlink(path);
    return outcome;
}

static void assert_wrong_paths(const char *bytes, size_t len, const char *reason)
{
    assert_int_equal(parse_with_paths(bytes, len, ""), OPTIONS_WRONG);
    if (!strstr(message, reason)) fail_msg("\"%s\" does not say \"%s\"", message, reason);
}

static void reads_paths_from_a_file(void **state)
{
    (void)state;
    const char *const texts[] = {"/a\n/b?c\n/d", "/a\n/b?c\n/d\n"};
    for (size_t i = 0; i < 2; i++) {
        assert_int_equal(parse_with_paths(texts[i], strlen(texts[i]), ""), OPTIONS_RUN);
        assert_int_equal(options.also_count, 3);
        assert_string_equal(options.also[0].resource, "/a");
        assert_string_equal(options.also[1].resource, "/b?c");
        assert_string_equal(options.also[2].resource, "/d");
        assert_non_null(options.paths_file);
    }
}

static void refuses_files_that_are_no_paths(void **state)
{
    (void)state;
    assert_wrong_paths("", 0, "has no path");
    assert_wrong_paths("/a\nb\n", 5, "line 2: a path is needed, not \"b\"");
    assert_wrong_paths("/a\n\n/b\n", 7, "line 2: a path is needed, not \"\"");
    assert_wrong_paths("/a b\n", 5, "line 1");
    assert_wrong_paths("/a\r\n", 4, "line 1");
    assert_wrong_paths("/a#b\n", 5, "line 1");
    assert_wrong_paths("/a\n/b\0c\n", 9, "has a NUL byte");
    assert_wrong("--paths|/no/such/file|u", "--paths: /no/such/file: No such file or directory");
    assert_int_equal(parse_with_paths("/a\n", 3, "--also|0.1:/b|"), OPTIONS_WRONG);
    assert_non_null(strstr(message, "--paths and --also exclude each other"));
    assert_int_equal(parse_with_paths("/a\n", 3, "--seed|1|"), OPTIONS_WRONG);
    assert_non_null(strstr(message, "--seed needs --poisson or --also"));
}

static void refuses_wrong_values(void **state)
{
    (void)state;
    const char *const lines[] = {
        "-n|0|u",
        "-n|-1|u",
        "-n|1x|u",
        "-n| 1|u",
        "-n|1.5|u",
        "-n|1e3|u",
        "-c|0|u",
        "-c|100001|u",
        "-t|0|u",
        "-t|1025|u",
        "-d|0|u",
        "-d|x|u",
        "-d|nan|u",
        "-d|inf|u",
        "-d|1x|u",
        "--rate|0|u",
        "--rate|-5|u",
        "--rate|1e9|u",
        "--timeout|0|u",
        "-n|99999999999999999999|u",
        "--timeout|-1|u",
        "--until-errors|0|u",
        "--rate||u",
        "--poisson|--rate|1|--seed|-1|u",
        "--poisson|--rate|1|--seed||u",
    };
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        if (parse(lines[i]) != OPTIONS_WRONG) fail_msg("%s is not refused", lines[i]);
    }
    assert_wrong("-c|zero|u", "-c: a whole number from 1 to 100000 is needed, not \"zero\"");
    assert_wrong("--also|/slow|u", "--also: SHARE:/PATH is needed, not \"/slow\"");
    assert_wrong("--also|0.1|u", "SHARE:/PATH");
    assert_wrong("--also|0.1:slow|u", "SHARE:/PATH");
    assert_wrong("--also|0.1:/a#b|u", "SHARE:/PATH");
    assert_wrong("--also|0.1:/a HTTP/1.1\r\nX:|u", "SHARE:/PATH");
    assert_wrong("--also|0:/a|u",
                 "--also: each share must be above 0, and their sum at most 1, not \"0:/a\"");
    assert_wrong("--also|-1:/a|u", "each share must be above 0");
    assert_wrong("--also|nan:/a|u", "each share must be above 0");
    assert_wrong("--also|0.6:/a|--also|0.5:/b|u", "their sum at most 1, not \"0.5:/b\"");
    assert_wrong("-d|0|u", "-d: a time such as 10, 0.5, 500ms, 30s or 2m is needed, not \"0\"");
    assert_wrong("-d|1x|u", "not \"1x\"");
    assert_wrong("--timeout|s|u", "--timeout: a time such as");
    assert_wrong("--rate|fast|u", "--rate: a number from 0.001 to 1e+07 is needed, not \"fast\"");
}

static void refuses_what_does_not_go_together(void **state)
{
    (void)state;
    assert_wrong("-c|1", "a URL is needed");
    assert_wrong("http://a/|http://b/", "several URLs need --table: http://b/");
    assert_wrong("--json|--table|u", "--json, --table and --dry-run exclude each other");
    assert_wrong("--table|--json|u", "--json, --table");
    assert_wrong("--rate|1|--json|--dry-run|u", "--json, --table");
    assert_wrong("--dry-run|u", "--dry-run needs --rate");
    assert_wrong("--poisson|u", "--poisson needs --rate");
    assert_wrong("--rate|1|--seed|1|u", "--seed needs --poisson or --also");
    assert_wrong("-n|1|-d|1|u", "-n and -d");
    assert_wrong("--timeline|--table|u", "--timeline excludes --table and --dry-run");
    assert_wrong("--dry-run|--rate|1|--timeline|u", "--timeline excludes");
    assert_wrong("-t|3|-c|2|u", "-t must not be larger than -c: -t is 3, -c is 2");
    assert_wrong("-t|11|u", "-c is 10");
}

static void names_unknown_options(void **state)
{
    (void)state;
    assert_wrong("--fast|u", "unknown option --fast");
    assert_wrong("-x|u", "unknown option -x");
    assert_wrong("--close=yes|u", "--close=yes");
    assert_wrong("u|-n", "-n needs a value");
    assert_wrong("u|--rate", "--rate needs a value");
}

static void refuses_fields_and_methods_that_break_the_framing(void **state)
{
    (void)state;
    assert_wrong("-H|no colon|u", "\"Name: value\" is needed, not \"no colon\"");
    assert_wrong("-H|: value|u", "-H");
    assert_wrong("-H|na me: value|u", "-H");
    assert_wrong("-H|A: b\r\nC: d|u", "-H");
    assert_wrong("-H|content-length: 5|u", "content-length is set by --body");
    assert_wrong("-H|Transfer-Encoding: chunked|u", "Transfer-Encoding is set by --body");
    assert_wrong("-m|GET /|u", "-m");
    assert_wrong("-m|CONNECT|u", "CONNECT");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(has_defaults),
        cmocka_unit_test(reads_times_with_units),
        cmocka_unit_test(reads_every_option),
        cmocka_unit_test(reads_paths_from_a_file),
        cmocka_unit_test(refuses_files_that_are_no_paths),
        cmocka_unit_test(refuses_wrong_values),
        cmocka_unit_test(refuses_what_does_not_go_together),
        cmocka_unit_test(names_unknown_options),
        cmocka_unit_test(refuses_fields_and_methods_that_break_the_framing),
    };
    return cmocka_run_group_tests(tests, NULL, free_options);
}
