/*
 * threaded.c: gives a program a second thread, because every Ruby process has several. In a process with
 * several threads, libc's cancellation points (recv, send, epoll_wait) are slower. Without this file,
 * bench/price would count this cost as a cost of the I/O thread.
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
