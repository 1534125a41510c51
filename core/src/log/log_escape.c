/* log_escape.c: see log_escape.h. */
#include "log/log_escape.h"
#include "base/buf.h"

static const char hex[] = "0123456789abcdef";

static inline bool is_plain(unsigned char byte)
{
    return byte >= 0x20 && byte < 0x7f && byte != '"' && byte != '\\';
}

static char *cut(char *to, size_t *spare)
{
    *spare = 0;
    return BB_PUT_LITERAL(to, "...");
}

#define EACH(byte) (UINT64_C(0x0101010101010101) * (byte))

/* Returns a word with the top bit set in each byte that is 0 in `word`. In bytes above the first 0 byte, the
 * top bit may be set, too. */
static inline uint64_t zeros(uint64_t word)
{
    return (word - EACH(1)) & ~word & EACH(0x80);
}

/* True only if none of the eight bytes needs an escape. */
static inline bool are_plain(const char *at)
{
    uint64_t word;
    memcpy(&word, at, sizeof word);
    uint64_t control = (word - EACH(0x20)) & ~word, past_ascii = word;
    return (((control | past_ascii) & EACH(0x80)) | zeros(word ^ EACH('"')) | zeros(word ^ EACH('\\')) |
            zeros(word ^ EACH(0x7f))) == 0;
}

/* Copies bytes that need no escape, while there is room. */
static char *copy_plain(char *to, size_t *spare, const char **at, const char *end)
{
    const char *from = *at;
    if ((size_t)(end - from) > *spare) end = from + *spare;
    for (; end - from >= 8 && are_plain(from); from += 8, to += 8) memcpy(to, from, 8);
    while (from < end && is_plain((unsigned char)*from)) *to++ = *from++;
    *spare -= (size_t)(from - *at);
    *at = from;
    return to;
}

char *bb__log_escape(char *to, size_t *spare, struct bb_slice bytes)
{
    const char *at = bytes.at, *end = at + bytes.len;
    while (at < end) {
        to = copy_plain(to, spare, &at, end);
        if (at == end) break;
        if (*spare < 4) return cut(to, spare);
        unsigned char byte = (unsigned char)*at++;
        const char escape[4] = {'\\', 'x', hex[byte >> 4], hex[byte & 15]};
        to = bb__put(to, escape, sizeof escape);
        *spare -= sizeof escape;
    }
    return to;
}

/* Returns the length of the UTF-8 character (RFC 3629 4) that begins here, or 0 if the bytes are invalid. C1
 * control characters count as invalid, because a terminal may obey them. */
static size_t utf8_length(const unsigned char *at, size_t room)
{
    unsigned char first = at[0], low = 0x80, high = 0xbf;
    size_t len = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
    if (first < 0xc2 || first > 0xf4 || room < len) return 0;
    if (first == 0xe0 || first == 0xc2) low = 0xa0; /* overlong form; C1 */
    if (first == 0xed) high = 0x9f;                 /* surrogates */
    if (first == 0xf0) low = 0x90;
    if (first == 0xf4) high = 0x8f;
    if (at[1] < low || at[1] > high) return 0;
    for (size_t i = 2; i < len; i++)
        if (at[i] < 0x80 || at[i] > 0xbf) return 0;
    return len;
}

/* Writes the JSON form of the character at *at, and moves *at past the character. */
static size_t json_unit(char unit[6], const unsigned char **at, const unsigned char *end)
{
    unsigned char byte = **at;
    size_t len = byte >= 0x80 ? utf8_length(*at, (size_t)(end - *at)) : 0;
    if (len > 0) {
        bb__put(unit, *at, len);
        *at += len;
        return len;
    }
    ++*at;
    if (byte == '"' || byte == '\\') {
        unit[0] = '\\';
        unit[1] = (char)byte;
        return 2;
    }
    memcpy(unit, "\\ufffd", 6);
    if (byte < 0x80) {
        const char code[4] = {'0', '0', hex[byte >> 4], hex[byte & 15]};
        memcpy(unit + 2, code, sizeof code);
    }
    return 6;
}

char *bb__log_escape_json(char *to, size_t *spare, struct bb_slice bytes)
{
    const char *at = bytes.at, *end = at + bytes.len;
    while (at < end) {
        to = copy_plain(to, spare, &at, end);
        if (at == end) break;
        char unit[6];
        const unsigned char *next = (const unsigned char *)at;
        size_t len = json_unit(unit, &next, (const unsigned char *)end);
        if (*spare < len) return cut(to, spare);
        to = bb__put(to, unit, len);
        *spare -= len;
        at = (const char *)next;
    }
    return to;
}
