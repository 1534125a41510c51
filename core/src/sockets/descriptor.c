/* descriptor.c: see descriptor.h. */
#include "sockets/descriptor.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

bool bb__descriptor_prepare(int fd)
{
    int flags = fcntl(fd, F_GETFL);
    return flags >= 0 && fcntl(fd, F_SETFL, flags | O_NONBLOCK) == 0 && fcntl(fd, F_SETFD, FD_CLOEXEC) == 0;
}

int bb__descriptor_prepare_or_close(int fd)
{
    if (fd < 0 || bb__descriptor_prepare(fd)) return fd;
    int error = errno;
    (void)close(fd);
    errno = error;
    return -1;
}

bool bb__descriptor_replace(int fd, int source)
{
#ifdef BB_PORTABLE
    return dup2(source, fd) >= 0 && fcntl(fd, F_SETFD, FD_CLOEXEC) == 0;
#else
    return dup3(source, fd, O_CLOEXEC) >= 0;
#endif
}

int bb__descriptor_move_down(int fd, int limit)
{
    int lower = fcntl(fd, F_DUPFD_CLOEXEC, 0);
    if (lower < 0) return fd;
    bool is_better = lower < limit && lower < fd;
    (void)close(is_better ? fd : lower);
    return is_better ? lower : fd;
}
