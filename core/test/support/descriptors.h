/* descriptors.h: counts the open descriptors of the process, so that a test can assert that it has closed all
 * of its descriptors. */
#ifndef BB_TEST_DESCRIPTORS_H
#define BB_TEST_DESCRIPTORS_H

#include <dirent.h>

static inline int open_descriptors(void)
{
    DIR *all = opendir("/proc/self/fd");
    int count = -1; /* the directory's own descriptor does not count */
    while (readdir(all)) count++;
    closedir(all);
    return count;
}

#endif
