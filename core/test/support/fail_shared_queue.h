/* fail_shared_queue.h: makes sends to the shared queue fail. A test that includes this header is linked with
 * --wrap (see the Makefile). */
#ifndef BB_TEST_FAIL_SHARED_QUEUE_H
#define BB_TEST_FAIL_SHARED_QUEUE_H

#include <errno.h>
#include <sys/socket.h>

ssize_t __real_sendmsg(int fd, const struct msghdr *message, int flags);
ssize_t __wrap_sendmsg(int fd, const struct msghdr *message, int flags);

/* Only messages with descriptors count. tries: calls of sendmsg() so far; failures: how many of the next
 * calls fail. */
static struct {
    unsigned tries, failures;
    int error; /* errno of the failures; 0: EAGAIN, there is no room */
} fail_shared_queue;

ssize_t __wrap_sendmsg(int fd, const struct msghdr *message, int flags)
{
    if (!message->msg_control) return __real_sendmsg(fd, message, flags);
    fail_shared_queue.tries++;
    if (fail_shared_queue.failures == 0) return __real_sendmsg(fd, message, flags);
    fail_shared_queue.failures--;
    errno = fail_shared_queue.error ? fail_shared_queue.error : EAGAIN;
    return -1;
}

#endif
