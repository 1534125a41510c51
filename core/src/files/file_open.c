/* file_open.c: see file_open.h. */
#include "files/file_open.h"
#include "bontebok.h"
#include "system/file_source.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#ifndef BB_PORTABLE
#include <sys/syscall.h>
#include <sys/vfs.h>
#endif

#define FILE_HOW      (O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY)
#define DIRECTORY_HOW (O_RDONLY | O_DIRECTORY | O_CLOEXEC)

/* ---- stamps ---- */

/* The years 1684 to 2255. Other times, which anybody may give a file, would not fit into 64 bits of ns. */
#define SECONDS_MAX INT64_C(9000000000)

static int64_t ns_of(struct timespec time)
{
    int64_t seconds = time.tv_sec;
    if (seconds > SECONDS_MAX) seconds = SECONDS_MAX;
    if (seconds < -SECONDS_MAX) seconds = -SECONDS_MAX;
    return seconds * 1000000000 + time.tv_nsec;
}

static struct bb__file_stamp stamp_of(const struct stat *status)
{
#ifdef __APPLE__
    const struct timespec mtime = status->st_mtimespec, ctime = status->st_ctimespec;
#else
    const struct timespec mtime = status->st_mtim, ctime = status->st_ctim;
#endif
    return (struct bb__file_stamp){(uint64_t)status->st_dev, (uint64_t)status->st_ino,
                                   (uint64_t)status->st_size, ns_of(mtime), ns_of(ctime)};
}

bool bb__file_stamp_is_same(const struct bb__file_stamp *one, const struct bb__file_stamp *other)
{
    return one->device == other->device && one->inode == other->inode && one->size == other->size &&
           one->mtime == other->mtime && one->ctime == other->ctime;
}

/* ---- directories ---- */

int bb__directory_open(const char *name)
{
    return open(name, DIRECTORY_HOW);
}

#ifndef BB_PORTABLE

/* The file systems of which no call waits for a network or for another process. */
bool bb__file_is_local(int fd)
{
    static const uint32_t local[] = {
        0x0000ef53, /* ext2, ext3, ext4 */
        0x58465342, /* xfs */
        0x9123683e, /* btrfs */
        0x2fc12fc1, /* zfs */
        0xf2f52010, /* f2fs */
        0xca451a4e, /* bcachefs */
        0x3153464a, /* jfs */
        0x52654973, /* reiserfs */
        0x00003434, /* nilfs */
        0x01021994, /* tmpfs */
        0x858458f6, /* ramfs */
        0x794c7630, /* overlayfs */
        0x61756673, /* aufs */
        0x73717368, /* squashfs */
        0xe0f5e1e2, /* erofs */
        0x00009660, /* iso9660 */
        0x15013346, /* udf */
        0x00004d44, /* vfat */
        0x2011bab0, /* exfat */
    };
    struct statfs status;
    if (fstatfs(fd, &status) != 0) return false;
    for (size_t i = 0; i < sizeof local / sizeof *local; i++)
        if ((uint32_t)status.f_type == local[i]) return true;
    return false;
}

#ifndef RESOLVE_NO_XDEV
#define RESOLVE_NO_XDEV     0x01
#define RESOLVE_NO_SYMLINKS 0x04
#endif
#ifndef RESOLVE_CACHED
#define RESOLVE_CACHED 0x20
#endif

/* A symbolic link or a mount point may lead to a file system where open(2) itself waits. */
static int open_at_once(int at, const char *name, int flags)
{
#ifdef SYS_openat2
    const struct {
        uint64_t flags, mode, resolve;
    } how = {(uint64_t)flags | O_LARGEFILE, 0, RESOLVE_CACHED | RESOLVE_NO_SYMLINKS | RESOLVE_NO_XDEV};
    return (int)syscall(SYS_openat2, at, name, &how, sizeof how);
#else
    (void)at, (void)name, (void)flags;
    errno = ENOSYS;
    return -1;
#endif
}

#else

bool bb__file_is_local(int fd)
{
    (void)fd;
    return false;
}

static int open_at_once(int at, const char *name, int flags)
{
    (void)at, (void)name, (void)flags;
    errno = ENOSYS;
    return -1;
}

#endif

/* ---- opening ---- */

/* ELOOP, EXDEV: see open_at_once(). ENOSYS, EINVAL: an old kernel. EPERM: a sandbox. */
static bool has_to_wait(int error)
{
    return error == EAGAIN || error == ELOOP || error == EXDEV || error == ENOSYS || error == EINVAL ||
           error == EPERM;
}

/* ENXIO, ENODEV, EOPNOTSUPP: a socket or a device. */
static bool is_no_file(int error)
{
    return error == ENOENT || error == ENOTDIR || error == ELOOP || error == ENAMETOOLONG || error == ENXIO ||
           error == ENODEV || error == EOPNOTSUPP;
}

static int fail(int *fd, int code)
{
    int error = errno;
    if (*fd >= 0) (void)close(*fd);
    *fd = -1;
    errno = error;
    return code;
}

static int open_below(int at, const char *name, int flags, enum bb__find_mode mode, int *fd)
{
    *fd = mode == BB_FIND_AT_ONCE ? open_at_once(at, name, flags) : openat(at, name, flags);
    if (*fd >= 0) return BB_OK;
    if (mode == BB_FIND_AT_ONCE && has_to_wait(errno)) return BB_AGAIN;
    return is_no_file(errno) ? BB_EOF : BB_ESYSTEM;
}

int bb__file_open_at(int at, const char *name, enum bb__find_mode mode, int *fd, struct bb__file_stamp *stamp)
{
    struct stat status;
    int code = open_below(at, name, FILE_HOW, mode, fd);
    if (code != BB_OK) return code;
    if (fstat(*fd, &status) != 0) return fail(fd, BB_ESYSTEM);
    if (!S_ISREG(status.st_mode)) return fail(fd, BB_EOF);
    *stamp = stamp_of(&status);
    return BB_OK;
}

int bb__directory_open_at(int at, const char *name, enum bb__find_mode mode, int *fd,
                          struct bb__file_stamp *stamp)
{
    struct stat status;
    int code = open_below(at, *name ? name : ".", DIRECTORY_HOW, mode, fd);
    if (code != BB_OK) return code;
    if (fstat(*fd, &status) != 0) return fail(fd, BB_ESYSTEM);
    *stamp = stamp_of(&status);
    return BB_OK;
}

void bb__file_close(int fd)
{
    (void)close(fd);
}

/* ---- reading ---- */

static int read_waiting(int fd, char *to, size_t len)
{
    for (size_t done = 0; done < len;) {
        ssize_t count = pread(fd, to + done, len - done, (off_t)done);
        if (count < 0 && errno == EINTR) continue;
        if (count < 0) return BB_ESYSTEM;
        if (count == 0) return BB_EOF;
        done += (size_t)count;
    }
    return BB_OK;
}

bool bb__file_is_unchanged(int fd, const struct bb__file_stamp *stamp)
{
    struct stat status;
    if (fstat(fd, &status) != 0) return false;
    struct bb__file_stamp now = stamp_of(&status);
    return bb__file_stamp_is_same(&now, stamp);
}

/* While a file is shortened, a read may find bytes that are 0 already. So its stamp is compared afterwards.
 */
int bb__file_read_whole(int fd, char *to, const struct bb__file_stamp *stamp, enum bb__find_mode mode)
{
    int code = BB_OK;
    if (mode == BB_FIND_WAITING)
        code = read_waiting(fd, to, stamp->size);
    else if (!bb__file_source_read_cached(fd, 0, to, stamp->size))
        code = BB_AGAIN;
    if (code != BB_OK) return code;
    return bb__file_is_unchanged(fd, stamp) ? BB_OK : BB_EOF;
}
