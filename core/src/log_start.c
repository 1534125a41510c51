/* log_start.c: see log_start.h. */
#include "log_start.h"

#include <strings.h>

static const char name[] = "X-Request-Start";

/* Of this century: which unit a whole number has, its size tells. */
#define SECONDS_MAX      UINT64_C(100000000000)
#define MILLISECONDS_MAX (SECONDS_MAX * 1000)
#define MICROSECONDS_MAX (MILLISECONDS_MAX * 1000)
#define NANOSECONDS_MAX  UINT64_C(10000000000000000000) /* a longer number might not fit */

static bool is_digit(char byte)
{
    return byte >= '0' && byte <= '9';
}

/* The digits of a fraction of a second, as microseconds. */
static uint64_t fraction(const char *at, const char *end)
{
    uint64_t microseconds = 0, unit = 100000;
    for (; at < end && is_digit(*at); at++, unit /= 10) microseconds += (uint64_t)(*at - '0') * unit;
    return at == end ? microseconds : 0;
}

static uint64_t parse(const char *at, const char *end)
{
    uint64_t number = 0;
    if (end - at > 2 && at[0] == 't' && at[1] == '=') at += 2;
    for (; at < end && is_digit(*at); at++) {
        if (number >= NANOSECONDS_MAX / 10) return 0;
        number = number * 10 + (uint64_t)(*at - '0');
    }
    if (at < end && *at == '.') return number < SECONDS_MAX ? number * 1000000 + fraction(at + 1, end) : 0;
    if (at < end) return 0;
    if (number < SECONDS_MAX) return number * 1000000;
    if (number < MILLISECONDS_MAX) return number * 1000;
    return number < MICROSECONDS_MAX ? number : number / 1000;
}

uint64_t bb__log_request_start(const struct bb_head *head)
{
    for (unsigned i = 0; i < head->field_count; i++) {
        const struct bb_field *field = &head->fields[i];
        if (field->name_len == sizeof name - 1 && strncasecmp(field->name, name, sizeof name - 1) == 0)
            return parse(field->value, field->value + field->value_len);
    }
    return 0;
}
