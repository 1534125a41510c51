/* cold_file.h: files whose bytes are not in the page cache. A test that includes this header is linked with
 * --wrap (see the Makefile). While `cold` is true, preadv2(2) with RWF_NOWAIT finds no bytes. */
#ifndef BB_TEST_COLD_FILE_H
#define BB_TEST_COLD_FILE_H

#include <errno.h>
#include <stdbool.h>
#include <sys/uio.h>

ssize_t __real_preadv2(int fd, const struct iovec *parts, int count, off_t offset, int flags);
ssize_t __wrap_preadv2(int fd, const struct iovec *parts, int count, off_t offset, int flags);

static struct {
    bool cold;
    unsigned looks; /* calls that found no bytes */
} cold_file;

ssize_t __wrap_preadv2(int fd, const struct iovec *parts, int count, off_t offset, int flags)
{
    if (!cold_file.cold) return __real_preadv2(fd, parts, count, offset, flags);
    cold_file.looks++;
    errno = EAGAIN;
    return -1;
}

#endif
