/*
 * threaded.c: linked into a program, it makes that one with more than one thread, as every Ruby process is.
 * libc's calls that a thread may be cancelled in (recv, send, epoll_wait) take a longer way then: what
 * somebody's first thread costs is not to be taken for what that thread does.
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
