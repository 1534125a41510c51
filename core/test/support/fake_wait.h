/* fake_wait.h: runs a function of the test while the host (the program that calls the core) waits for its
 * client, and moves fake_clock.h's clock. Include fake_clock.h before this header. A test that includes this
 * header is linked with --wrap (see the Makefile). */
#ifndef BB_TEST_FAKE_WAIT_H
#define BB_TEST_FAKE_WAIT_H

#include "bontebok.h"

int __real_bb__sock_wait_writable(int fd, int wake_fd, int timeout_ms);
int __wrap_bb__sock_wait_writable(int fd, int wake_fd, int timeout_ms);

/* The actions of the client during the wait. Called at the start of each second of a wait, and in each wait
 * of 1 ms. NULL: the host waits in the kernel. */
static void (*fake_wait_client)(void);

static int fake_wait_passed; /* ms of the current second; a test may set it to 0 to begin a second */

int __wrap_bb__sock_wait_writable(int fd, int wake_fd, int timeout_ms)
{
    if (!fake_wait_client) return __real_bb__sock_wait_writable(fd, wake_fd, timeout_ms);
    for (int left = timeout_ms;;) {
        int step = left >= 0 && left < 1000 - fake_wait_passed ? left : 1000 - fake_wait_passed;
        if (fake_wait_passed == 0 || timeout_ms == 1) fake_wait_client();
        fake_clock_advance((uint64_t)step);
        fake_wait_passed = (fake_wait_passed + step) % 1000;
        int code = __real_bb__sock_wait_writable(fd, wake_fd, 0);
        if (code != BB_EGONE || left == step) return code;
        left -= left >= 0 ? step : 0;
    }
}

#endif
