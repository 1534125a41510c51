/* wakeup.c: see wakeup.h. */
#include "sockets/wakeup.h"
#include "bontebok.h"

#include <errno.h>
#include <stdint.h>
#include <unistd.h>

#ifdef BB_PORTABLE

#include "sockets/descriptor.h"

int bb__wakeup_open(struct bb__wakeup *wakeup)
{
    int ends[2];
    wakeup->fd = wakeup->in = -1;
    if (pipe(ends) < 0) return BB_ESYSTEM;
    if (!bb__descriptor_prepare(ends[0]) || !bb__descriptor_prepare(ends[1])) {
        (void)close(ends[0]);
        (void)close(ends[1]);
        return BB_ESYSTEM;
    }
    wakeup->fd = ends[0];
    wakeup->in = ends[1];
    return BB_OK;
}

void bb__wakeup_close(struct bb__wakeup *wakeup)
{
    if (wakeup->fd < 0) return;
    (void)close(wakeup->fd);
    (void)close(wakeup->in);
    wakeup->fd = wakeup->in = -1;
}

static int writable_end(const struct bb__wakeup *wakeup)
{
    return wakeup->in;
}

#else

#include <sys/eventfd.h>

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

static int writable_end(const struct bb__wakeup *wakeup)
{
    return wakeup->fd;
}

#endif

void bb__wakeup_raise(const struct bb__wakeup *wakeup)
{
    static const uint64_t one = 1;
    int before = errno;
    (void)!write(writable_end(wakeup), &one, sizeof one); /* EAGAIN: it is readable already */
    errno = before;
}

/* An eventfd has 8 bytes, a pipe 8 for each raise. */
void bb__wakeup_clear(const struct bb__wakeup *wakeup)
{
    uint64_t counts[64];
    while (read(wakeup->fd, counts, sizeof counts) == (ssize_t)sizeof counts) continue;
}
