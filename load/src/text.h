/* text.h: parts of HTTP's grammar (RFC 9110 5.6) for reading a response and for checking an option. */
#ifndef TEXT_H
#define TEXT_H

#include <stdbool.h>
#include <stddef.h>

/* True if the text is one or more tchar, RFC 9110 5.6.2. */
bool text_is_token(const char *at, size_t len);

/* True if the text has no control byte except HTAB, RFC 9110 5.5; obs-text is accepted. */
bool text_is_value(const char *at, size_t len);

/* True if the text is `word` (in lower case) in any letter case. */
bool text_is_word(const char *at, size_t len, const char *word);

/* True if `word` (in lower case) is a member of the comma-separated list. */
bool text_list_has(const char *at, size_t len, const char *word);

/* Removes white space from both ends. */
void text_trim(const char **at, size_t *len);

#endif
