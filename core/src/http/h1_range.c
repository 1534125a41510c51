/* h1_range.c: see h1_range.h. */
#include "http/h1_range.h"
#include "http/h1_scan.h"

#include <string.h>

static bool is_digit(char byte)
{
    return byte >= '0' && byte <= '9';
}

static const char *skip_blanks(const char *at, const char *end)
{
    while (at < end && bb__is_blank(*at)) at++;
    return at;
}

/* Reads digits. A number above UINT64_MAX becomes UINT64_MAX, which is past the end of every file. Returns
 * the address after the digits. */
static const char *read_number(const char *at, const char *end, uint64_t *number)
{
    *number = 0;
    for (; at < end && is_digit(*at); at++) {
        uint64_t digit = (uint64_t)(*at - '0');
        *number = *number > (UINT64_MAX - digit) / 10 ? UINT64_MAX : *number * 10 + digit;
    }
    return at;
}

/* suffix-range (RFC 9110 14.1.2): the last `len` bytes. If the file is shorter, the whole file. */
static struct bb__range suffix(uint64_t len, uint64_t size)
{
    if (len > size) len = size;
    return (struct bb__range){size - len, len};
}

/* int-range: `last` is the position of the last byte. */
static struct bb__range between(uint64_t first, uint64_t last, uint64_t size)
{
    if (first >= size) return (struct bb__range){0};
    if (last >= size) last = size - 1;
    return (struct bb__range){first, last - first + 1};
}

/* Reads one range-spec at *at. *range: `len` is 0 if the range is not satisfiable. Returns false if the spec
 * is malformed. */
static bool read_range(const char **at, const char *end, uint64_t size, struct bb__range *range)
{
    uint64_t first, last;
    const char *digits = *at, *dash = read_number(digits, end, &first);
    if (dash == end || *dash != '-') return false;
    *at = read_number(dash + 1, end, &last);
    bool has_last = *at > dash + 1;
    if (dash == digits) {
        *range = suffix(last, size);
        return has_last;
    }
    if (!has_last) last = UINT64_MAX;
    *range = between(first, last, size);
    return first <= last;
}

static const char *after_unit(struct bb_slice value)
{
    static const char unit[] = "bytes";
    size_t len = sizeof unit - 1;
    if (value.len <= len || value.at[len] != '=' || !bb__is_word(value.at, len, unit)) return NULL;
    return value.at + len + 1;
}

/* Moves past the comma and the blanks after a spec. False: something else follows. */
static bool end_item(const char **at, const char *end)
{
    *at = skip_blanks(*at, end);
    if (*at == end) return true;
    return *(*at)++ == ',';
}

enum bb__range_verdict bb__range_parse(struct bb_slice value, uint64_t size,
                                       struct bb__range ranges[BB_RANGES_MAX], unsigned *count)
{
    const char *at = after_unit(value), *end = value.at + value.len;
    unsigned specs = 0;
    uint64_t sum = 0;
    *count = 0;
    if (!at || size == 0) return BB_RANGE_WHOLE;
    while ((at = skip_blanks(at, end)) < end) {
        struct bb__range range;
        if (*at == ',') { /* an empty item of a list (RFC 9110 5.6.1.2) */
            at++;
            continue;
        }
        if (specs++ == BB_RANGES_MAX || !read_range(&at, end, size, &range) || !end_item(&at, end))
            return BB_RANGE_WHOLE;
        if (range.len == 0) continue;
        if (range.len > size - sum) return BB_RANGE_WHOLE;
        sum += range.len;
        ranges[(*count)++] = range;
    }
    if (specs == 0) return BB_RANGE_WHOLE;
    return *count > 0 ? BB_RANGE_PARTS : BB_RANGE_UNSATISFIABLE;
}

static bool is_equal(struct bb_slice one, struct bb_slice other)
{
    return other.at && one.len == other.len && memcmp(one.at, other.at, one.len) == 0;
}

bool bb__range_condition_holds(struct bb_slice if_range, struct bb_slice etag, struct bb_slice last_modified)
{
    if (if_range.len == 0) return false;
    if (if_range.at[0] == '"') return is_equal(if_range, etag);
    return is_equal(if_range, last_modified); /* a weak tag, W/"...", is no date */
}
