/* fail_names.h: directories whose names cannot be read to the end. A test that includes this header is linked
 * with --wrap (see the Makefile). */
#ifndef BB_TEST_FAIL_NAMES_H
#define BB_TEST_FAIL_NAMES_H

#include <dirent.h>
#include <errno.h>
#include <stdatomic.h>

struct dirent *__real_readdir(DIR *directory);
struct dirent *__wrap_readdir(DIR *directory);

static atomic_int fail_names; /* errno of each call; 0: none fails */

struct dirent *__wrap_readdir(DIR *directory)
{
    if (!fail_names) return __real_readdir(directory);
    errno = fail_names;
    return NULL;
}

#endif
