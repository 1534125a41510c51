/*
 * threaded.c: gives a program a second thread, as every Ruby process has. With more than one thread, libc's
 * calls in which a thread may be cancelled (recv, send, epoll_wait) are slower. Without this file,
 * bench/price would count that cost as the I/O thread's.
 */
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

static void *wait_for_ever(void *nothing)
{
    for (;;) pause();
    return nothing;
}

__attribute__((constructor)) static void start(void)
{
    pthread_t thread;
    if (pthread_create(&thread, NULL, wait_for_ever, NULL) != 0) abort();
}
