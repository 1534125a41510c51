/* file_source.h: wraps the system calls on files that are response bodies: opening, reading ahead and
 * sendfile(2), or a copy where the switch BB_PORTABLE is set. Used by conn_file.c and
 * reply_file.c. Does not know connections or HTTP. */
#ifndef BB_FILE_SOURCE_H
#define BB_FILE_SOURCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Bytes. While a file comes from the disk, at most this many are sent at once. */
#define BB_FILE_SLICE (512 * 1024)

/* Opens a regular file for reading. A FIFO or a device never blocks the call. limit: the
 * descriptor must be below it; 0: none. BB_OK; BB_ESYSTEM with errno: EINVAL if the file is not regular,
 * EMFILE if no such descriptor is free. The caller owns *fd. */
int bb__file_source_open(const char *path, int limit, int *fd, uint64_t *size);

/* As bb__file_source_open(), for a file that must be in `directory` or below it, also after all symbolic
 * links were followed. `directory` may itself be a symbolic link. below: the rest of the path, relative to
 * `directory`. Opens no file outside, and nobody can replace a part of the path between check and use.
 * BB_ESYSTEM with errno EXDEV: the file is outside. *elsewhere: errno may tell something about files outside,
 * so the client must not learn it. Linux: without /proc, a path that leaves the directory and leads back is
 * outside, and before Linux 5.6 each path is. Other systems: each directory on the way must be readable if
 * the system has no O_SEARCH. */
int bb__file_source_open_below(const char *directory, const char *below, int limit, int *fd, uint64_t *size,
                               bool *elsewhere);

/* Reads len bytes to `to` without waiting for the disk. False: some of the bytes are not in the page cache,
 * the file is shorter, or the file system cannot tell. `to` may then have some of the bytes. */
bool bb__file_source_read_cached(int fd, uint64_t first, char *to, size_t len);

/* Whether bb__file_source_is_cached() can tell. BB_PORTABLE: true, and a slow disk holds the thread up. */
bool bb__file_source_can_tell(int fd);

/* Returns whether the bytes are probably in the page cache, so that sending them does not wait for the disk.
 * Looks at the first and the last byte only. Returns true for file systems that cannot tell. */
bool bb__file_source_is_cached(int fd, uint64_t first, size_t len);

/* Starts to read the bytes from the disk, and does not wait for them. */
void bb__file_source_read_ahead(int fd, uint64_t first, uint64_t len);

/* Sends at most len bytes of the file to a socket. BB_OK with *sent > 0; BB_AGAIN: the socket
 * takes nothing now; BB_EGONE: the peer is gone; BB_EOF: the file ends before `first`; BB_ESYSTEM with errno:
 * the file cannot be read. Call bb__sigpipe_prepare() before the first slice. */
int bb__file_source_send(int socket, int fd, uint64_t first, size_t len, size_t *sent);

#endif
