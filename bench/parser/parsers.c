/* parsers.c: compares our request head parser with picohttpparser in one process. bench/parser/run builds and
 * runs this program. PICO_BENCH is the path of picohttpparser's own benchmark. This file uses only the
 * request in that benchmark.
 *
 *   parsers time ROUNDS REQUEST...             prints the median time per parse (ns) of each parser
 *   parsers repeat CONTENDER TIMES REQUEST     only parses, so that callgrind can count instructions
 *
 * Each round runs all parsers (contenders), one after another. REQUEST is a file, or "own" for
 * picohttpparser's request.
 */
#define main pico_bench_main /* included for its request only */
#include PICO_BENCH
#undef main

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "http/h1_head.h"

#define MOST_FIELDS 100
#define MOST_ROUNDS 1001
#define BATCH       2000

struct request {
    const char *name;
    char bytes[8192];
    size_t len;
};

/* ---- contenders ---- */

typedef int pico(const char *, size_t, const char **, size_t *, const char **, size_t *, int *,
                 struct phr_header *, size_t *, size_t);
pico phr_parse_request_sse42;

static struct bb__field_names *names;

static void parse_ours(const struct request *request, struct bb__field_names *known)
{
    static const struct bb__head_limits limits = {16 * 1024, 64 * 1024, MOST_FIELDS, false};
    struct bb_field fields[MOST_FIELDS];
    struct bb_head head;
    size_t head_len;
    if (bb__head_parse(request->bytes, request->len, &limits, known, fields, &head, &head_len) != BB_OK)
        abort();
}

static void parse_pico(const struct request *request, pico *parse)
{
    struct phr_header fields[MOST_FIELDS];
    const char *method, *target;
    size_t method_len, target_len, count = MOST_FIELDS;
    int minor;
    if (parse(request->bytes, request->len, &method, &method_len, &target, &target_len, &minor, fields,
              &count, 0) < 0)
        abort();
}

static void ours(const struct request *request)
{
    parse_ours(request, names);
}

static void ours_nameless(const struct request *request)
{
    parse_ours(request, NULL);
}

static void pico_o2(const struct request *request)
{
    parse_pico(request, phr_parse_request);
}

#ifdef PICO_SSE42
static void pico_sse42(const struct request *request)
{
    parse_pico(request, phr_parse_request_sse42);
}
#endif

static const struct contender {
    const char *name;
    void (*parse)(const struct request *request);
} contenders[] = {
    {"ours", ours},
    {"ours-nameless", ours_nameless},
    {"pico", pico_o2},
#ifdef PICO_SSE42
    {"pico-sse4.2", pico_sse42},
#endif
};

#define CONTENDERS (sizeof contenders / sizeof *contenders)

/* ---- the two commands ---- */

static void load(struct request *request, const char *name)
{
    request->name = name;
    if (strcmp(name, "own") == 0) {
        request->len = sizeof REQ - 1;
        memcpy(request->bytes, REQ, request->len);
        return;
    }
    FILE *file = fopen(name, "rb");
    if (!file) abort();
    request->len = fread(request->bytes, 1, sizeof request->bytes, file);
    (void)fclose(file);
}

static double now(void)
{
    struct timespec time;
    (void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
    return (double)time.tv_sec * 1e9 + (double)time.tv_nsec;
}

static int by_size(const void *left, const void *right)
{
    double difference = *(const double *)left - *(const double *)right;
    return (difference > 0) - (difference < 0);
}

static void time_all(const struct request *request, unsigned rounds)
{
    static double taken[CONTENDERS][MOST_ROUNDS];
    for (unsigned round = 0; round < rounds; round++) {
        for (size_t who = 0; who < CONTENDERS; who++) {
            double start = now();
            for (unsigned i = 0; i < BATCH; i++) contenders[who].parse(request);
            taken[who][round] = (now() - start) / BATCH;
        }
    }
    for (size_t who = 0; who < CONTENDERS; who++) {
        qsort(taken[who], rounds, sizeof **taken, by_size);
        printf("%s\t%s\t%.1f\n", request->name, contenders[who].name, taken[who][rounds / 2]);
    }
}

static int repeat(const char *contender, unsigned times, const struct request *request)
{
    for (size_t who = 0; who < CONTENDERS; who++) {
        if (strcmp(contender, contenders[who].name) != 0) continue;
        for (unsigned i = 0; i < times; i++) contenders[who].parse(request);
        return 0;
    }
    return 1;
}

int main(int argc, char **argv)
{
    static struct request request;
    names = bb__field_names_new();
    if (argc == 5 && strcmp(argv[1], "repeat") == 0) {
        load(&request, argv[4]);
        return repeat(argv[2], (unsigned)atoi(argv[3]), &request);
    }
    if (argc < 4 || strcmp(argv[1], "time") != 0) return 2;
    unsigned rounds = (unsigned)atoi(argv[2]);
    if (rounds < 1 || rounds > MOST_ROUNDS) return 2;
    for (int i = 3; i < argc; i++) {
        load(&request, argv[i]);
        time_all(&request, rounds);
    }
    return 0;
}
