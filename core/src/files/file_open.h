/* file_open.h: wraps the system calls that find files below an open directory. A call either waits for the
 * disk, or does not wait and says that it would have to. Used by the other files of files/. Knows nothing of
 * HTTP and of the cache. */
#ifndef BB_FILE_OPEN_H
#define BB_FILE_OPEN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The stamp of a file or a directory. If any value differs, the file has changed, or is another file. */
struct bb__file_stamp {
    uint64_t device, inode, size;
    int64_t mtime, ctime; /* ns since 1970 */
};

bool bb__file_stamp_is_same(const struct bb__file_stamp *one, const struct bb__file_stamp *other);

/* Whether the file was changed less than a second before `now` (ns since 1970). It may then change again
 * without another mtime, because the clock of a file system has a tick. */
static inline bool bb__file_stamp_is_young(const struct bb__file_stamp *stamp, int64_t now)
{
    const int64_t second = 1000000000;
    return stamp->mtime + second > now && stamp->mtime < now + second;
}

/* Opens a directory by its name. Returns -1 with errno. */
int bb__directory_open(const char *name);

/* Whether the file system of an open file or directory is on this machine. */
bool bb__file_is_local(int fd);

/* How a call finds a file. */
enum bb__find_mode {
    BB_FIND_AT_ONCE, /* does not wait. Linux 5.12: openat2(2) with RESOLVE_CACHED */
    BB_FIND_WAITING, /* waits for the disk */
};

/* Opens a regular file for reading. name: below the directory `at`. Symbolic links are followed. A FIFO or a
 * device never blocks the call. BB_OK: the caller owns *fd. BB_AGAIN: BB_FIND_AT_ONCE is not possible: a part
 * of the path is not in the kernel's cache, is a symbolic link or a mount point, or the kernel has no such
 * call. BB_EOF: there is no regular file with this name. BB_ESYSTEM with errno: the file cannot be opened. */
int bb__file_open_at(int at, const char *name, enum bb__find_mode mode, int *fd,
                     struct bb__file_stamp *stamp);

/* On a network or in user space, close(2) may wait for the server, and for a program (FUSE_FLUSH). */
void bb__file_close(int fd);

/* Whether an open file still has this stamp. */
bool bb__file_is_unchanged(int fd, const struct bb__file_stamp *stamp);

/* Opens a directory below the directory `at`; "" is `at` itself. BB_OK: the caller owns *fd, which can be
 * read with bb__name_set_read() after BB_FIND_WAITING. The other codes are as above. */
int bb__directory_open_at(int at, const char *name, enum bb__find_mode mode, int *fd,
                          struct bb__file_stamp *stamp);

/* Reads the whole file to `to`, which has room for stamp->size bytes. BB_OK; BB_AGAIN: BB_FIND_AT_ONCE is not
 * possible; BB_EOF: the file has changed since it got this stamp; BB_ESYSTEM with errno. */
int bb__file_read_whole(int fd, char *to, const struct bb__file_stamp *stamp, enum bb__find_mode mode);

#endif
