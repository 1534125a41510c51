/* bbp_orders.c: the master's orders to a worker. A thread reads them from the channel. So an order takes
 * effect also while the application works, whatever it does with %SIG, and no signal interrupts the
 * application's system calls: sleep(), select() and drivers of databases would return early. The thread knows
 * no Perl. When the channel ends, the master has died: the worker finishes, and nobody else would kill it if
 * it hangs. */
#include "bbp_bontebok.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#define LOOK_SECONDS 5
#define STEP_MS      100

static void obey(struct bbp_core *core, char byte)
{
    const char *order = memchr(core->orders, byte, sizeof core->orders);
    if (!order) return;
    if (order - core->orders != BBP_ORDER_STOP) {
        bbp_shared_drain(core, order - core->orders == BBP_ORDER_FINISH);
        return;
    }
    atomic_store(&core->stops, true);
    bb_lane_wake(core->lane);
}

/* The application may have closed the channel, and may have another socket with its number. A thread that
 * reads from the closed channel keeps it open for the master, so it looks again after some seconds. */
static bool is_open(const struct bbp_core *core)
{
    struct stat now;
    return fstat(core->channel, &now) == 0 && now.st_ino == core->channel_id;
}

/* False: the channel has ended. *byte: 0 if there is no order yet. */
static bool read_order(const struct bbp_core *core, char *byte)
{
    *byte = 0;
    ssize_t count = recv(core->channel, byte, 1, 0);
    return count > 0 || (count < 0 && (errno == EINTR || errno == EAGAIN));
}

/* Ends the process if it has not ended after graceful_timeout. */
static void finish(struct bbp_core *core)
{
    static const struct timespec step = {.tv_nsec = STEP_MS * 1000000};
    bbp_shared_drain(core, true);
    for (uint64_t ms = 0; ms < core->graceful_timeout; ms += STEP_MS) {
        if (atomic_load(&core->frees)) return;
        (void)nanosleep(&step, NULL);
    }
    if (!atomic_load(&core->frees)) _exit(EXIT_FAILURE);
}

static void *read_orders(void *pointer)
{
    struct bbp_core *core = pointer;
    char byte;
    while (is_open(core) && read_order(core, &byte))
        if (byte) obey(core, byte);
    if (!atomic_load(&core->frees)) finish(core);
    return NULL;
}

bool bbp_orders_begin(struct bbp_core *core)
{
    struct timeval seconds = {.tv_sec = LOOK_SECONDS};
    struct stat channel;
    sigset_t all, former;
    if (!core->shared) return true;
    if (fstat(core->channel, &channel) != 0) return false;
    core->channel_id = channel.st_ino;
    (void)setsockopt(core->channel, SOL_SOCKET, SO_RCVTIMEO, &seconds, sizeof seconds);
    (void)sigfillset(&all);
    (void)pthread_sigmask(SIG_SETMASK, &all, &former); /* Perl's thread gets the signals */
    core->has_orders = pthread_create(&core->reader, NULL, read_orders, core) == 0;
    (void)pthread_sigmask(SIG_SETMASK, &former, NULL);
    return core->has_orders;
}

void bbp_orders_end(struct bbp_core *core)
{
    if (!core->has_orders) return;
    atomic_store(&core->frees, true);
    if (is_open(core)) (void)shutdown(core->channel, SHUT_RD);
    (void)pthread_join(core->reader, NULL);
    core->has_orders = false;
}
