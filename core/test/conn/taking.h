/* taking.h: for how long an answer is kept that the client does not take: counted from when its kernel took
 * something last. Over TCP that is in the kernel's own time, a delayed ACK's for one, and so in the middle of
 * a test on a machine that is slow. */
#ifndef BB_TEST_TAKING_H
#define BB_TEST_TAKING_H

#include "support/client.h"
#include "support/fake_clock.h"

#define TAKING_STEP 500 /* ms */

/* The client reads a little, until the kernel knows of it. */
static inline void take_some(struct client *client, const struct bb__conn *conn)
{
    char bytes[1000];
    int untaken = bb__sock_untaken(conn->fd);
    uint64_t since = real_ms();
    while (bb__sock_untaken(conn->fd) == untaken)
        if (recv(client->fd, bytes, sizeof bytes, 0) < 0) client_wait(client, POLLIN, since);
}

/* Passes time until the host's only connection is dropped. */
static inline uint64_t ms_until_dropped(struct host *host)
{
    int fd = host->lane->set.conns->fd, untaken = bb__sock_untaken(fd);
    uint64_t passed = 0, since = real_ms();
    while (host_connections(host) > 0) {
        int before = untaken;
        assert_true(real_ms() - since < WAIT_LIMIT);
        fake_clock_advance(TAKING_STEP);
        host_settle(host);
        untaken = bb__sock_untaken(fd);
        passed = untaken >= 0 && untaken < before ? 0 : passed + TAKING_STEP;
    }
    return passed;
}

/* The host looks now and then: what was taken is seen at one look, and that it was the last at another. A
 * step less: it may have seen it before we have. */
static inline void assert_dropped_after(struct host *host, uint64_t write_timeout)
{
    uint64_t look = bb__conn_write_tick(write_timeout);
    assert_in_range(ms_until_dropped(host), write_timeout - TAKING_STEP,
                    write_timeout + 2 * look + TAKING_STEP);
}

#endif
