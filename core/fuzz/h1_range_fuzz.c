/* h1_range_fuzz.c: compares the parser of Range with a second reader that compares numbers as decimal text,
 * so it cannot overflow.
 *
 * Input: 8 bytes, the size of the file; then the field's value.
 */
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "http/h1_range.h"

#define DIGITS "0123456789"

struct number {
    const char *digits; /* without leading zeros */
    size_t len;
};

static struct number number_at(const char *at, size_t len)
{
    while (len > 0 && *at == '0') at++, len--;
    return (struct number){at, len};
}

static int compare(struct number one, struct number other)
{
    if (one.len != other.len) return one.len < other.len ? -1 : 1;
    return memcmp(one.digits, other.digits, one.len);
}

/* Returns the number if it is below `limit`, else `limit`. */
static uint64_t clipped(struct number number, uint64_t limit)
{
    char text[24];
    size_t len = (size_t)snprintf(text, sizeof text, "%llu", (unsigned long long)limit);
    if (compare(number, number_at(text, len)) >= 0) return limit;
    memcpy(text, number.digits, number.len);
    text[number.len] = '\0';
    return number.len > 0 ? strtoull(text, NULL, 10) : 0;
}

/* Reads one item of the list. Returns false if the item is malformed. */
static bool read_item(const char *item, size_t len, uint64_t size, struct bb__range *range)
{
    char text[4097];
    memcpy(text, item, len);
    text[len] = '\0';
    size_t before = strspn(text, DIGITS);
    if (text[before] != '-') return false;
    const char *last = text + before + 1;
    size_t after = strspn(last, DIGITS);
    if (last[after] != '\0' || before + after == 0) return false;
    struct number one = number_at(text, before), other = number_at(last, after);
    if (before == 0) {
        range->len = clipped(other, size);
        range->first = size - range->len;
        return true;
    }
    /* The parser takes all numbers above UINT64_MAX as equal. */
    if (after > 0 && clipped(one, UINT64_MAX) > clipped(other, UINT64_MAX)) return false;
    range->first = clipped(one, size);
    range->len = (after > 0 ? clipped(other, size - 1) + 1 : size) - range->first;
    if (range->first == size) range->len = 0;
    return true;
}

static enum bb__range_verdict second_reader(const char *value, size_t len, uint64_t size,
                                            struct bb__range ranges[BB_RANGES_MAX], unsigned *count)
{
    unsigned items = 0;
    *count = 0;
    if (size == 0 || len < 7 || memcmp(value + 5, "=", 1) != 0) return BB_RANGE_WHOLE;
    for (int i = 0; i < 5; i++)
        if (value[i] != "bytes"[i] && value[i] != "BYTES"[i]) return BB_RANGE_WHOLE;
    uint64_t left = size;
    for (const char *at = value + 6, *end = value + len; at <= end;) {
        const char *comma = memchr(at, ',', (size_t)(end - at)), *stop = comma ? comma : end,
                   *next = stop + 1;
        while (at < stop && (*at == ' ' || *at == '\t')) at++;
        while (at < stop && (stop[-1] == ' ' || stop[-1] == '\t')) stop--;
        struct bb__range range;
        if (at < stop) {
            if (++items > BB_RANGES_MAX || !read_item(at, (size_t)(stop - at), size, &range) ||
                range.len > left)
                return BB_RANGE_WHOLE;
            left -= range.len;
            if (range.len > 0) ranges[(*count)++] = range;
        }
        at = next;
    }
    if (items == 0) return BB_RANGE_WHOLE;
    return *count > 0 ? BB_RANGE_PARTS : BB_RANGE_UNSATISFIABLE;
}

/* ---- the target ---- */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct bb__range one[BB_RANGES_MAX], other[BB_RANGES_MAX];
    unsigned one_count, other_count;
    uint64_t file;
    if (size < sizeof file || size > 4096 || memchr(data + 8, '\0', size - 8))
        return 0; /* no head has a NUL */
    memcpy(&file, data, sizeof file);
    size_t len = size - sizeof file;
    char *value = malloc(len); /* a read beyond the value is an error */
    assert(value || len == 0);
    if (len > 0) memcpy(value, data + sizeof file, len);

    struct bb_slice slice = {value, len};
    enum bb__range_verdict verdict = bb__range_parse(slice, file, one, &one_count);
    assert(verdict == second_reader(value, len, file, other, &other_count));
    if (verdict == BB_RANGE_PARTS) {
        assert(one_count == other_count);
        for (unsigned i = 0; i < one_count; i++)
            assert(one[i].first == other[i].first && one[i].len == other[i].len);
    }
    (void)bb__range_condition_holds(slice, slice, slice);
    free(value);
    return 0;
}
