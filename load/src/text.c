/* text.c: see text.h. */
#include "text.h"

#include <string.h>
#include <strings.h>

static bool is_tchar(char byte)
{
    if ((byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') || (byte >= '0' && byte <= '9'))
        return true;
    return byte != '\0' && strchr("-_!#$%&'*+.^`|~", byte) != NULL;
}

bool text_is_token(const char *at, size_t len)
{
    for (size_t i = 0; i < len; i++) {
        if (!is_tchar(at[i])) return false;
    }
    return len > 0;
}

bool text_is_value(const char *at, size_t len)
{
    for (size_t i = 0; i < len; i++) {
        unsigned char byte = (unsigned char)at[i];
        if ((byte < ' ' && byte != '\t') || byte == 0x7f) return false;
    }
    return true;
}

bool text_is_word(const char *at, size_t len, const char *word)
{
    return strlen(word) == len && strncasecmp(at, word, len) == 0;
}

bool text_list_has(const char *at, size_t len, const char *word)
{
    const char *end = at + len;
    while (at < end) {
        const char *comma = memchr(at, ',', (size_t)(end - at));
        const char *member = at;
        size_t member_len = (size_t)((comma ? comma : end) - at);
        at = comma ? comma + 1 : end;
        text_trim(&member, &member_len);
        if (text_is_word(member, member_len, word)) return true;
    }
    return false;
}

void text_trim(const char **at, size_t *len)
{
    while (*len > 0 && (**at == ' ' || **at == '\t')) {
        ++*at;
        --*len;
    }
    while (*len > 0 && ((*at)[*len - 1] == ' ' || (*at)[*len - 1] == '\t')) --*len;
}
