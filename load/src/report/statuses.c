/* statuses.c: see statuses.h. */
#include "report/statuses.h"

#include <inttypes.h>

void statuses_count(struct statuses *statuses, int code)
{
    if (code >= STATUS_MIN && code < STATUS_MIN + STATUS_COUNT) statuses->counts[code - STATUS_MIN]++;
}

void statuses_add(struct statuses *sum, const struct statuses *more)
{
    for (int i = 0; i < STATUS_COUNT; i++) sum->counts[i] += more->counts[i];
}

static void print(FILE *out, const struct statuses *statuses, const char *quote, const char *separator)
{
    const char *between = "";
    for (int i = 0; i < STATUS_COUNT; i++) {
        if (statuses->counts[i] == 0) continue;
        fprintf(out, "%s%s%d%s:%s%" PRIu64, between, quote, STATUS_MIN + i, quote, *quote ? "" : " ",
                statuses->counts[i]);
        between = separator;
    }
}

void statuses_print(FILE *out, const struct statuses *statuses)
{
    print(out, statuses, "", ", ");
}

void statuses_print_json(FILE *out, const struct statuses *statuses)
{
    fputs("{", out);
    print(out, statuses, "\"", ",");
    fputs("}", out);
}
