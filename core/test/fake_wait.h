/* fake_wait.h: what a client does while the host waits for it, in the test's time. A test that includes it,
 * after fake_clock.h, is linked with --wrap (see the Makefile). */
#ifndef BB_TEST_FAKE_WAIT_H
#define BB_TEST_FAKE_WAIT_H

#include "bontebok.h"

int __real_bb__sock_wait_writable(int fd, int wake_fd, int timeout_ms);
int __wrap_bb__sock_wait_writable(int fd, int wake_fd, int timeout_ms);

/* So many ms pass in each wait, in which the client does this; NULL: it is the kernel's wait. */
static uint64_t fake_wait_time;
static void (*fake_wait_client)(void);

int __wrap_bb__sock_wait_writable(int fd, int wake_fd, int timeout_ms)
{
    if (!fake_wait_client) return __real_bb__sock_wait_writable(fd, wake_fd, timeout_ms);
    fake_wait_client();
    bool is_over = timeout_ms >= 0 && (uint64_t)timeout_ms <= fake_wait_time;
    fake_clock_advance(is_over ? (uint64_t)timeout_ms : fake_wait_time);
    return is_over ? BB_EGONE : BB_OK;
}

#endif
