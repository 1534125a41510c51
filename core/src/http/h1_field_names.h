/* h1_field_names.h: the table of field names that a lane has learned. A learned name is recognized by one
 * comparison. Only valid names are learned, so the parser need not check the bytes again. The table starts
 * with common names. Its size is fixed, so that invented names cost no memory. Used by the head parser, which
 * also works without a table.
 *
 * A learned name has an id. The id never changes and is the same in any letter case. A client sends its
 * fields in the same order in each request. So for each name the table remembers the spelling of the name
 * that came after it. This spelling is the guess for the next request:
 *
 *     after[0]                    "Host:"           the first name of a request
 *     after[id of Host]           "User-Agent:"
 *     after[id of User-Agent]     "Accept:"         and so on
 *
 * If a request has one field more or less, only one guess is wrong. */
#ifndef BB_H1_FIELD_NAMES_H
#define BB_H1_FIELD_NAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define BB_NAME_IDS   256 /* id 0 stands for no name */
#define BB_NAME_MAX   60  /* a longer name is not learned */
#define BB_NAME_SLOTS 512 /* slots of the hash table: twice the names */

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
        char bytes[BB_NAME_MAX + 4]; /* in lower case, then NULs, because whole blocks are compared */
    } known[BB_NAME_IDS];
    uint8_t kinds[BB_NAME_IDS];
    unsigned count;               /* number of known names: known[1..count] */
    uint8_t slots[BB_NAME_SLOTS]; /* ids by hash; 0: free */
};

/* Returns a table with the common names, or NULL (out of memory). Free it with bb__field_names_free(). */
struct bb__field_names *bb__field_names_new(void);
void bb__field_names_free(struct bb__field_names *names);

/* Looks up name[0..len), which must be a token. Learns the name if it is new and the table has room. Notes
 * that the name came after the name with the id `previous` (0: the name is the first of its request). If
 * `names` is NULL, only the kind is found. */
struct bb__name bb__field_names_find(struct bb__field_names *names, uint8_t previous, const char *name,
                                     size_t len);

/* True if the bytes at `at` are the guessed name and its colon. These bytes are then a token, because only
 * tokens are learned. Reads nothing at or past `end`. */
static inline bool bb__guess_holds(const struct bb__guess *guess, const char *at, const char *end)
{
    size_t len = guess->name.len + 1u, here = (size_t)(end - at);
    if (here < 16 || len > 16) return len > 1 && len <= here && memcmp(at, guess->spelling, len) == 0;

    /* Nearly all names are compared here, sixteen bytes at once. The bytes after the colon are masked out. */
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
