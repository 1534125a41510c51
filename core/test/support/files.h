/* files.h: the content of a file as text, and paths of temporary files. */
#ifndef BB_TEST_FILES_H
#define BB_TEST_FILES_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TEMPORARY_PATH 64

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

/* Writes a template for mkdtemp() or mkstemp(). bin/test removes TMPDIR at its end, so that no file of a
 * killed test is left. */
static inline char *temporary_path(char path[TEMPORARY_PATH])
{
    const char *directory = getenv("TMPDIR");
    if (!directory || strlen(directory) > 50) directory = "/tmp";
    (void)snprintf(path, TEMPORARY_PATH, "%s/bb-XXXXXX", directory);
    return path;
}

#endif
