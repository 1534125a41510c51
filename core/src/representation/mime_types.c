/* mime_types.c: see mime_types.h. It searches the table in halves. */
#include "representation/mime_types.h"

#include <stdint.h>
#include <string.h>

#include "base/letters.h"
#include "representation/mime_table.h"

#define ENTRIES (sizeof bb__mime_table / sizeof *bb__mime_table)

/* The first eight bytes as a number, the first byte as the highest, so that the numbers have the order of the
 * texts. No two extensions of the table have the same number. */
static uint64_t order_of(const char extension[BB_EXTENSION_MAX])
{
    const uint8_t *bytes = (const uint8_t *)extension;
    return (uint64_t)bytes[0] << 56 | (uint64_t)bytes[1] << 48 | (uint64_t)bytes[2] << 40 |
           (uint64_t)bytes[3] << 32 | (uint64_t)bytes[4] << 24 | (uint64_t)bytes[5] << 16 |
           (uint64_t)bytes[6] << 8 | bytes[7];
}

const char *bb__mime_type(const char *extension, size_t len)
{
    char folded[BB_EXTENSION_MAX] = {0};
    if (len > sizeof folded || (len > 0 && memchr(extension, '\0', len))) return NULL;
    for (size_t i = 0; i < len; i++) folded[i] = bb__lower(extension[i]);

    uint64_t wanted = order_of(folded);
    size_t low = 0, high = ENTRIES - 1;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (order_of(bb__mime_table[middle].extension) < wanted)
            low = middle + 1;
        else
            high = middle;
    }
    const struct bb__mime_entry *entry = &bb__mime_table[low];
    return memcmp(entry->extension, folded, sizeof folded) == 0 ? entry->type : NULL;
}
