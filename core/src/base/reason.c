/* reason.c: see reason.h. */
#include "base/reason.h"

#define BY_CLIENT true
#define BY_SERVER false

const struct bb__reason_facts bb__reasons[BB_REASONS_END] = {
#define REASON(code, name, status, by, text) [BB_REASON_##code] = {name, text, status, by},
    BB_REASONS(REASON)
#undef REASON
};
