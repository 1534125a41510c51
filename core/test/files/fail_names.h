/* fail_names.h: directories whose names, and files whose bytes, cannot be read. A test that includes this
 * header is linked with --wrap (see the Makefile). */
#ifndef BB_TEST_FAIL_NAMES_H
#define BB_TEST_FAIL_NAMES_H

#include <dirent.h>
#include <errno.h>
#include <stdatomic.h>
#include <sys/types.h>

struct dirent *__real_readdir(DIR *directory);
struct dirent *__wrap_readdir(DIR *directory);

static atomic_int fail_names; /* errno of each call; 0: none fails */

struct dirent *__wrap_readdir(DIR *directory)
{
    if (!fail_names) return __real_readdir(directory);
    errno = fail_names;
    return NULL;
}

ssize_t __real_pread(int fd, void *to, size_t len, off_t at);
ssize_t __wrap_pread(int fd, void *to, size_t len, off_t at);

static atomic_int fail_read; /* pread(2) fails with this errno */

ssize_t __wrap_pread(int fd, void *to, size_t len, off_t at)
{
    if (fail_read == 0) return __real_pread(fd, to, len, at);
    errno = fail_read;
    return -1;
}

#endif
