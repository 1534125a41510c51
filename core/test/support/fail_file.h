/* fail_file.h: files that cannot be created, disks that fill up, and kernels without openat2(2). A test that
 * includes this header is linked with --wrap (see the Makefile). Only calls for regular files fail. */
#ifndef BB_TEST_FAIL_FILE_H
#define BB_TEST_FAIL_FILE_H

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

int __real_open(const char *path, int flags, ...);
ssize_t __real_write(int fd, const void *bytes, size_t len);
int __wrap_open(const char *path, int flags, ...);
int __real_mkstemp(char *path);
int __wrap_mkstemp(char *path);
ssize_t __wrap_write(int fd, const void *bytes, size_t len);
long __real_syscall(long number, ...);
long __wrap_syscall(long number, long one, long two, long three, long four, long five, long six);

static struct {
    int tmpfile_error; /* open() with O_TMPFILE and mkstemp() fail with this errno */
    int openat2_error; /* openat2() fails with this errno */
    bool full;         /* write() writes `room` more bytes, then fails with write_error */
    size_t room;
    int write_error;
    int interruptions; /* how many of the next calls of write() fail with EINTR */
    size_t most;       /* the most bytes that one call of write() writes; 0: no limit */
    unsigned writes;   /* calls of write() so far */
} fail_file;

static inline void fail_file_full(size_t room, int error)
{
    fail_file.full = true;
    fail_file.room = room;
    fail_file.write_error = error;
}

static inline void fail_file_off(void)
{
    fail_file.full = false;
    fail_file.tmpfile_error = fail_file.openat2_error = fail_file.interruptions = 0;
    fail_file.most = 0;
}

int __wrap_open(const char *path, int flags, ...)
{
    va_list rest;
    va_start(rest, flags);
    bool unnamed = (flags & O_TMPFILE) == O_TMPFILE;
    int mode = unnamed || (flags & O_CREAT) ? va_arg(rest, int) : 0;
    va_end(rest);
    if (unnamed && fail_file.tmpfile_error != 0) {
        errno = fail_file.tmpfile_error;
        return -1;
    }
    return __real_open(path, flags, mode);
}

int __wrap_mkstemp(char *path)
{
    if (fail_file.tmpfile_error == 0) return __real_mkstemp(path);
    errno = fail_file.tmpfile_error;
    return -1;
}

/* A caller that passes fewer arguments leaves the rest undefined. The kernel does not look at them. */
long __wrap_syscall(long number, long one, long two, long three, long four, long five, long six)
{
    if (number != SYS_openat2 || fail_file.openat2_error == 0)
        return __real_syscall(number, one, two, three, four, five, six);
    errno = fail_file.openat2_error;
    return -1;
}

ssize_t __wrap_write(int fd, const void *bytes, size_t len)
{
    struct stat status;
    if (fstat(fd, &status) < 0 || !S_ISREG(status.st_mode)) return __real_write(fd, bytes, len);
    fail_file.writes++;
    if (fail_file.interruptions > 0) {
        fail_file.interruptions--;
        errno = EINTR;
        return -1;
    }
    if (fail_file.full && fail_file.room == 0) {
        errno = fail_file.write_error;
        return -1;
    }
    if (fail_file.most > 0 && len > fail_file.most) len = fail_file.most;
    if (fail_file.full) {
        if (len > fail_file.room) len = fail_file.room;
        fail_file.room -= len;
    }
    return __real_write(fd, bytes, len);
}

#endif
