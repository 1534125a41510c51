/* h1_request_start_fuzz.c: compares the parser of X-Request-Start with a second reader that does no
 * arithmetic. The second reader moves the decimal point in the text to get microseconds. Then strtoull()
 * reads the digits before the point.
 *
 * Input: the field's value.
 */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "http/h1_request_start.h"

/* ---- the second reader ---- */

#define DIGITS     "0123456789"
#define DIGITS_MAX 19 /* a number with more digits can be too large for 64 bits */

/* whole: the number of digits before the decimal point, which tells the unit. Returns by how many digits the
 * point must move to the right to give microseconds. Returns -3 for nanoseconds, whose last three digits are
 * dropped. */
static int digits_of_unit(size_t whole)
{
    if (whole <= 11) return 6;
    if (whole <= 14) return 3;
    return whole <= 17 ? 0 : -3;
}

static uint64_t second_reader(const char *text)
{
    char moved[DIGITS_MAX + 1];
    if (strncmp(text, "t=", 2) == 0 && text[2] != '\0') text += 2;
    const char *end = text + strspn(text, DIGITS), *fraction = end;
    text += strspn(text, "0");
    size_t whole = (size_t)(end - text);
    if (whole > DIGITS_MAX) return 0;
    if (*end == '.') {
        fraction = end + 1;
        end = fraction + strspn(fraction, DIGITS);
    }
    if (*end != '\0') return 0;

    int shift = digits_of_unit(whole);
    size_t kept = shift < 0 ? whole - (size_t)-shift : whole;
    memcpy(moved, text, kept);
    for (int i = 0; i < shift; i++) moved[kept++] = fraction < end ? *fraction++ : '0';
    moved[kept] = '\0';
    return strtoull(moved, NULL, 10);
}

/* ---- the target ---- */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (memchr(data, '\0', size)) return 0;               /* no head has a NUL */
    char *text = malloc(size + 1), *value = malloc(size); /* a read beyond the value is an error */
    assert(text && (value || size == 0));
    memcpy(text, data, size);
    text[size] = '\0';
    if (size > 0) memcpy(value, data, size);

    struct bb_field field = {.kind = BB_FIELD_REQUEST_START, .value = value, .value_len = (uint32_t)size};
    struct bb_head head = {.fields = &field, .field_count = 1};
    assert(bb__request_start(&head) == second_reader(text));
    free(text);
    free(value);
    return 0;
}
