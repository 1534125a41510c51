/* shared_queue_file.c: files for bytes that are too long for a message of the shared queue. See
 * shared_queue.h. */
#include "metrics/memory_file.h"
#include "system/shared_queue.h"

#include <errno.h>
#include <unistd.h>

#ifdef BB_PORTABLE
#include <fcntl.h>
#include <stdio.h>
#endif

static int make_file(void)
{
#ifdef BB_PORTABLE
    FILE *file = tmpfile();
    if (!file) return -1;
    int fd = fcntl(fileno(file), F_DUPFD_CLOEXEC, 0);
    (void)fclose(file);
    return fd;
#else
    return bb__memory_file_open("bontebok-request");
#endif
}

int bb__shared_queue_make_file(const char *bytes, size_t len)
{
    int fd = make_file();
    while (fd >= 0 && len > 0) {
        ssize_t count = write(fd, bytes, len);
        if (count < 0 && errno == EINTR) continue;
        if (count < 0) {
            (void)close(fd);
            return -1;
        }
        bytes += count;
        len -= (size_t)count;
    }
    return fd;
}

bool bb__shared_queue_read_file(int fd, char *bytes, size_t len)
{
    size_t have = 0;
    for (ssize_t count = 1; have < len && count > 0; have += count > 0 ? (size_t)count : 0)
        count = pread(fd, bytes + have, len - have, (off_t)have);
    (void)close(fd);
    return have == len;
}
