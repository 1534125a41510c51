/* wakeup.c: see wakeup.h. */
#include "system/wakeup.h"
#include "bontebok.h"

#include <errno.h>
#include <sys/eventfd.h>
#include <unistd.h>

int bb__wakeup_open(struct bb__wakeup *wakeup)
{
    wakeup->fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
    return wakeup->fd < 0 ? BB_ESYSTEM : BB_OK;
}

void bb__wakeup_close(struct bb__wakeup *wakeup)
{
    if (wakeup->fd >= 0) (void)close(wakeup->fd);
    wakeup->fd = -1;
}

void bb__wakeup_raise(const struct bb__wakeup *wakeup)
{
    int before = errno;
    (void)eventfd_write(wakeup->fd, 1); /* EAGAIN: the eventfd is readable already */
    errno = before;
}

void bb__wakeup_clear(const struct bb__wakeup *wakeup)
{
    eventfd_t count;
    (void)eventfd_read(wakeup->fd, &count); /* EAGAIN: the eventfd is cleared already */
}
