/* error.c: the text of each code, from the table in bontebok.h. */
#include "bontebok.h"

const char *bb_error_text(int code)
{
    switch (code) {
#define CODE_TEXT(name, number, text)                                                                        \
    case number:                                                                                             \
        return text;
        BB_CODES(CODE_TEXT)
#undef CODE_TEXT
    default:
        return "unknown code";
    }
}
