/* file_source.c: see file_source.h. */
#include "system/file_source.h"
#include "bontebok.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#ifndef BB_PORTABLE
#include <sys/sendfile.h>
#endif

/* Bytes. The kernel reads at most about this many for one POSIX_FADV_WILLNEED: read_ahead_kb of the disk. */
#define AHEAD_STEP (128 * 1024)

#ifdef BB_PORTABLE
#define COPY (64 * 1024) /* bytes: a copy that fits on the stack of the I/O thread */
#endif

/* ---- opening ---- */

#define HOW (O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY)

#ifdef BB_PORTABLE
#define DIRECTORY_HOW (O_RDONLY | O_DIRECTORY | O_CLOEXEC)
#else
#define DIRECTORY_HOW (O_PATH | O_DIRECTORY | O_CLOEXEC)
#endif

static int fail(int fd, int error)
{
    (void)close(fd);
    errno = error;
    return BB_ESYSTEM;
}

static int check(int fd, int reserve, uint64_t *size)
{
    struct stat status;
    if (fd < 0) return BB_ESYSTEM;
    if (reserve > 0 && fd >= reserve) return fail(fd, EMFILE);
    if (fstat(fd, &status) != 0) return fail(fd, errno);
    if (!S_ISREG(status.st_mode)) return fail(fd, EINVAL);
    *size = (uint64_t)status.st_size;
    return BB_OK;
}

int bb__file_source_open(const char *path, int reserve, int *fd, uint64_t *size)
{
    *fd = open(path, HOW);
    return check(*fd, reserve, size);
}

/* Writes the path of an open file, without symbolic links, to `path`. name: the path that was opened. Returns
 * the length; 0: unknown. */
static size_t path_of(int fd, const char *name, char path[PATH_MAX])
{
#if defined F_GETPATH
    (void)name;
    return fcntl(fd, F_GETPATH, path) == 0 ? strlen(path) : 0;
#elif defined BB_PORTABLE
    struct stat one, other;
    bool found = realpath(name, path) && fstat(fd, &one) == 0 && stat(path, &other) == 0;
    return found && one.st_dev == other.st_dev && one.st_ino == other.st_ino ? strlen(path) : 0;
#else
    char link[64];
    (void)name;
    (void)snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t len = readlink(link, path, PATH_MAX);
    return len > 0 && len < PATH_MAX ? (size_t)len : 0;
#endif
}

/* As path_of(), for a file that was opened below a directory. */
static size_t path_below(int fd, const char *directory, const char *below, char path[PATH_MAX])
{
#ifdef BB_PORTABLE
    char name[PATH_MAX];
    int len = snprintf(name, sizeof name, "%s/%s", directory, below);
    return len < (int)sizeof name ? path_of(fd, name, path) : 0;
#else
    (void)directory;
    return path_of(fd, below, path);
#endif
}

/* A directory that is open as `fd`, and the path that was opened. */
struct place {
    int fd;
    const char *name;
};

/* The paths of open files are compared, so nobody can replace a part of the path between check and use. */
static bool is_below(const struct place *directory, const char *below, int fd)
{
    char above[PATH_MAX], path[PATH_MAX];
    size_t len = path_of(directory->fd, directory->name, above);
    size_t path_len = path_below(fd, directory->name, below, path);
    if (len == 0 || path_len <= len + (len > 1) || memcmp(above, path, len) != 0) return false;
    return len == 1 || path[len] == '/'; /* above[0..1) is "/", the root */
}

int bb__file_source_open_below(const char *directory, const char *below, int reserve, int *fd, uint64_t *size)
{
    const struct place above = {open(directory, DIRECTORY_HOW), directory};
    if (above.fd < 0) return BB_ESYSTEM;
    while (*below == '/') below++;
    *fd = openat(above.fd, below, HOW);
    int code = check(*fd, reserve, size);
    if (code == BB_OK && !is_below(&above, below, *fd)) code = fail(*fd, EXDEV);
    int error = errno;
    (void)close(above.fd);
    errno = error;
    return code;
}

/* ---- reading and sending ---- */

/* Reads what the page cache has. Returns -1 with EAGAIN if it has none of the bytes. */
static ssize_t read_cached(int fd, uint64_t first, char *to, size_t len)
{
#if defined RWF_NOWAIT && !defined BB_PORTABLE
    struct iovec part = {to, len};
    return preadv2(fd, &part, 1, (off_t)first, RWF_NOWAIT);
#else
    (void)fd, (void)first, (void)to, (void)len;
    errno = EOPNOTSUPP;
    return -1;
#endif
}

bool bb__file_source_read_cached(int fd, uint64_t first, char *to, size_t len)
{
    return read_cached(fd, first, to, len) == (ssize_t)len;
}

static bool has_byte(int fd, uint64_t at)
{
    char byte;
    return read_cached(fd, at, &byte, 1) >= 0 || errno != EAGAIN;
}

bool bb__file_source_is_cached(int fd, uint64_t first, size_t len)
{
    return len == 0 || (has_byte(fd, first) && (len == 1 || has_byte(fd, first + len - 1)));
}

void bb__file_source_read_ahead(int fd, uint64_t first, uint64_t len)
{
#ifdef POSIX_FADV_WILLNEED
    for (uint64_t done = 0; done < len; done += AHEAD_STEP)
        (void)posix_fadvise(fd, (off_t)(first + done), AHEAD_STEP, POSIX_FADV_WILLNEED);
#else
    (void)fd, (void)first, (void)len;
#endif
}

/* Returns as sendfile(2) does. */
static ssize_t transmit(int socket, int fd, uint64_t first, size_t len)
{
#ifdef BB_PORTABLE
    char bytes[COPY];
    ssize_t count = pread(fd, bytes, len < COPY ? len : COPY, (off_t)first);
    return count > 0 ? send(socket, bytes, (size_t)count, MSG_NOSIGNAL | MSG_DONTWAIT) : count;
#else
    off_t offset = (off_t)first;
    return sendfile(socket, fd, &offset, len);
#endif
}

int bb__file_source_send(int socket, int fd, uint64_t first, uint64_t len, size_t *sent)
{
    ssize_t count;
    do count = transmit(socket, fd, first, len < BB_FILE_SLICE ? (size_t)len : BB_FILE_SLICE);
    while (count < 0 && errno == EINTR);
    *sent = count > 0 ? (size_t)count : 0;
    if (count > 0) return BB_OK;
    if (count == 0) return BB_EOF;
    switch (errno) {
    case EAGAIN:
    case ENOBUFS:
    case ENOMEM:
        return BB_AGAIN;
    case EPIPE:
    case ECONNRESET:
    case ENOTCONN:
    case ETIMEDOUT:
    case EHOSTUNREACH:
    case ENETUNREACH:
        return BB_EGONE;
    default:
        return BB_ESYSTEM;
    }
}
