/* sleeping.h: tells whether a thread of the test's process waits in the kernel. */
#ifndef BB_TEST_SLEEPING_H
#define BB_TEST_SLEEPING_H

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

static inline bool sleeps(int id)
{
    char path[64], text[256] = "";
    snprintf(path, sizeof path, "/proc/self/task/%d/stat", id);
    FILE *file = fopen(path, "r");
    if (!file) return false;
    size_t len = fread(text, 1, sizeof text - 1, file);
    fclose(file);
    return len > 0 && strncmp(strrchr(text, ')'), ") S", 3) == 0;
}

#endif
