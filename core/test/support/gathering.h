/* gathering.h: counts the calls of the functions that send bytes to a client, in all threads, and can stop
 * the I/O thread after it has found no gathered parts, or before it locks the parts that it has found. A test
 * that includes this header is linked with --wrap (see the Makefile). */
#ifndef BB_TEST_GATHERING_H
#define BB_TEST_GATHERING_H

#include <sched.h>
#include <semaphore.h>
#include <stdatomic.h>

#include "lane/lane.h"

int __real_bb__sock_send(int fd, const char *bytes, size_t len, size_t *sent);
int __wrap_bb__sock_send(int fd, const char *bytes, size_t len, size_t *sent);
int __real_bb__sock_send_parts(int fd, const struct iovec *parts, size_t count, size_t *sent);
int __wrap_bb__sock_send_parts(int fd, const struct iovec *parts, size_t count, size_t *sent);
enum bb__held_bytes __real_bb__reply_send_gathered(struct bb_lane *lane, uint64_t now);
enum bb__held_bytes __wrap_bb__reply_send_gathered(struct bb_lane *lane, uint64_t now);
int __real_pthread_mutex_lock(pthread_mutex_t *mutex);
int __wrap_pthread_mutex_lock(pthread_mutex_t *mutex);

static atomic_uint sends;

static struct {
    atomic_uint count;
    atomic_bool stops; /* the I/O thread stops once */
    sem_t stopped, goes_on;
} io_look;

int __wrap_bb__sock_send(int fd, const char *bytes, size_t len, size_t *sent)
{
    atomic_fetch_add(&sends, 1);
    return __real_bb__sock_send(fd, bytes, len, sent);
}

int __wrap_bb__sock_send_parts(int fd, const struct iovec *parts, size_t count, size_t *sent)
{
    atomic_fetch_add(&sends, 1);
    return __real_bb__sock_send_parts(fd, parts, count, sent);
}

enum bb__held_bytes __wrap_bb__reply_send_gathered(struct bb_lane *lane, uint64_t now)
{
    enum bb__held_bytes found = __real_bb__reply_send_gathered(lane, now);
    atomic_fetch_add(&io_look.count, 1);
    if (!found && atomic_exchange(&io_look.stops, false)) {
        sem_post(&io_look.stopped);
        (void)sem_wait(&io_look.goes_on);
    }
    return found;
}

/* The I/O thread stops once before it locks this mutex. All accesses are relaxed, because this stop must not
 * put the accesses of two threads in order: ThreadSanitizer would then see no race between them. */
static struct {
    _Atomic(pthread_mutex_t *) mutex;
    atomic_bool stopped, goes_on;
} io_lock;

int __wrap_pthread_mutex_lock(pthread_mutex_t *mutex)
{
    bool stops = mutex == atomic_load_explicit(&io_lock.mutex, memory_order_relaxed) &&
                 !atomic_load_explicit(&io_lock.stopped, memory_order_relaxed);
    if (stops) {
        atomic_store_explicit(&io_lock.stopped, true, memory_order_relaxed);
        while (!atomic_load_explicit(&io_lock.goes_on, memory_order_relaxed)) sched_yield();
    }
    return __real_pthread_mutex_lock(mutex);
}

/* Call this in the lane's thread while parts are gathered. Only the I/O thread locks meanwhile. */
static void stop_io_thread_at_lock(struct bb_lane *lane)
{
    atomic_store_explicit(&io_lock.mutex, &lane->reply.gather.lock, memory_order_relaxed);
    while (!atomic_load_explicit(&io_lock.stopped, memory_order_relaxed)) sched_yield();
}

static void let_io_thread_lock(void)
{
    atomic_store_explicit(&io_lock.goes_on, true, memory_order_relaxed);
}

/* Call this while parts are gathered, because the I/O thread then looks again and again. Waits for some looks
 * first, so that the I/O thread sleeps as soon as it finds no parts. */
static void stop_io_thread(void)
{
    unsigned until = atomic_load(&io_look.count) + BB_QUIET_LOOKS;
    while (atomic_load(&io_look.count) < until) sched_yield();
    sem_init(&io_look.stopped, 0, 0);
    sem_init(&io_look.goes_on, 0, 0);
    atomic_store(&io_look.stops, true);
}

#endif
