/* memory_file.h: files in memory (memfd_create(2)) that processes map. They are sealed: nobody can change
 * their size, because a process that reads behind the end of a file is killed (SIGBUS). Used by the
 * scoreboard and the metrics. Systems without memfd_create have none: making and reading one fails with
 * ENOSYS. */
#ifndef BB_MEMORY_FILE_H
#define BB_MEMORY_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The most lanes of a file. A file with more is damaged, and its reader would need gigabytes. */
#define BB_MEMORY_FILE_LANES 4096

/* Opens an empty file. Returns the descriptor, which is close-on-exec, or -1 with errno. */
int bb__memory_file_open(const char *name);

/* Makes a file of this size, mode 0600, which begins with the bytes of `start`; the rest is 0. Returns the
 * descriptor, which is close-on-exec, or BB_ESYSTEM with errno. EFBIG: RLIMIT_FSIZE does not allow the
 * size. */
int bb__memory_file(const char *name, size_t size, const void *start, size_t len);

/* Reads the first `len` bytes of a file, and its size. BB_OK; BB_ELAYOUT: the file is shorter, or not sealed;
 * BB_ESYSTEM. */
int bb__memory_file_read(int fd, void *start, size_t len, uint64_t *size);

/* Maps `size` bytes of a file. fd -1: of no file, so only this process and those that it forks share them.
 * *writable: whether they can be written, which the descriptor decides. The caller ends the mapping
 * (munmap(2)). Returns NULL with errno if it is not possible. */
void *bb__memory_map(int fd, size_t size, bool *writable);

#endif
