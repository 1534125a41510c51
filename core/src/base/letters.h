/* letters.h: letters of ASCII. The functions of <ctype.h> and strncasecmp() are not used, because they depend
 * on the locale: in Turkish "I" is not the upper case of "i". */
#ifndef BB_LETTERS_H
#define BB_LETTERS_H

#include <stdbool.h>
#include <stddef.h>

static inline char bb__lower(char byte)
{
    return (char)(byte >= 'A' && byte <= 'Z' ? byte | 0x20 : byte);
}

static inline bool bb__is_alphanumeric(char byte)
{
    char lower = bb__lower(byte);
    return (lower >= 'a' && lower <= 'z') || (byte >= '0' && byte <= '9');
}

/* Returns the value of a hex digit, or -1. */
static inline int bb__hex_value(char digit)
{
    char lower = bb__lower(digit);
    if (digit >= '0' && digit <= '9') return digit - '0';
    return lower >= 'a' && lower <= 'f' ? lower - 'a' + 10 : -1;
}

/* Returns whether both texts of `len` bytes are the same in any letter case. */
static inline bool bb__is_same_word(const char *at, const char *other, size_t len)
{
    for (size_t i = 0; i < len; i++)
        if (bb__lower(at[i]) != bb__lower(other[i])) return false;
    return true;
}

#endif
