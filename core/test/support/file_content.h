/* file_content.h: the content of a file as text. */
#ifndef BB_TEST_FILE_CONTENT_H
#define BB_TEST_FILE_CONTENT_H

#include <stdio.h>

/* Returns the text in a static buffer; valid until the next call. */
static inline const char *content(const char *path)
{
    static char text[200000];
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    text[fread(text, 1, sizeof text - 1, file)] = '\0';
    fclose(file);
    return text;
}

#endif
