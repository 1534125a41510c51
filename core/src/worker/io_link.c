/* io_link.c: see io_link.h. */
#include "worker/io_link.h"

#include <time.h>

/* Attempts, a millisecond apart. Not every system has pthread_mutex_timedlock() and pthread_timedjoin_np().
 */
#define ATTEMPTS 1000

static void rest(void)
{
    static const struct timespec pause = {.tv_nsec = 1000000};
    (void)nanosleep(&pause, NULL);
}

bool bb__io_hangs(struct bb__io_link *io)
{
    if (!io || io->hangs) return io;
    bool locked = pthread_mutex_trylock(&io->lock) == 0;
    for (int i = 0; !locked && i < ATTEMPTS; i++) {
        rest();
        locked = pthread_mutex_trylock(&io->lock) == 0;
    }
    if (locked) pthread_mutex_unlock(&io->lock);
    return io->hangs = !locked;
}

bool bb__io_has_ended(const struct bb__io_link *io)
{
    for (int i = 0; !atomic_load(&io->ended) && i < ATTEMPTS; i++) rest();
    return atomic_load(&io->ended);
}
