/* h1_field_names.h: the field names a lane has learned, so that a name that came before is known by one
 * comparison and needs no check. Seeded with the common names; bounded, so that invented names cost no
 * memory. Used by the head parser, which works without one too.
 *
 * A learned name has an id that stays its own for ever, the same in any letter case. Clients send their
 * fields in one order again and again, so for each name the table remembers which one came after it, as it
 * was spelled:
 *
 *     after[0]    "Host:"         the first of a request
 *     after[id of Host]           "User-Agent:"
 *     after[id of User-Agent]     "Accept:"         and so on: a field more or less disturbs one guess, not
 * the rest
 */
#ifndef BB_H1_FIELD_NAMES_H
#define BB_H1_FIELD_NAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define BB_NAME_IDS   256 /* 0 is no name */
#define BB_NAME_MAX   60  /* a longer one is not learned */
#define BB_NAME_SLOTS 512 /* of the hash: twice the names */

/* What is known of a name. */
struct bb__name {
    uint8_t id;   /* 0: not learned */
    uint8_t kind; /* enum bb_field_kind */
    uint8_t len;  /* 0: longer than BB_NAME_MAX */
};

struct bb__guess {
    struct bb__name name;           /* len 0: no guess yet */
    char spelling[BB_NAME_MAX + 1]; /* the name and its colon */
};

struct bb__field_names {
    struct bb__guess after[BB_NAME_IDS];
    struct bb__folded {
        char bytes[BB_NAME_MAX + 4]; /* lower case, NULs behind it: names compare as whole blocks */
    } known[BB_NAME_IDS];
    uint8_t kinds[BB_NAME_IDS];
    unsigned count;               /* of known names; known[1..count] */
    uint8_t slots[BB_NAME_SLOTS]; /* ids by hash, 0 where free */
};

/* Returns a table seeded with the common names, or NULL (out of memory). Freed with bb__field_names_free().
 */
struct bb__field_names *bb__field_names_new(void);
void bb__field_names_free(struct bb__field_names *names);

/* Looks up name[0..len), a token, and learns it while there is room. Notes that it came after the name with
 * the id `previous` (0: the first of its request). `names` may be NULL: then only the kind is found. */
struct bb__name bb__field_names_find(struct bb__field_names *names, uint8_t previous, const char *name,
                                     size_t len);

/* True when the bytes at `at` are the guessed name and its colon. It is then a token, because only tokens are
 * learned. Reads nothing at or past `end`. */
static inline bool bb__guess_holds(const struct bb__guess *guess, const char *at, const char *end)
{
    size_t len = guess->name.len + 1u, here = (size_t)(end - at);
    if (here < 16 || len > 16) return len > 1 && len <= here && memcmp(at, guess->spelling, len) == 0;

    /* Nearly all names: sixteen bytes compared at once, those behind the colon masked away. */
    static const uint8_t mask[32] = {255, 255, 255, 255, 255, 255, 255, 255,
                                     255, 255, 255, 255, 255, 255, 255, 255};
    uint64_t seen[2], wanted[2], keep[2];
    memcpy(seen, at, 16);
    memcpy(wanted, guess->spelling, 16);
    memcpy(&keep[0], mask + 16 - len, 8);
    memcpy(&keep[1], mask + 24 - len, 8);
    return (((seen[0] ^ wanted[0]) & keep[0]) | ((seen[1] ^ wanted[1]) & keep[1])) == 0 && len > 1;
}

#endif
