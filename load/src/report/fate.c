/* fate.c: see fate.h. */
#include "report/fate.h"

#include <errno.h>

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
