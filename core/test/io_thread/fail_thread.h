/* fail_thread.h: threads that cannot be created, and the size of their stack. A test that includes this
 * header is linked with --wrap (see the Makefile). */
#ifndef BB_TEST_FAIL_THREAD_H
#define BB_TEST_FAIL_THREAD_H

#include <pthread.h>

int __real_pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*run)(void *),
                          void *argument);
int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*run)(void *),
                          void *argument);

static struct {
    int error;    /* pthread_create() returns it; 0: the thread is created */
    size_t stack; /* bytes that the last caller asked for */
} fail_thread;

int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*run)(void *),
                          void *argument)
{
    if (pthread_attr_getstacksize(attributes, &fail_thread.stack) != 0) fail_thread.stack = 0;
    return fail_thread.error ? fail_thread.error : __real_pthread_create(thread, attributes, run, argument);
}

#endif
