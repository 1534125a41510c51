/* file_source.c: see file_source.h. */
#include "system/file_source.h"
#include "bontebok.h"
#include "sockets/sigpipe.h"

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
#include <sys/syscall.h>
#endif

/* Bytes. The kernel reads at most about this many for one POSIX_FADV_WILLNEED: read_ahead_kb of the disk. */
#define AHEAD_STEP (128 * 1024)

#ifdef BB_PORTABLE
#define COPY (64 * 1024) /* bytes: a copy that fits on the stack of the I/O thread */
#endif

/* ---- opening ---- */

#define HOW (O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY)

/* Closes the descriptor unless it is -1. */
static int fail(int fd, int error)
{
    if (fd >= 0) (void)close(fd);
    errno = error;
    return -1;
}

static int check(int fd, const struct stat *status, int limit, uint64_t *size)
{
    if (fd >= 0 && limit > 0 && fd >= limit) fd = fail(fd, EMFILE);
    if (fd >= 0 && !S_ISREG(status->st_mode)) fd = fail(fd, EINVAL);
    if (fd < 0) return BB_ESYSTEM;
    *size = (uint64_t)status->st_size;
    return BB_OK;
}

int bb__file_source_open(const char *path, int limit, int *fd, uint64_t *size)
{
    struct stat status;
    *fd = open(path, HOW);
    if (*fd >= 0 && fstat(*fd, &status) != 0) *fd = fail(*fd, errno);
    return check(*fd, &status, limit, size);
}

/* ---- opening below a directory ---- */

/* Returns the rest of the path below the directory. Both paths are without symbolic links. NULL: the path is
 * not below. */
static char *rest_below(const char *directory, char *path)
{
    size_t len = strcmp(directory, "/") == 0 ? 0 : strlen(directory);
    return strncmp(directory, path, len) == 0 && path[len] == '/' ? path + len + 1 : NULL;
}

#ifndef BB_PORTABLE

#ifndef RESOLVE_BENEATH
#define RESOLVE_BENEATH 0x08
#endif

/* Fails with EXDEV if a step of the path leaves the directory, even if a later step leads back. A symbolic
 * link to an absolute path leaves it. */
static int open_beneath(int directory, const char *below)
{
#ifdef SYS_openat2
    const struct {
        uint64_t flags, mode, resolve;
    } how = {HOW | O_LARGEFILE, 0, RESOLVE_BENEATH};
    return (int)syscall(SYS_openat2, directory, below, &how, sizeof how);
#else
    (void)directory, (void)below;
    return fail(-1, ENOSYS);
#endif
}

/* ENOSYS: an old kernel. EPERM: a sandbox. EAGAIN: somebody has renamed a file during the lookup of "..". */
static bool is_undecided(int error)
{
    return error == EXDEV || error == ENOSYS || error == EPERM || error == EAGAIN;
}

#define LINK_MAX_LEN (sizeof "/proc/self/fd/" + 3 * sizeof(int))

static void link_to(int fd, char link[LINK_MAX_LEN])
{
    (void)snprintf(link, LINK_MAX_LEN, "/proc/self/fd/%d", fd);
}

/* Writes the path of an open file, without symbolic links. */
static bool path_of(int fd, char path[PATH_MAX])
{
    char link[LINK_MAX_LEN];
    link_to(fd, link);
    ssize_t len = readlink(link, path, PATH_MAX - 1);
    path[len < 0 ? 0 : len] = '\0';
    return len > 0 && len < PATH_MAX - 1;
}

static bool is_below(int directory, int fd)
{
    char above[PATH_MAX], path[PATH_MAX];
    return path_of(directory, above) && path_of(fd, path) && rest_below(above, path);
}

/* Finds the file without opening it (O_PATH), looks where it is, and opens what was found. Closes
 * `directory`. */
static int find_and_open(int directory, const char *below, struct stat *status, bool *elsewhere)
{
    char link[LINK_MAX_LEN];
    int found = openat(directory, below, O_PATH | O_CLOEXEC);
    *elsewhere = found < 0 || !is_below(directory, found);
    int error = found < 0 ? errno : EXDEV;
    (void)close(directory);
    if (*elsewhere) return fail(found, error);
    if (fstat(found, status) != 0) return fail(found, errno);
    if (!S_ISREG(status->st_mode)) return fail(found, EINVAL);
    link_to(found, link);
    int fd = open(link, HOW);
    error = errno;
    (void)close(found);
    errno = error;
    return fd;
}

static int open_below(const char *directory, const char *below, struct stat *status, bool *elsewhere)
{
    *elsewhere = false;
    int above = open(directory, O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (above < 0) return -1;
    while (*below == '/') below++;
    int fd = open_beneath(above, below), error = errno;
    if (fd < 0 && is_undecided(error)) return find_and_open(above, below, status, elsewhere);
    (void)close(above);
    if (fd < 0) return fail(-1, error);
    return fstat(fd, status) == 0 ? fd : fail(fd, errno);
}

#else

#ifdef O_SEARCH
#define DIRECTORY_HOW (O_SEARCH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
#else
#define DIRECTORY_HOW (O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
#endif

/* Opens the directory that has the file, and moves *path to the file's name. Follows no link. */
static int open_parent(const char *directory, char **path)
{
    int at = open(directory, DIRECTORY_HOW);
    for (char *slash; at >= 0 && (slash = strchr(*path, '/')); *path = slash + 1) {
        *slash = '\0';
        int next = openat(at, *path, DIRECTORY_HOW), error = errno;
        (void)close(at);
        errno = error;
        at = next;
    }
    return at;
}

/* Does not open a FIFO. */
static int open_regular(int parent, const char *name, struct stat *status)
{
    if (fstatat(parent, name, status, AT_SYMLINK_NOFOLLOW) != 0) return -1;
    if (!S_ISREG(status->st_mode)) return fail(-1, EINVAL);
    int fd = openat(parent, name, HOW | O_NOFOLLOW);
    return fd < 0 || fstat(fd, status) == 0 ? fd : fail(fd, errno);
}

/* Finds where the file is by realpath(3), which opens nothing, and goes there without following a link. */
static int open_below(const char *directory, const char *below, struct stat *status, bool *elsewhere)
{
    char name[PATH_MAX], above[PATH_MAX], path[PATH_MAX];
    *elsewhere = false;
    if (!realpath(directory, above)) return -1;
    while (*below == '/') below++;
    if (snprintf(name, sizeof name, "%s/%s", above, below) >= (int)sizeof name) return fail(-1, ENAMETOOLONG);
    *elsewhere = true;
    if (*below == '\0') return fail(-1, ENOENT);
    if (!realpath(name, path)) return -1;
    char *rest = rest_below(above, path);
    if (!rest) return fail(-1, EXDEV);
    *elsewhere = false;
    int parent = open_parent(above, &rest);
    if (parent < 0) return -1;
    int fd = open_regular(parent, rest, status), error = errno;
    (void)close(parent);
    errno = error;
    return fd;
}

#endif

int bb__file_source_open_below(const char *directory, const char *below, int limit, int *fd, uint64_t *size,
                               bool *elsewhere)
{
    struct stat status;
    *fd = open_below(directory, below, &status, elsewhere);
    return check(*fd, &status, limit, size);
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

bool bb__file_source_can_tell(int fd)
{
#ifdef BB_PORTABLE
    (void)fd;
    return true;
#else
    char byte;
    return read_cached(fd, 0, &byte, 1) >= 0 || errno == EAGAIN;
#endif
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
    bb__sigpipe_hold();
    ssize_t count = sendfile(socket, fd, &offset, len);
    bb__sigpipe_release();
    return count;
#endif
}

int bb__file_source_send(int socket, int fd, uint64_t first, size_t len, size_t *sent)
{
    ssize_t count;
    do count = transmit(socket, fd, first, len);
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
