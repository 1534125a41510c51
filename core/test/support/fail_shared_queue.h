/* fail_shared_queue.h: a queue between processes that has no room. A test that includes it is linked with
 * --wrap (see the Makefile). */
#ifndef BB_TEST_FAIL_RELAY_H
#define BB_TEST_FAIL_RELAY_H

#include <errno.h>
#include <sys/socket.h>

ssize_t __real_sendmsg(int fd, const struct msghdr *message, int flags);
ssize_t __wrap_sendmsg(int fd, const struct msghdr *message, int flags);

/* Of messages with descriptors: how many were tried, and how many more are to find no room. */
static struct {
    unsigned tries, failures;
    int error; /* 0: there is no room */
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
