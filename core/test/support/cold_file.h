/* cold_file.h: files whose bytes are not in the page cache. A test that includes this header is linked with
 * --wrap (see the Makefile). While `cold` is true, preadv2(2) with RWF_NOWAIT finds no bytes, and
 * posix_fadvise(2) is counted. */
#ifndef BB_TEST_COLD_FILE_H
#define BB_TEST_COLD_FILE_H

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <sys/uio.h>

ssize_t __real_preadv2(int fd, const struct iovec *parts, int count, off_t offset, int flags);
ssize_t __wrap_preadv2(int fd, const struct iovec *parts, int count, off_t offset, int flags);

static struct {
    bool cold;
    unsigned looks;   /* calls of preadv2() that found no bytes */
    unsigned advices; /* calls of posix_fadvise() */
} cold_file;

int __real_posix_fadvise(int fd, off_t offset, off_t len, int advice);
int __wrap_posix_fadvise(int fd, off_t offset, off_t len, int advice);

int __wrap_posix_fadvise(int fd, off_t offset, off_t len, int advice)
{
    cold_file.advices += cold_file.cold;
    return __real_posix_fadvise(fd, offset, len, advice);
}

ssize_t __wrap_preadv2(int fd, const struct iovec *parts, int count, off_t offset, int flags)
{
    if (!cold_file.cold) return __real_preadv2(fd, parts, count, offset, flags);
    cold_file.looks++;
    errno = EAGAIN;
    return -1;
}

#endif
