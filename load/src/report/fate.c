/* fate.c: see fate.h. */
#include "report/fate.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

const char *const fate_names[FATE_COUNT] = {
#define FATE_NAME(fate, name) name,
    FATES(FATE_NAME)
#undef FATE_NAME
};

enum fate fate_of_error(int error)
{
    switch (error) {
    case ECONNREFUSED:
    case ENOENT: /* the unix socket's file does not exist */
        return FATE_REFUSED;
    case ECONNRESET:
    case ECONNABORTED:
    case EPIPE:
        return FATE_RESET;
    case ETIMEDOUT: /* the kernel gave up before --timeout did */
        return FATE_TIMEOUT;
    default:
        return FATE_LOCAL;
    }
}

uint64_t fates_sum(const uint64_t fates[FATE_COUNT])
{
    uint64_t sum = 0;
    for (int fate = 0; fate < FATE_COUNT; fate++) sum += fates[fate];
    return sum;
}

void fates_print_failures(FILE *out, const uint64_t fates[FATE_COUNT], const int first_error[FATE_COUNT])
{
    const char *separator = "  ";
    for (int fate = FATE_OK + 1; fate < FATE_COUNT; fate++) {
        if (fates[fate] == 0) continue;
        fprintf(out, "%s%s %" PRIu64, separator, fate_names[fate], fates[fate]);
        if (first_error && first_error[fate]) fprintf(out, " (%s)", strerror(first_error[fate]));
        separator = ", ";
    }
}

void fates_print_json(FILE *out, const uint64_t fates[FATE_COUNT])
{
    fprintf(out, "\"requests\":%" PRIu64 ",\"ok\":%" PRIu64 ",\"errors\":{", fates_sum(fates),
            fates[FATE_OK]);
    for (int fate = FATE_OK + 1; fate < FATE_COUNT; fate++) {
        fprintf(out, "%s\"%s\":%" PRIu64, fate > FATE_OK + 1 ? "," : "", fate_names[fate], fates[fate]);
    }
    fputs("}", out);
}
