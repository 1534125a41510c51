/* taking.h: how long a response is kept that the client does not take, from when the client's kernel last
 * took something. Over TCP the kernel does so in real time, for example after a delayed ACK. On a slow
 * machine that can be in the middle of a test. */
#ifndef BB_TEST_TAKING_H
#define BB_TEST_TAKING_H

#include "support/client.h"
#include "support/fake_clock.h"

#define TAKING_STEP 500 /* ms */

/* The client reads a little, until the kernel reports it. */
static inline void take_some(struct client *client, const struct bb__conn *conn)
{
    char bytes[1000];
    int untaken = bb__sock_untaken(conn->fd);
    uint64_t since = real_ms();
    while (bb__sock_untaken(conn->fd) == untaken)
        if (recv(client->fd, bytes, sizeof bytes, 0) < 0) client_wait(client, POLLIN, since);
}

/* Passes time until the host's only connection is dropped. Returns the ms since something was taken last. */
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

/* The host looks at intervals: one look sees that something was taken, another that it was the last. The
 * lower limit has one step less, as the host may have seen it before the test has. */
static inline void assert_dropped_after(struct host *host, uint64_t write_timeout)
{
    uint64_t look = bb__conn_write_tick(write_timeout);
    assert_in_range(ms_until_dropped(host), write_timeout - TAKING_STEP,
                    write_timeout + 2 * look + TAKING_STEP);
}

#endif
