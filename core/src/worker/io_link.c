/* io_link.c: see io_link.h. */
#include "worker/io_link.h"

#include <time.h>

#define STOP_SECONDS 1

struct timespec bb__io_wait_end(void)
{
    struct timespec end = {0};
    (void)clock_gettime(CLOCK_REALTIME, &end);
    end.tv_sec += STOP_SECONDS;
    return end;
}

bool bb__io_hangs(struct bb__io_link *io)
{
    struct timespec end = bb__io_wait_end();
    if (!io || io->hangs) return io;
    io->hangs = pthread_mutex_timedlock(&io->lock, &end) != 0;
    if (!io->hangs) pthread_mutex_unlock(&io->lock);
    return io->hangs;
}
