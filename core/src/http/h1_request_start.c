/* h1_request_start.c: see h1_request_start.h. */
#include "http/h1_request_start.h"

/* Upper bounds of the numbers in each unit. For times of this century, the size of a number shows its
 * unit. */
#define SECONDS_MAX      UINT64_C(100000000000)
#define MILLISECONDS_MAX (SECONDS_MAX * 1000)
#define MICROSECONDS_MAX (MILLISECONDS_MAX * 1000)
#define NANOSECONDS_MAX  UINT64_C(10000000000000000000) /* a larger number might not fit into 64 bits */

static bool is_digit(char byte)
{
    return byte >= '0' && byte <= '9';
}

/* Returns the microseconds in one unit of the number, or 0 if the unit is nanoseconds. */
static uint64_t unit_of(uint64_t number)
{
    if (number < SECONDS_MAX) return 1000000;
    if (number < MILLISECONDS_MAX) return 1000;
    return number < MICROSECONDS_MAX ? 1 : 0;
}

static uint64_t parse(const char *at, const char *end)
{
    uint64_t number = 0;
    if (end - at > 2 && at[0] == 't' && at[1] == '=') at += 2;
    for (; at < end && is_digit(*at); at++) {
        if (number >= NANOSECONDS_MAX / 10) return 0;
        number = number * 10 + (uint64_t)(*at - '0');
    }
    uint64_t unit = unit_of(number), start = unit > 0 ? number * unit : number / 1000;
    if (at < end && *at == '.')
        for (at++; at < end && is_digit(*at); at++) start += (uint64_t)(*at - '0') * (unit /= 10);
    return at == end ? start : 0;
}

/* Returns 0 if there are several fields, because the core cannot know which one the client has sent. */
uint64_t bb__request_start(const struct bb_head *head)
{
    const struct bb_field *found = NULL;
    for (unsigned i = 0; i < head->field_count; i++) {
        if (head->fields[i].kind != BB_FIELD_REQUEST_START) continue;
        if (found) return 0;
        found = &head->fields[i];
    }
    return found ? parse(found->value, found->value + found->value_len) : 0;
}
